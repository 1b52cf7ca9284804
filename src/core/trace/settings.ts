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
    const number = readings.findIndex((each) => each.name === name) + 1
    const reading = readings[number - 1]
    if (reading !== undefined) answers[number] = readAnswer(reading, answer)
    else if (name === 'unmanaged') unmanaged = readUnmanaged(answer)
    else
      throw new BadSetting(
        `there is no reading ${quote(name)}; edgewise explain readings lists all`,
      )
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
  const all: readonly Json[] = typeof answers === 'string' ? kinds[answers].examples : answers
  return all.filter((answer) => String(answer) !== String(current))
}

function parseNumber(answer: string): Json {
  return /^\d+$/.test(answer) ? Number(answer) : answer
}

function readUnmanaged(answer: Json): Settings['unmanaged'] {
  if (answer === 'unknown' || answer === 'absent') return answer
  const isItem = (name: Json) => typeof name === 'string' && catalogue.has(name)
  if (Array.isArray(answer) && answer.every(isItem)) return answer.map(String)
  const wrong = Array.isArray(answer) ? answer.find((name) => !isItem(name)) : answer
  throw new BadSetting(
    `unmanaged must be absent, unknown, or a list of items that are unknown; got ${quote(wrong)}`,
  )
}

function readAnswer({ answers, name, usual }: Reading, answer: Json): Json {
  if (answer === usual) return usual
  if (typeof answers === 'string') {
    const { isValid, what } = kinds[answers]
    if (isValid(answer)) return answer
    throw new BadSetting(`${name} is ${what}; got ${quote(answer)}`)
  }
  const text = typeof answer === 'number' ? String(answer) : answer
  if (typeof text === 'string' && answers.includes(text)) return parseNumber(text)
  throw new BadSetting(`${name} is ${answers.join(', ')}; got ${quote(answer)}`)
}

/** What is an answer of each kind; examples: one changes what any other does, if any does. */
const kinds: Record<
  AnswerKind,
  { isValid: (answer: Json) => boolean; what: string; examples: readonly Json[] }
> = {
  checks: {
    isValid: (answer) =>
      Array.isArray(answer) &&
      answer.length === checkKeys.length &&
      checkKeys.every((key) => answer.includes(key)),
    what: 'listed, or a list of all ten checks of access, the one that answers first at the start',
    examples: [[...checkKeys].toReversed(), 'listed'],
  },
  status: {
    isValid: (answer) => isInteger(answer, 400, 599),
    what: 'a status from 400 to 599',
    examples: [403, 402, 418, 599],
  },
  seconds: {
    isValid: (answer) => isInteger(answer, 0, 1e9),
    what: 'origin, or a number of seconds',
    examples: ['origin', 0, 60],
  },
  zone: {
    isValid: isZone,
    what: 'service, or the name of a time zone',
    examples: [
      'service',
      ...Array.from({ length: 24 }, (_, i) => `Etc/GMT${i < 12 ? '+' : '-'}${i % 12}`),
    ],
  },
}

function isInteger(answer: Json, min: number, max: number): boolean {
  return Number.isInteger(answer) && Number(answer) >= min && Number(answer) <= max
}

function isZone(answer: Json): boolean {
  try {
    return typeof answer === 'string' && createTimeZone(answer) !== null
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function quote(value: Json | undefined): string {
  return JSON.stringify(isObject(value) ? '{…}' : value).slice(0, 100)
}
