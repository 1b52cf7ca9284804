import type { ItemKey, Value } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import { isSameAnswer, Unknown, uniteUnknown, type Answer } from './answer.ts'
import { carriers, type Carrier } from './carrier.ts'
import { listAnswers, type ReadingName, type ReadingNumber, type Settings } from './readings.ts'
import type { Facts } from './request.ts'

/** Items of a domain with their candidates; null is unset. An item without a key is unmanaged. */
export type Candidates = ReadonlyMap<ItemKey, readonly Candidate[]>
export type Candidate = Value | { $unknown: true }

/**
 * Something that is answered by itself: in every world of the readings, candidates and carriers
 * that it asks for, joined into one answer. It is asked at most once in a trace.
 */
export interface Question<T> {
  readonly index: number
  evaluate(e: Evaluation): T
  /** How the results of several worlds become one. */
  join(leaves: Leaf<T>[]): T
}

/** Creates the questions of a compiled configuration. */
export class Questions {
  count = 0
  readonly #kept = new Map<unknown, Map<string, unknown>>()

  /** Creates something once for an owner and a name. */
  keep<T>(owner: unknown, name: string, create: () => T): T {
    let named = this.#kept.get(owner)
    if (named === undefined) this.#kept.set(owner, (named = new Map()))
    const found = named.get(name)
    if (found !== undefined) return found as T
    const created = create()
    named.set(name, created)
    return created
  }

  /** A question with one answer. */
  ask<T>(evaluate: (e: Evaluation) => Answer<T>): Question<Answer<T>> {
    return { index: this.count++, evaluate, join: joinAnswers }
  }

  /** Several questions that are evaluated together, and joined each by itself. */
  askAll<T extends Record<string, unknown>>(evaluate: (e: Evaluation) => T): Question<T> {
    return { index: this.count++, evaluate, join: joinRecords }
  }
}

/** A choice between the answers of a variable in one world. */
interface Choice {
  variable: string
  index: number
  count: number
  /** Reasons for an answer that is unknown because of it. */
  reasons: readonly string[]
}

/** The result of the worlds in which these choices were made. */
interface Leaf<T> {
  choices: readonly Choice[]
  result: T
}

/** What was asked: bit 0 for unmanaged items, bit n for the reading Rn. */
interface Asked {
  low: number
  middle: number
  high: number
}

interface Entry extends Asked {
  answer: unknown
}

/** Bit of unmanaged items in what was asked. */
export const unmanagedBit = 0

/** Number of worlds of one question beyond which all its choices count as decisive. */
const maxWorlds = 3_000

/** The evaluation of one request under one group of settings. */
export class Evaluation {
  readonly items: Candidates
  readonly #entries: (Entry | undefined)[]
  readonly #based: { on: Evaluation; bit: number } | null
  #choices: Choice[] = []
  #low = 0
  #middle = 0
  #high = 0

  readonly facts: Facts
  readonly settings: Settings

  /**
   * @param based an evaluation of the same facts, whose answers hold here too if they do not depend
   *   on the reading with this bit
   */
  constructor(
    facts: Facts,
    settings: Settings,
    items: Candidates,
    based: { on: Evaluation; bit: number } | null = null,
  ) {
    this.facts = facts
    this.settings = settings
    this.items = items
    this.#entries = []
    this.#based = based
  }

  /** Asks a question; its joined answer. */
  ask<T>(question: Question<T>): T {
    const entry = (this.#entries[question.index] ??= this.#find(question))
    this.#low |= entry.low
    this.#middle |= entry.middle
    this.#high |= entry.high
    return entry.answer as T
  }

  /** Tests whether the answer of a question that was asked depends on a reading. */
  dependsOn(question: Question<unknown>, bit: number): boolean {
    const entry = this.#entries[question.index]
    return entry !== undefined && hasBit(entry, bit)
  }

  /** Lists the bits of all that was asked so far. */
  listAsked(): number[] {
    const asked = { low: this.#low, middle: this.#middle, high: this.#high }
    return Array.from({ length: 80 }, (_, i) => i).filter((bit) => hasBit(asked, bit))
  }

  /** The answer of a reading in this world. */
  reading(name: ReadingName): string {
    const number = this.#mark(name)
    const settled = this.settings.answers[number]
    if (settled !== undefined) return String(settled)
    const answers = listAnswers(number)
    return answers[this.#choose(name, answers.length, [`not-specified ${name}`])] ?? ''
  }

  /** The answer of a reading without worlds; unknown while it is open. */
  open(name: ReadingName): Answer<Json> {
    return this.settings.answers[this.#mark(name)] ?? new Unknown([`not-specified ${name}`])
  }

  /** The value of an item in this world; null if it is absent. */
  item(key: ItemKey): Answer<Value> {
    const candidates = this.items.get(key)
    if (candidates === undefined) {
      this.#low |= 1
      return this.settings.isTakenAsAbsent(key) ? null : new Unknown([`unmanaged ${key}`])
    }
    const doubt = [`in-doubt ${key}`]
    const index =
      candidates.length === 1 ? 0 : this.#choose(`item ${key}`, candidates.length, doubt)
    const value = candidates[index] ?? null
    return isUnknownValue(value) ? new Unknown(doubt) : value
  }

  /** The carrier in this world. */
  carrier(): Carrier {
    return (
      this.facts.isp ?? carriers[this.#choose('isp', carriers.length, ['not-given isp'])] ?? 'other'
    )
  }

  /** A condition in this world; an unknown one holds in one world and not in another. */
  suppose(name: string, condition: Answer<boolean>): boolean {
    if (!(condition instanceof Unknown)) return condition
    return this.#choose(`if ${name}`, 2, condition.reasons) === 0
  }

  #mark(name: ReadingName): ReadingNumber {
    const number = Number(name.slice(1))
    if (number < 30) this.#low |= 1 << number
    else if (number < 60) this.#middle |= 1 << (number - 30)
    else this.#high |= 1 << (number - 60)
    return number
  }

  #choose(variable: string, count: number, reasons: readonly string[]): number {
    for (const choice of this.#choices) if (choice.variable === variable) return choice.index
    this.#choices.push({ variable, index: 0, count, reasons })
    return 0
  }

  #find<T>(question: Question<T>): Entry {
    const { on, bit } = this.#based ?? {}
    const known = on?.getEntry(question)
    if (known !== undefined && bit !== undefined && !hasBit(known, bit)) return known
    const [choices, low, middle, high] = [this.#choices, this.#low, this.#middle, this.#high]
    this.#choices = []
    this.#low = this.#middle = this.#high = 0
    const answer = this.#evaluate(question)
    const entry = { answer, low: this.#low, middle: this.#middle, high: this.#high }
    this.#choices = choices
    this.#low = low
    this.#middle = middle
    this.#high = high
    return entry
  }

  getEntry(question: Question<unknown>): Entry | undefined {
    return this.#entries[question.index]
  }

  #evaluate<T>(question: Question<T>): T {
    const first = question.evaluate(this)
    if (this.#choices.length === 0) return first
    const leaves: Leaf<T>[] = [{ choices: copy(this.#choices), result: first }]
    while (leaves.length < maxWorlds && this.#advance())
      leaves.push({ result: question.evaluate(this), choices: copy(this.#choices) })
    return question.join(leaves)
  }

  /** Moves to the next world; false after the last one. */
  #advance(): boolean {
    for (;;) {
      const last = this.#choices.at(-1)
      if (last === undefined) return false
      if (last.index + 1 < last.count) {
        last.index++
        return true
      }
      this.#choices.pop()
    }
  }
}

/** Tests whether a candidate is any value. */
export function isUnknownValue(value: Candidate): value is { $unknown: true } {
  return isObject(value) && value['$unknown'] === true
}

function copy(choices: readonly Choice[]): Choice[] {
  return choices.map((choice) => ({ ...choice }))
}

function hasBit({ low, middle, high }: Asked, bit: number): boolean {
  if (bit < 30) return (low & (1 << bit)) !== 0
  if (bit < 60) return (middle & (1 << (bit - 30))) !== 0
  return (high & (1 << (bit - 60))) !== 0
}

function joinRecords<T extends Record<string, unknown>>(leaves: Leaf<T>[]): T {
  const first = leaves[0]?.result
  const names = Object.keys(first ?? {})
  return Object.fromEntries(
    names.map((name) => [
      name,
      joinAnswers(leaves.map(({ choices, result }) => ({ choices, result: result[name] }))),
    ]),
  ) as T
}

/**
 * Joins the results of all worlds: the value that all give; otherwise the reasons of the unknown
 * results, and of each choice for which two worlds that differ in nothing else give different
 * results.
 */
function joinAnswers<T>(leaves: Leaf<T>[]): T {
  const first = leaves[0]?.result as T
  if (leaves.every(({ result }) => isSameAnswer(result, first))) return first
  const unknown = leaves.map(({ result }) => result).filter((result) => result instanceof Unknown)
  const decisive = findDecisive(leaves).map((reasons) => new Unknown(reasons))
  return (uniteUnknown([...unknown, ...decisive]) ?? first) as T
}

/** Finds the reasons of the choices on which the result depends. */
function findDecisive(leaves: Leaf<unknown>[]): (readonly string[])[] {
  const found = new Map<string, readonly string[]>()
  const all = new Map(
    leaves.flatMap(({ choices }) => choices.map(({ variable, reasons }) => [variable, reasons])),
  )
  if (leaves.length >= maxWorlds) return [...all.values()]
  for (let i = 0; i < leaves.length && found.size < all.size; i++)
    for (let j = i + 1; j < leaves.length; j++) {
      const [a, b] = [leaves[i], leaves[j]]
      if (a === undefined || b === undefined) continue
      const only = findOnlyDifference(a.choices, b.choices)
      if (only !== null && !found.has(only.variable) && !isSameAnswer(a.result, b.result))
        found.set(only.variable, only.reasons)
    }
  return [...found.values()]
}

/** Finds the choice in which two worlds differ, if it is the only one. */
function findOnlyDifference(a: readonly Choice[], b: readonly Choice[]): Choice | null {
  let only: Choice | null = null
  for (const choice of a) {
    const other = b.find(({ variable }) => variable === choice.variable)
    if (other === undefined || other.index === choice.index) continue
    if (only !== null) return null
    only = choice
  }
  return only
}
