import { rolloutFile } from '../../generated/state-validators.ts'
import type { RolloutFile } from '../../generated/state-types.ts'
import type { Rollout } from '../../model/rollout.ts'
import { createDamagedFileError, parseFile } from './parse-file.ts'

/** Formats a rollout's file. */
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
  const misplaced = findMisplacedDomain(rollout)
  if (misplaced !== null)
    throw createDamagedFileError(
      place,
      `the domain ${misplaced} is in several waves, in none, or not in this rollout`,
      'rollout',
    )
  return rollout
}

/** Finds a domain in several waves or in none: it would be sent in the wrong wave, or twice. */
function findMisplacedDomain({ asked, held, waves, released }: Rollout): string | null {
  const left = new Set(Object.keys(asked))
  const twice = [...waves.flatMap(({ domains }) => domains), ...released].find(
    (domain) => !left.delete(domain),
  )
  return twice ?? held.find((domain) => !Object.hasOwn(asked, domain)) ?? [...left][0] ?? null
}
