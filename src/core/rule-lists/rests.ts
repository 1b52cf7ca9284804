import type { Settings } from '../trace/readings.ts'
import { listOthers, setAnswer } from '../trace/settings.ts'
import type { Space } from './find-url.ts'

/**
 * The answers of readings on which a finding rests: `{"R8": "any"}`. With another answer of one of
 * these it would not hold, and the operator has not set them.
 */
export type Rests = Record<string, string>

/** Whether something holds for all URLs of a space, for some URL, or whatever the URLs are. */
type Reach = 'all' | 'some' | 'none'

/** Tests something under settings; undefined if it is not decided. */
export type Holds = (settings: Settings, space: Space) => boolean | undefined

/**
 * Finds on which readings it rests that something holds, each tried by itself; null if it does not
 * hold, or that is not decided.
 *
 * @param numbers the readings that it asks for, but R2
 * @param isTotal whether what rests on a reading counts as nothing
 */
export function findRests(
  settings: Settings,
  numbers: Iterable<number>,
  holds: Holds,
  reach: Reach = 'none',
  isTotal = false,
): Rests | null {
  if (!holdsUnder(settings, holds, reach)) return null
  const rests: Rests = {}
  for (const number of new Set([2, ...numbers])) {
    if (settings.own.has(number)) continue
    const answer = settings.answers[number] ?? null
    const ends = listOthers(number, answer).some(
      (other) => !holdsUnder(setAnswer(settings, number, other), holds, reach),
    )
    if (ends && isTotal) return null
    if (ends) rests[`R${number}`] = String(answer)
  }
  return rests
}

/** Tests it for plain URLs, which all forms of R2 have, and if need be for those of its form. */
function holdsUnder(settings: Settings, holds: Holds, reach: Reach): boolean {
  const plain = holds(settings, 'plain')
  if (reach === 'none' || plain === (reach === 'some')) return plain === true
  return holds(settings, settings.answers[2] as Space) === true
}

/** Tests whether a finding holds whatever the answers are. */
export function isEverywhere(rests: Rests): boolean {
  return Object.keys(rests).length === 0
}
