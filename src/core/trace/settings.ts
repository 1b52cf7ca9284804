import { catalogue } from '../catalog/catalogue.ts'
import { createTimeZone } from '../model/time/time-zone.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { checkKeys } from './check-keys.ts'
import { readings, type AnswerKind, type Reading, type Settings } from './readings.ts'

/** A reading or an answer that there is none of. */
export class BadSetting extends Error {}

/**
 * Builds settings: the usual answers, and those that the operator gives.
 *
 * @param assume answers by the names of readings, and of `unmanaged`
 * @param timezone name of the service's time zone
 * @throws BadSetting for an unknown name or answer
 */
export function buildSettings(assume: JsonObject = {}, timezone = 'UTC'): Settings {
  const answers: Json[] = [null, ...readings.map(({ usual }) => parseNumber(usual))]
  const own = new Set<number>()
  let unmanaged: Settings['unmanaged'] = 'absent'
  for (const [name, answer] of Object.entries(assume)) {
    if (name === 'unmanaged') {
      unmanaged = readUnmanaged(answer)
      own.add(0)
      continue
    }
    const reading = readings.find((each) => each.name === name)
    if (reading === undefined)
      throw new BadSetting(
        `there is no reading ${quote(name)}; edgewise explain readings lists all`,
      )
    const number = Number(name.slice(1))
    answers[number] = readAnswer(reading, answer)
    own.add(number)
  }
  return createSettings({ answers, own, unmanaged, timezone })
}

/** Creates settings of their parts. */
export function createSettings(parts: Omit<Settings, 'isTakenAsAbsent'>): Settings {
  const { unmanaged } = parts
  return {
    ...parts,
    isTakenAsAbsent: (item) =>
      unmanaged === 'absent' || (unmanaged !== 'unknown' && !unmanaged.includes(item)),
  }
}

/** The same settings with another answer of a reading, by its number. */
export function setAnswer(settings: Settings, number: number, answer: Json): Settings {
  return { ...settings, answers: settings.answers.with(number, answer) }
}

/** Lists the other answers of a reading, those of a kind by examples. */
export function listOthers(number: number, current: Json): Json[] {
  const answers = readings[number - 1]?.answers ?? []
  const all: readonly Json[] = typeof answers === 'string' ? examples[answers] : answers
  return all.filter((answer) => answer !== current && String(answer) !== String(current))
}

/** Answers of each kind of which one changes what any other does, if the reading matters. */
const examples: Record<AnswerKind, readonly Json[]> = {
  checks: [[...checkKeys].toReversed(), 'listed'],
  status: [403, 402, 418, 599],
  seconds: ['origin', 0, 60],
  zone: [
    'service',
    ...Array.from({ length: 24 }, (_, i) => `Etc/GMT${i < 12 ? '+' : '-'}${i % 12}`),
  ],
}

function parseNumber(answer: string): Json {
  return /^\d+$/.test(answer) ? Number(answer) : answer
}

function readUnmanaged(answer: Json): Settings['unmanaged'] {
  if (answer === 'unknown' || answer === 'absent') return answer
  const unknown = Array.isArray(answer)
    ? answer.find((name) => typeof name !== 'string' || !catalogue.has(name))
    : answer
  if (Array.isArray(answer) && unknown === undefined)
    return answer.filter((name) => typeof name === 'string')
  throw new BadSetting(
    `unmanaged must be absent, unknown, or a list of items that are unknown; got ${quote(unknown)}`,
  )
}

function readAnswer(reading: Reading, answer: Json): Json {
  const { answers, name, usual } = reading
  if (answer === usual) return usual
  if (typeof answers !== 'string') {
    const text = typeof answer === 'number' ? String(answer) : answer
    if (typeof text === 'string' && answers.includes(text)) return parseNumber(text)
    throw new BadSetting(`${name} is ${answers.join(', ')}; got ${quote(answer)}`)
  }
  const [isValid, what] = kinds[answers]
  if (isValid(answer)) return answer
  throw new BadSetting(`${name} is ${what}; got ${quote(answer)}`)
}

const kinds: Record<AnswerKind, [(answer: Json) => boolean, string]> = {
  checks: [
    isOrder,
    'listed, or a list of all ten checks of access, the one that answers first at the start',
  ],
  status: [(answer) => isInteger(answer, 400, 599), 'a status from 400 to 599'],
  seconds: [(answer) => isInteger(answer, 0, 1e9), 'origin, or a number of seconds'],
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
