import { catalogue } from '../catalog/catalogue.ts'
import { createTimeZone } from '../model/time/time-zone.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { checkKeys } from './check-keys.ts'
import { readings, type Preset, type Reading, type Settings } from './readings.ts'

/** How readings are settled: a preset, and answers by name, also of `unmanaged`. */
export interface Assumptions {
  preset: Preset
  /** Answers by the names of readings; `unspecified` opens one. */
  assume: JsonObject
  /** Name of the service's time zone; null if it is not known. */
  timezone: string | null
}

/** A reading or an answer that there is none of. */
export class BadSetting extends Error {}

/**
 * Builds settings: the answers that the specification favours, those of the preset, and the
 * explicit ones.
 *
 * @throws BadSetting for an unknown name or answer
 */
export function buildSettings({ preset, assume, timezone }: Assumptions): Settings {
  const answers: (Json | undefined)[] = [undefined]
  for (const { favoured, usual } of readings) {
    const answer = favoured ?? (preset === 'usual' ? usual : null)
    answers.push(answer !== null && /^\d{3}$/.test(answer) ? Number(answer) : (answer ?? undefined))
  }
  let unmanaged: Settings['unmanaged'] = 'unknown'
  for (const [name, answer] of Object.entries(assume)) {
    if (name === 'unmanaged') unmanaged = readUnmanaged(answer)
    else {
      const reading = readings.find((each) => each.name === name)
      if (reading === undefined)
        throw new BadSetting(
          `there is no reading ${quote(name)}; edgewise explain readings lists all`,
        )
      answers[Number(name.slice(1))] = readAnswer(reading, answer)
    }
  }
  return createSettings(answers, unmanaged, timezone)
}

/** Creates settings with answers by the numbers of readings. */
export function createSettings(
  answers: readonly (Json | undefined)[],
  unmanaged: Settings['unmanaged'],
  timezone: string | null,
): Settings {
  return {
    answers,
    unmanaged,
    timezone,
    isTakenAsAbsent: (item) =>
      unmanaged === 'absent' || (unmanaged !== 'unknown' && unmanaged.includes(item)),
  }
}

/** The same settings with one reading open. */
export function openReading(settings: Settings, number: number): Settings {
  const answers = settings.answers.map((answer, i) => (i === number ? undefined : answer))
  return { ...settings, answers }
}

function readUnmanaged(answer: Json): Settings['unmanaged'] {
  if (answer === 'unknown' || answer === 'unspecified') return 'unknown'
  if (answer === 'absent') return 'absent'
  const unknown = Array.isArray(answer)
    ? answer.find((name) => typeof name !== 'string' || !catalogue.has(name))
    : answer
  if (Array.isArray(answer) && unknown === undefined)
    return answer.filter((name) => typeof name === 'string')
  throw new BadSetting(
    `unmanaged must be unknown, absent, or a list of items; got ${quote(unknown)}`,
  )
}

function readAnswer(reading: Reading, answer: Json): Json | undefined {
  if (answer === 'unspecified') return undefined
  const { answers, name } = reading
  if (typeof answers !== 'string') {
    const text = typeof answer === 'number' ? String(answer) : answer
    if (typeof text === 'string' && answers.includes(text)) return text
    throw new BadSetting(
      `${name} is ${[...answers, 'unspecified'].join(', ')}; got ${quote(answer)}`,
    )
  }
  const [isValid, what] = kinds[answers]
  if (isValid(answer)) return answer
  throw new BadSetting(`${name} is ${what}, or unspecified; got ${quote(answer)}`)
}

const kinds: Record<'checks' | 'status' | 'seconds' | 'zone', [(answer: Json) => boolean, string]> =
  {
    checks: [
      isOrder,
      'a list of all ten checks of access, the one that answers first at the start',
    ],
    status: [(answer) => isInteger(answer, 400, 599), 'a status from 400 to 599'],
    seconds: [(answer) => isInteger(answer, 0, 1e9), 'a number of seconds'],
    zone: [isZone, 'service, or the name of a time zone'],
  }

function isOrder(answer: Json): boolean {
  return (
    Array.isArray(answer) &&
    answer.length === checkKeys.length &&
    checkKeys.every((key) => answer.includes(key))
  )
}

function isInteger(answer: Json, min: number, max: number): boolean {
  return typeof answer === 'number' && Number.isInteger(answer) && answer >= min && answer <= max
}

function isZone(answer: Json): boolean {
  if (answer === 'service') return true
  if (typeof answer !== 'string') return false
  try {
    createTimeZone(answer)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function quote(value: Json | undefined): string {
  return JSON.stringify(isObject(value) ? '{…}' : value).slice(0, 100)
}
