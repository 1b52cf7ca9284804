import type { ItemKey, Value } from '../model/item.ts'
import { isObject } from '../model/json.ts'
import { isSameAnswer, Unknown, uniteUnknown, type Answer } from './answer.ts'
import { readCandidate, type Candidates } from './candidates.ts'
import { carriers } from './carrier.ts'
import type { Settings } from './readings.ts'
import type { Facts } from './request.ts'
import { firstDoubtBit, Run } from './run.ts'

/** Something that has one of several values: an item in doubt, or the carrier. */
interface Doubt {
  /** Null: the carrier. */
  key: ItemKey | null
  values: readonly unknown[]
  reason: string
}

/** Combinations of the doubts of an answer that are tried; beyond, it is unknown. */
const maxCombinations = 256

/** The items of a configuration: their values, or what they may be. */
export interface Items {
  values: ReadonlyMap<ItemKey, Answer<Value>>
  doubts: readonly Doubt[]
  bits: ReadonlyMap<ItemKey, number>
  carriers: Doubt | null
}

/** Reads the candidates of all items. */
export function readItems(items: Candidates): Items {
  const read = [...items].map(([key, candidates]) => {
    const values = candidates.map((value) => readCandidate(key, value))
    return { key, values, reason: `in-doubt ${key}` }
  })
  const doubts = read.filter(({ values }) => values.length > 1)
  const isCarrierAsked = ['new_origin', 'tos_origin'].some((key) =>
    items
      .get(key)
      ?.flatMap((value) => (Array.isArray(value) ? value : []))
      .some((entry) => isObject(entry) && (entry['isp'] ?? 'default') !== 'default'),
  )
  return {
    values: new Map(read.map(({ key, values }) => [key, values[0] ?? null])),
    doubts,
    bits: new Map(doubts.map(({ key }, i) => [key, firstDoubtBit + i])),
    carriers: isCarrierAsked ? { key: null, values: carriers, reason: 'not-given isp' } : null,
  }
}

/** The runs of a request: one, and others in which what is in doubt has other values. */
export class Runs {
  readonly first: Run
  readonly #doubts: readonly Doubt[]
  readonly #others = new Map<string, Run>()

  constructor(first: Run, doubts: readonly Doubt[]) {
    this.first = first
    this.#doubts = doubts
  }

  static open(items: Items, facts: Facts, settings: Settings): Runs {
    const isOpen = facts.isp === undefined && items.carriers !== null
    const doubts =
      isOpen && items.carriers !== null ? [...items.doubts, items.carriers] : items.doubts
    const carrierBit = isOpen ? firstDoubtBit + items.doubts.length : null
    const { values, bits } = items
    const carrier = facts.isp ?? carriers[0]
    return new Runs(new Run({ facts, settings, values, carrier, bits, carrierBit }), doubts)
  }

  /** The same runs with another answer of a reading, or of what holds for unmanaged items. */
  flip(bit: number, settings: Settings): Runs {
    return new Runs(this.first.vary([bit], { settings }), this.#doubts)
  }

  /** Tests whether anything that was read rests on a reading. */
  restOn(bit: number): boolean {
    return [this.first, ...this.#others.values()].some((run) => run.restsOn(bit))
  }

  /** Answers something in all combinations of the doubts that it reads, and joins the answers. */
  answer<T>(read: (run: Run) => Answer<T>): Answer<T> {
    if (this.#doubts.length === 0) return read(this.first)
    const { doubts, all } = this.try(read)
    if (all !== null)
      return join(
        doubts.map(({ reason }) => reason),
        all,
      )
    return new Unknown(doubts.map(({ reason }) => reason))
  }

  /** Reads something in all combinations of the doubts on which it rests; null for too many. */
  try<T>(read: (run: Run) => T): { doubts: Doubt[]; all: Possible<T>[] | null } {
    let relevant: number[] = []
    for (;;) {
      const count = relevant.reduce((product, i) => product * this.#countValues(i), 1)
      const doubts = relevant.flatMap((i) => this.#doubts[i] ?? [])
      if (count > maxCombinations) return { doubts, all: null }
      const found = new Set(relevant)
      const all = Array.from({ length: count }, (_, n): Possible<T> => {
        const choices = this.#choose(relevant, n)
        const run = this.#getRun(relevant, choices)
        const { value, bits } = run.watch(read)
        this.#doubts.forEach((_doubt, i) => bits.has(firstDoubtBit + i) && found.add(i))
        return { choices, answer: value }
      })
      if (found.size === relevant.length) return { doubts, all }
      relevant = [...found].toSorted((a, b) => a - b)
    }
  }

  #countValues(i: number): number {
    return this.#doubts[i]?.values.length ?? 1
  }

  #choose(relevant: number[], n: number): number[] {
    let rest = n
    return relevant.map((i) => {
      const choice = rest % this.#countValues(i)
      rest = Math.floor(rest / this.#countValues(i))
      return choice
    })
  }

  #getRun(relevant: number[], choices: number[]): Run {
    const chosen = relevant.flatMap((i, n) => ((choices[n] ?? 0) > 0 ? [[i, choices[n] ?? 0]] : []))
    if (chosen.length === 0) return this.first
    const name = chosen.join()
    const known = this.#others.get(name)
    if (known !== undefined) return known
    const values = new Map(this.first.values)
    let { carrier } = this.first
    for (const [i = 0, choice = 0] of chosen) {
      const doubt = this.#doubts[i]
      const value = doubt?.values[choice]
      if (doubt?.key === null) carrier = value as typeof carrier
      else values.set(doubt?.key ?? '', value as Answer<Value>)
    }
    const run = this.first.vary(
      chosen.map(([i = 0]) => firstDoubtBit + i),
      { values, carrier },
    )
    this.#others.set(name, run)
    return run
  }
}

/** An answer, and the choices under which it holds. */
export interface Possible<T> {
  choices: readonly number[]
  answer: T
}

/**
 * Joins the answers of all combinations: the one that all give; otherwise the reasons of those that
 * are unknown, and of each choice that alone changes an answer (request semantics, 2).
 *
 * @param reasons why each choice is open
 */
function join<T>(reasons: readonly string[], all: readonly Possible<Answer<T>>[]): Answer<T> {
  const first = all[0]?.answer as Answer<T>
  if (all.every(({ answer }) => isSameAnswer(answer, first))) return first
  const decisive = reasons.filter((_, i) => isDecisive(all, i))
  return uniteUnknown([...all.map(({ answer }) => answer), new Unknown(decisive)]) ?? first
}

/** Tests whether two combinations that differ in one choice only have different answers. */
function isDecisive(all: readonly Possible<unknown>[], at: number): boolean {
  const byOthers = new Map<string, unknown>()
  return all.some(({ choices, answer }) => {
    const others = choices.filter((_, i) => i !== at).join()
    if (!byOthers.has(others)) byOthers.set(others, answer)
    return !isSameAnswer(byOthers.get(others), answer)
  })
}
