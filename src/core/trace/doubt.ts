import type { ItemKey, Value } from '../model/item.ts'
import { isObject } from '../model/json.ts'
import { getOrAdd } from '../model/lists.ts'
import { isSameAnswer, Unknown, uniteUnknown, type Answer } from './answer.ts'
import { readCandidate, type Candidates } from './candidates.ts'
import { carriers } from './carrier.ts'
import type { Settings } from './readings.ts'
import { carrierKey, firstDoubtPlace, getBit, type Bits, type Run } from './run.ts'

/** Something that has one of several values: an item in doubt, or the carrier. */
interface Doubt {
  key: ItemKey
  values: readonly Answer<Value>[]
  reason: string
  bit: Bits
}

/** Combinations of the doubts of an answer that are tried; beyond, it is unknown. */
const maxCombinations = 256

/** The items of a configuration: their values, or what they may be. */
export interface Items {
  values: ReadonlyMap<ItemKey, Answer<Value>>
  doubts: readonly Doubt[]
  bits: ReadonlyMap<ItemKey, Bits>
}

/** Reads the candidates of all items. */
export function readItems(items: Candidates): Items {
  const read = [...items].map(([key, candidates]) => {
    const values = candidates.map((value) => readCandidate(key, value))
    return { key, values, reason: `in-doubt ${key}` }
  })
  const isCarrierAsked = ['new_origin', 'tos_origin'].some((key) =>
    items
      .get(key)
      ?.flatMap((value) => (Array.isArray(value) ? value : []))
      .some((entry) => isObject(entry) && (entry['isp'] ?? 'default') !== 'default'),
  )
  const values = isCarrierAsked ? carriers : carriers.slice(0, 1)
  const all = [...read, { key: carrierKey, values, reason: 'not-given isp' }]
  const doubts = all
    .filter((each) => each.values.length > 1)
    .map((each, i) => ({ ...each, bit: getBit(firstDoubtPlace + i) }))
  return {
    values: new Map(all.map((each) => [each.key, each.values[0] ?? null])),
    doubts,
    bits: new Map(doubts.map(({ key, bit }) => [key, bit])),
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

  /** The same runs with another answer of a reading, or of what holds for unmanaged items. */
  flip(bit: Bits, settings: Settings): Runs {
    return new Runs(this.first.vary(bit, { settings }), this.#doubts)
  }

  /** What anything that was read rests on. */
  get bits(): Bits {
    return [...this.#others.values()].reduce((bits, run) => bits | run.bits, this.first.bits)
  }

  /** Answers something in all combinations of the doubts that it reads, and joins the answers. */
  answer<T>(read: (run: Run) => Answer<T>): Answer<T> {
    if (this.#doubts.length === 0) return read(this.first)
    const { doubts, all } = this.try(read)
    const reasons = doubts.map(({ reason }) => reason)
    return all === null ? new Unknown(reasons) : join(reasons, all)
  }

  /** Reads something in all combinations of the doubts on which it rests; null for too many. */
  try<T>(read: (run: Run) => T): { doubts: Doubt[]; all: Possible<T>[] | null; bits: Bits } {
    let bits = 0n
    let doubts: Doubt[] = []
    for (;;) {
      const count = doubts.reduce((product, { values }) => product * values.length, 1)
      if (count > maxCombinations) return { doubts, all: null, bits }
      const all = Array.from({ length: count }, (_, n): Possible<T> => {
        const choices = choose(doubts, n)
        const found = this.#getRun(doubts, choices).watch(read)
        bits |= found.bits
        return { choices, answer: found.value }
      })
      const relevant = this.#doubts.filter(({ bit }) => (bits & bit) !== 0n)
      if (relevant.length === doubts.length) return { doubts, all, bits }
      doubts = relevant
    }
  }

  #getRun(doubts: Doubt[], choices: number[]): Run {
    const chosen = doubts.flatMap(({ key, values, bit }, i) => {
      const choice = choices[i] ?? 0
      return choice === 0 ? [] : [{ key, value: values[choice] ?? null, bit, choice }]
    })
    if (chosen.length === 0) return this.first
    return getOrAdd(
      this.#others,
      chosen.map(({ key, choice }) => `${key} ${choice}`).join(),
      () => {
        const bits = chosen.reduce((all, { bit }) => all | bit, 0n)
        const other = chosen.map(({ key, value }) => [key, value] as const)
        return this.first.vary(bits, { values: new Map([...this.first.values, ...other]) })
      },
    )
  }
}

/** Chooses a value of each doubt for the `n`th combination. */
function choose(doubts: readonly Doubt[], n: number): number[] {
  let rest = n
  return doubts.map(({ values: { length } }) => {
    const choice = rest % length
    rest = Math.floor(rest / length)
    return choice
  })
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
