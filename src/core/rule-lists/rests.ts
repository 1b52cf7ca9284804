import { settle } from '../effects/witness/languages.ts'
import { getOrAdd } from '../model/lists.ts'
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
type Holds = (settings: Settings, space: Space) => boolean | undefined

/**
 * Finds on which readings it rests that something holds, each tried by itself; null if it does not
 * hold, or that is not decided.
 *
 * @param numbers the readings that it asks for, but R2
 */
export function findRests(
  settings: Settings,
  numbers: readonly number[],
  holds: Holds,
  reach: Reach = 'none',
): Rests | null {
  if (!holdsUnder(settings, holds, reach)) return null
  const rests: Rests = {}
  for (const [number, other] of listFlips(settings, numbers)) {
    const name = `R${number}`
    if (rests[name] === undefined && !holdsUnder(other, holds, reach))
      rests[name] = String(settle(settings, number))
  }
  return rests
}

/** Lists settings with another answer of R2, or of one of some readings, that is not the operator's. */
export function listFlips(settings: Settings, numbers: readonly number[]): [number, Settings][] {
  const asked = [...new Set([2, ...numbers])].filter((number) => !settings.own.has(number))
  const known = getOrAdd(flips, settings, () => new Map<number, [number, Settings][]>())
  return asked
    .toSorted((a, b) => a - b)
    .flatMap((number) =>
      getOrAdd(known, number, () =>
        listOthers(number, settle(settings, number)).map((answer) => [
          number,
          setAnswer(settings, number, answer),
        ]),
      ),
    )
}

const flips = new WeakMap<Settings, Map<number, [number, Settings][]>>()

/** Tests it for plain URLs, which all forms of R2 have, and if need be for those of its form. */
function holdsUnder(settings: Settings, holds: Holds, reach: Reach): boolean {
  const plain = holds(settings, 'plain')
  if (reach === 'none' || plain === (reach === 'some')) return plain === true
  return holds(settings, settle(settings, 2) as Space) === true
}

/** Tests whether a finding holds whatever the answers are. */
export function isEverywhere(rests: Rests): boolean {
  return Object.keys(rests).length === 0
}
