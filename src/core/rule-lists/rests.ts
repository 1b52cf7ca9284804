import { settle } from '../effects/patterns/languages.ts'
import { getOrAdd } from '../model/lists.ts'
import type { Settings } from '../trace/readings.ts'
import { listOthers, setAnswer } from '../trace/settings.ts'

/**
 * The answers of readings on which a finding rests: `{"R8": "any"}`. With another answer of one of
 * these it would not hold, and the operator has not set them.
 */
export type Rests = Record<string, string>

/**
 * Finds on which readings it rests that something holds, each tried by itself; null if it does not
 * hold, or that is not decided.
 *
 * @param numbers the readings that it asks for, but R2
 * @param holds undefined if it is not decided
 */
export function findRests(
  settings: Settings,
  numbers: readonly number[],
  holds: (settings: Settings) => boolean | undefined,
): Rests | null {
  if (holds(settings) !== true) return null
  const rests: Rests = {}
  for (const [number, other] of listFlips(settings, numbers)) {
    const name = `R${number}`
    if (rests[name] === undefined && holds(other) !== true)
      rests[name] = String(settle(settings, number))
  }
  return rests
}

/** Lists settings with another answer of R2, or of one of some readings that nobody has set. */
export function listFlips(settings: Settings, numbers: readonly number[]): [number, Settings][] {
  const asked = [...new Set([2, ...numbers])].filter((number) => !settings.own.has(number))
  const known = getOrAdd(flips, settings, () => new Map<number, [number, Settings][]>())
  return asked.flatMap((number) =>
    getOrAdd(known, number, () =>
      listOthers(number, settle(settings, number)).map((answer) => [
        number,
        setAnswer(settings, number, answer),
      ]),
    ),
  )
}

const flips = new WeakMap<Settings, Map<number, [number, Settings][]>>()

/** Tests whether a finding holds whatever the answers are. */
export function isEverywhere(rests: Rests): boolean {
  return Object.keys(rests).length === 0
}
