import { rolloutFile } from '../../generated/state-validators.ts'
import type { RolloutFile } from '../../generated/state-types.ts'
import type { Rollout } from '../../model/rollout.ts'
import { createDamagedFileError, parseFile } from './parse-file.ts'

/** The text of a rollout's file. */
export function formatRollout(rollout: Rollout): string {
  const file: RolloutFile = { format: rolloutFile.name, ...rollout }
  return `${JSON.stringify(file, null, 1)}\n`
}

/**
 * Parses a rollout's file.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseRollout(place: string, text: string): Rollout {
  const { format: _format, ...rollout } = parseFile(place, text, 'rollout', rolloutFile)
  const fault = misplaced(rollout)
  if (fault !== null)
    throw createDamagedFileError(
      place,
      `${fault} stands in several waves, or is not of this rollout`,
      'rollout',
    )
  return rollout
}

/** A domain that is in two places, or in none: it would be sent out of its turn. */
function misplaced({ asked, held, waves, released }: Rollout): string | null {
  const left = new Set(Object.keys(asked))
  const twice = [...waves.flatMap(({ domains }) => domains), ...released].find(
    (domain) => !left.delete(domain),
  )
  return twice ?? held.find((domain) => !Object.hasOwn(asked, domain)) ?? [...left][0] ?? null
}
