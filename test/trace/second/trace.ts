import { readings, type ReadingName, type Settings } from './readings.ts'
import type { Facts } from './facts.ts'
import {
  carriers,
  emptyToNull,
  isUnknownCandidate,
  type Carrier,
  type ItemName,
  type Items,
} from './items.ts'
import { canonicalResult, known, unknown, unknownOf, type Cond, type Result } from './result.ts'

/** A choice that a world makes. */
interface Choice {
  key: string
  index: number
  count: number
  /** Added if the choice makes a difference. */
  reasons: ReadonlySet<string>
}

/** A world as far as a question looked at it, and the result there. */
interface Leaf<T> {
  choices: Map<string, Choice>
  result: Result<T>
}

interface Answered {
  result: Result<unknown>
  /** Settled readings that were looked at, and `unmanaged` if an unmanaged item was. */
  touched: ReadonlySet<string>
}

export interface Configuration {
  domain: string
  items: Record<string, readonly unknown[]>
  timezone: string | undefined
}

/** Settings of a trace that differ from those of an earlier trace in what `changed` names. */
interface Earlier {
  trace: Trace
  changed: string
}

/** One evaluation of a configuration and a request under certain settings. */
export class Trace {
  readonly touched = new Set<string>()
  private readonly answered = new Map<string, Answered>()
  private readonly stack: Set<string>[] = [this.touched]

  readonly config: Configuration
  readonly facts: Facts
  readonly settings: Settings
  private readonly earlier: Earlier | undefined

  constructor(config: Configuration, facts: Facts, settings: Settings, earlier?: Earlier) {
    this.config = config
    this.facts = facts
    this.settings = settings
    this.earlier = earlier
  }

  /**
   * Answers a question: evaluates it in every world and joins the results. The key must name the
   * question and all that it depends on beside configuration, facts and settings.
   */
  ask<T>(key: string, question: (world: World) => Result<T>): Result<T> {
    const found = this.answered.get(key) ?? this.reuse(key)
    if (found !== undefined) {
      this.answered.set(key, found)
      this.touch(...found.touched)
      return found.result as Result<T>
    }
    const touched = new Set<string>()
    this.stack.push(touched)
    const result = join(listLeaves(this, question))
    this.stack.pop()
    this.touch(...touched)
    this.answered.set(key, { result, touched })
    return result
  }

  touch(...names: string[]): void {
    for (const name of names) this.stack.at(-1)?.add(name)
  }

  /**
   * Reports a fact that contradicts a computation. A trace with changed settings is no reason to
   * refuse a fact.
   *
   * @throws Error unless the trace is one with changed settings
   */
  reportClash(): void {
    if (this.earlier === undefined) throw new Error('bad fact: signature')
  }

  isTakenAsAbsent(item: string): boolean {
    const { unmanaged } = this.settings
    return unmanaged === 'absent' || (unmanaged !== 'unknown' && unmanaged.includes(item))
  }

  private reuse(key: string): Answered | undefined {
    if (this.earlier === undefined) return undefined
    const { trace, changed } = this.earlier
    const found = trace.answered.get(key)
    return found === undefined || found.touched.has(changed) ? undefined : found
  }
}

/** One world of a question. Choices are made in the order in which they are asked for. */
export class World {
  readonly choices = new Map<string, Choice>()

  readonly trace: Trace
  private readonly prefix: readonly Choice[]

  constructor(trace: Trace, prefix: readonly Choice[]) {
    this.trace = trace
    this.prefix = prefix
  }

  get facts(): Facts {
    return this.trace.facts
  }

  /** The answer to a reading that has worlds. */
  reading(name: ReadingName): string {
    const { settled } = this.trace.settings
    if (settled.has(name)) {
      this.trace.touch(name)
      return String(settled.get(name))
    }
    const { answers, worldless } = readings[name]
    if (typeof answers === 'function' || worldless === true)
      throw new Error(`${name} has no worlds`)
    const index = this.choose(name, answers.length, new Set([`not-specified ${name}`]))
    return answers[index] ?? ''
  }

  is(name: ReadingName, answer: string): boolean {
    return this.reading(name) === answer
  }

  /** The answer to a reading without worlds; unknown if it is open. */
  special(name: ReadingName): Result<unknown> {
    const { settled } = this.trace.settings
    if (!settled.has(name)) return unknown(`not-specified ${name}`)
    this.trace.touch(name)
    return known(settled.get(name))
  }

  /** The value of an item; null if it is absent. */
  item<K extends ItemName>(name: K): Result<Items[K] | null> {
    const { items } = this.trace.config
    const candidates = Object.hasOwn(items, name) ? items[name] : undefined
    if (candidates === undefined) {
      this.trace.touch('unmanaged')
      return this.trace.isTakenAsAbsent(name) ? known(null) : unknown(`unmanaged ${name}`)
    }
    const reason = `in-doubt ${name}`
    const index =
      candidates.length > 1 ? this.choose(`item ${name}`, candidates.length, new Set([reason])) : 0
    const candidate = candidates[index]
    if (isUnknownCandidate(candidate)) return unknown(reason)
    return known(emptyToNull(candidate) as Items[K] | null)
  }

  /** The client's carrier; each of the four in turn if it is not given. */
  carrier(): Carrier {
    const { isp } = this.facts
    if (isp !== undefined) return isp
    return carriers[this.choose('isp', carriers.length, new Set(['not-given isp']))] ?? 'other'
  }

  /** A condition that is a world both ways if it is unknown. */
  either(key: string, cond: Cond): boolean {
    if (cond.known) return cond.value
    return this.choose(`either ${key}`, 2, cond.reasons) === 1
  }

  ask<T>(key: string, question: (world: World) => Result<T>): Result<T> {
    return this.trace.ask(key, question)
  }

  private choose(key: string, count: number, reasons: ReadonlySet<string>): number {
    const made = this.choices.get(key)
    if (made !== undefined) return made.index
    const next = this.prefix[this.choices.size]
    if (next !== undefined && next.key !== key) throw new Error(`expected ${next.key}, got ${key}`)
    const choice = next ?? { key, index: 0, count, reasons }
    this.choices.set(key, choice)
    return choice.index
  }
}

function listLeaves<T>(trace: Trace, question: (world: World) => Result<T>): Leaf<T>[] {
  const leaves: Leaf<T>[] = []
  let prefix: Choice[] | null = []
  while (prefix !== null) {
    const world: World = new World(trace, prefix)
    const result = question(world)
    leaves.push({ choices: world.choices, result })
    prefix = findNextPrefix([...world.choices.values()])
  }
  return leaves
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
  const [first, ...rest] = leaves
  if (first === undefined) throw new Error('a question without worlds')
  if (rest.length === 0) return first.result
  const texts = leaves.map(({ result }) => canonicalResult(result))
  if (texts.every((text) => text === texts[0])) return first.result
  const reasons = new Set<string>()
  for (const { result } of leaves)
    if (!result.known) for (const reason of result.reasons) reasons.add(reason)
  for (const choice of findMattering(leaves, texts))
    for (const reason of choice.reasons) reasons.add(reason)
  return unknownOf(reasons)
}

/**
 * Finds the choices for which two worlds that differ in nothing else give different results. A leaf
 * stands for all worlds that agree with its choices; so two leaves hold such a pair of worlds if
 * they differ in one choice that both made, and in no other choice that both made.
 */
function findMattering(leaves: Leaf<unknown>[], texts: string[]): Choice[] {
  const all = new Map(leaves.flatMap(({ choices }) => [...choices]))
  const keys = [...all.keys()]
  const rows = leaves.map(({ choices }) => keys.map((key) => choices.get(key)?.index ?? -1))
  const found = new Set<number>()
  for (const [i, a] of rows.entries())
    for (let j = i + 1; j < rows.length; j++) {
      const only = texts[i] === texts[j] ? -1 : findOnlyDifference(a, rows[j] ?? [])
      if (only >= 0) found.add(only)
    }
  return [...found].flatMap((i) => all.get(keys[i] ?? '') ?? [])
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
