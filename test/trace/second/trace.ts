import type { Facts } from './facts.ts'
import {
  carriers,
  emptyToNull,
  isUnknownCandidate,
  type Carrier,
  type ItemName,
  type Items,
} from './items.ts'
import type { ReadingName, Settings } from './readings.ts'
import { canonicalResult, known, unknown, unknownOf, type Result } from './result.ts'

/** Something in doubt, with the candidate that a world has. */
interface Choice {
  key: string
  index: number
  count: number
  /** Added if the choice makes a difference. */
  reason: string
}

/** A world as far as a question looked at it, and the result there. */
interface Leaf<T> {
  choices: Map<string, Choice>
  result: Result<T>
}

export interface Configuration {
  domain: string
  items: Record<string, readonly unknown[]>
  timezone: string | undefined
}

/** Combinations of what is in doubt that are tried for one answer. */
const maxCombinations = 256

/** One evaluation of a configuration and a request under certain settings. */
export class Trace {
  /** Readings that were looked at, and `unmanaged` if an unmanaged item was. */
  readonly touched = new Set<string>()
  readonly config: Configuration
  readonly facts: Facts
  readonly settings: Settings

  constructor(config: Configuration, facts: Facts, settings: Settings) {
    this.config = config
    this.facts = facts
    this.settings = settings
  }

  /** Answers a question with each combination of the candidates that it looks at. */
  ask<T>(question: (world: World) => Result<T>): Result<T> {
    const leaves: Leaf<T>[] = []
    let prefix: Choice[] | null = []
    while (prefix !== null) {
      const world: World = new World(this, prefix)
      const result = question(world)
      leaves.push({ choices: world.choices, result })
      const looked = new Map(leaves.flatMap(({ choices }) => [...choices]))
      const counts = [...looked.values()].map(({ count }) => count)
      if (counts.reduce((product, count) => product * count, 1) > maxCombinations)
        return unknown(...[...looked.values()].map(({ reason }) => reason))
      prefix = findNextPrefix([...world.choices.values()])
    }
    return join(leaves)
  }

  isTakenAsAbsent(item: string): boolean {
    const { unmanaged } = this.settings
    return unmanaged === 'absent' || (unmanaged !== 'unknown' && !unmanaged.includes(item))
  }
}

/** One world of a question. Choices are made in the order in which they are asked for. */
export class World {
  readonly choices = new Map<string, Choice>()
  readonly trace: Trace
  private readonly prefix: readonly Choice[]
  private readonly answered = new Map<string, unknown>()

  constructor(trace: Trace, prefix: readonly Choice[]) {
    this.trace = trace
    this.prefix = prefix
  }

  get facts(): Facts {
    return this.trace.facts
  }

  /** The answer of a reading. */
  reading(name: ReadingName): string {
    return String(this.settled(name))
  }

  settled(name: ReadingName): unknown {
    this.trace.touched.add(name)
    return this.trace.settings.settled.get(name)
  }

  is(name: ReadingName, answer: string): boolean {
    return this.reading(name) === answer
  }

  /** The value of an item; null if it is absent. */
  item<K extends ItemName>(name: K): Result<Items[K] | null> {
    const { items } = this.trace.config
    const candidates = Object.hasOwn(items, name) ? items[name] : undefined
    if (candidates === undefined) {
      this.trace.touched.add('unmanaged')
      return this.trace.isTakenAsAbsent(name) ? known(null) : unknown(`unmanaged ${name}`)
    }
    const reason = `in-doubt ${name}`
    const index = candidates.length > 1 ? this.choose(name, candidates.length, reason) : 0
    const candidate = candidates[index]
    if (isUnknownCandidate(candidate)) return unknown(reason)
    return known(emptyToNull(candidate) as Items[K] | null)
  }

  /** The client's carrier; each of the four in turn if it is not given. */
  carrier(): Carrier {
    const { isp } = this.facts
    return isp ?? carriers[this.choose(' isp', carriers.length, 'not-given isp')] ?? 'other'
  }

  /** A result that is found once in this world. */
  once<T>(key: string, question: (world: World) => T): T {
    if (!this.answered.has(key)) this.answered.set(key, question(this))
    return this.answered.get(key) as T
  }

  private choose(key: string, count: number, reason: string): number {
    const made = this.choices.get(key)
    if (made !== undefined) return made.index
    const next = this.prefix[this.choices.size]
    if (next !== undefined && next.key !== key) throw new Error(`expected ${next.key}, got ${key}`)
    const choice = next ?? { key, index: 0, count, reason }
    this.choices.set(key, choice)
    return choice.index
  }
}

/** The choices up to the last that has another option, with that option; null after the end. */
function findNextPrefix(choices: Choice[]): Choice[] | null {
  const last = choices.findLastIndex(({ index, count }) => index + 1 < count)
  const choice = choices[last]
  if (choice === undefined) return null
  return [...choices.slice(0, last), { ...choice, index: choice.index + 1 }]
}

/** Joins the results of all worlds (request semantics, 2). */
function join<T>(leaves: Leaf<T>[]): Result<T> {
  const [first] = leaves
  if (first === undefined) throw new Error('a question without worlds')
  const texts = leaves.map(({ result }) => canonicalResult(result))
  if (texts.every((text) => text === texts[0])) return first.result
  const reasons = leaves.flatMap(({ result }) => (result.known ? [] : [...result.reasons]))
  return unknownOf(new Set([...reasons, ...findMattering(leaves, texts)]))
}

/**
 * Finds the choices for which two worlds that differ in nothing else give different results. A leaf
 * stands for all worlds that agree with its choices; so two leaves hold such a pair of worlds if
 * they differ in one choice that both made, and in no other choice that both made.
 */
function findMattering(leaves: Leaf<unknown>[], texts: string[]): string[] {
  const all = new Map(leaves.flatMap(({ choices }) => [...choices]))
  const keys = [...all.keys()]
  const rows = leaves.map(({ choices }) => keys.map((key) => choices.get(key)?.index ?? -1))
  const found = new Set<number>()
  for (const [i, a] of rows.entries())
    for (let j = i + 1; j < rows.length; j++) {
      const only = texts[i] === texts[j] ? -1 : findOnlyDifference(a, rows[j] ?? [])
      if (only >= 0) found.add(only)
    }
  return [...found].map((i) => all.get(keys[i] ?? '')?.reason ?? '')
}

/** The place of the only choice that both made differently; -1 if there is none or another. */
function findOnlyDifference(a: number[], b: number[]): number {
  let only = -1
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i] || a[i] === -1 || b[i] === -1) continue
    if (only >= 0) return -1
    only = i
  }
  return only
}
