import { isObject, type Json } from '../../model/json.ts'
import type { Rollout } from '../../model/rollout.ts'
import { createDamagedFileError, isTime, parseFormat } from './domain-file.ts'

const format = 'edgewise.rollout/1'
const states: Json[] = ['open', 'stopped', 'taking-back', 'taken-back'] satisfies Rollout['state'][]

/** The text of a rollout's file. */
export function formatRollout(rollout: Rollout): string {
  return `${JSON.stringify({ format, ...rollout }, null, 1)}\n`
}

/**
 * Reads a rollout's file.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseRollout(place: string, text: string): Rollout {
  const { format: _format, ...rollout } = parseFormat(place, text, format)
  const {
    id,
    startedAt,
    commit,
    author,
    state,
    reason,
    items,
    asked,
    held,
    waves,
    released,
    applies,
  } = rollout
  const known =
    typeof id === 'string' &&
    /^[\w-]+$/.test(id) &&
    isTime(startedAt) &&
    [commit, author, reason].every(isTextOrNull) &&
    state !== undefined &&
    states.includes(state) &&
    isObject(asked ?? null) &&
    Object.values(asked as object).every((hash) => typeof hash === 'string') &&
    isTexts(items) &&
    isTexts(held) &&
    isTexts(released) &&
    isTexts(applies)
  if (!known || !Array.isArray(waves) || waves.length === 0 || !waves.every(isWave))
    throw createDamagedFileError(place, 'it is incomplete')
  const read = rollout as unknown as Rollout
  const fault = misplaced(read)
  if (fault !== null)
    throw createDamagedFileError(
      place,
      `${fault} stands in several waves, or is not of this rollout`,
    )
  return read
}

/** A domain that is in two places, or in none: it would be sent out of its turn. */
function misplaced({ asked, held, waves, released }: Rollout): string | null {
  const left = new Set(Object.keys(asked))
  const twice = [...waves.flatMap(({ domains }) => domains), ...released].find(
    (domain) => !left.delete(domain),
  )
  return twice ?? held.find((domain) => !Object.hasOwn(asked, domain)) ?? [...left][0] ?? null
}

function isWave(wave: Json): boolean {
  if (!isObject(wave) || !isTexts(wave['domains']) || typeof wave['passed'] !== 'boolean')
    return false
  const { applied } = wave
  return (
    applied === null ||
    (applied !== undefined &&
      isObject(applied) &&
      isTime(applied['from']) &&
      (applied['to'] === null || isTime(applied['to'])))
  )
}

function isTexts(value: Json | undefined): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

function isTextOrNull(value: Json | undefined): boolean {
  return value === null || typeof value === 'string'
}
