import { rolloutFile } from '../../generated/state-validators.ts'
import type { RolloutFile } from '../../generated/state-types.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { Rollout } from '../../model/rollout.ts'
import { acceptVersion, createDamagedFileError, parseFile } from './parse-file.ts'

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
  const { format: _format, ...rollout } = parseFile(
    place,
    text,
    'rollout',
    rolloutFile,
    upgradeRollout,
  )
  const misplaced = findMisplacedDomain(rollout)
  if (misplaced !== null)
    throw createDamagedFileError(
      place,
      `the domain ${misplaced} is in several waves, in none, or not in this rollout`,
      'rollout',
    )
  return rollout
}

const upgradeVersion2 = acceptVersion('edgewise.rollout/2', rolloutFile)

/** Converts version 1, which has no times of the service. Damaged parts stay as they are. */
function upgradeRollout(data: Json | undefined): Json | undefined {
  if (data === undefined || !isObject(data) || data['format'] !== 'edgewise.rollout/1')
    return upgradeVersion2(data)
  const waves = data['waves']
  const upgraded = !Array.isArray(waves) ? waves : waves.map(upgradeWave)
  return {
    ...data,
    format: rolloutFile.name,
    ...(upgraded === undefined ? {} : { waves: upgraded }),
  }
}

function upgradeWave(wave: Json): Json {
  const applied = isObject(wave) ? wave['applied'] : undefined
  if (!isObject(wave) || applied === undefined || !isObject(applied)) return wave
  return { ...wave, applied: { ...applied, serviceFrom: null, serviceTo: null } }
}

/** Finds a domain in several waves or in none: it would be sent in the wrong wave, or twice. */
function findMisplacedDomain({ asked, held, waves, released }: Rollout): string | null {
  const left = new Set(Object.keys(asked))
  const twice = [...waves.flatMap(({ domains }) => domains), ...released].find(
    (domain) => !left.delete(domain),
  )
  return twice ?? held.find((domain) => !Object.hasOwn(asked, domain)) ?? [...left][0] ?? null
}
