import { remember } from './remember.ts'
import type { ItemKey, Value } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import type { Secret } from '../model/secret.ts'
import { isSameAnswer, Unknown, uniteUnknown, type Answer } from './answer.ts'
import { carriers, type Carrier } from './carrier.ts'
import { listAnswers, type ReadingName, type ReadingNumber, type Settings } from './readings.ts'
import type { Facts } from './request.ts'
import { readPlain } from './secret-text.ts'

/** Items of a domain with their candidates; null is unset. An item without a key is unmanaged. */
export type Candidates = ReadonlyMap<ItemKey, readonly Candidate[]>
export type Candidate = Value | UnknownValue

/** Any value; `secrets`: those that stand in it where no text does. */
export type UnknownValue = { $unknown: true; secrets?: Secret[]; value?: Value }

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

/** Makes a question with one answer, which is created once for all that ask it. */
export function askOnce<T>(
  evaluate: (e: Evaluation, q: Questions) => Answer<T>,
): (q: Questions) => Question<Answer<T>> {
  return remember((q) => q.ask((e) => evaluate(e, q)))
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

/** Bit of unmanaged items in what was asked; bit n stands for the reading Rn. */
export const unmanagedBit = 0

/** Bit of the facts of the request. */
const factsBit = 80

/**
 * Number of worlds of one question beyond which no others are tried: the answer is unknown, and all
 * its choices count as decisive.
 */
const maxWorlds = 3_000

/** Bits of what was asked, 30 in each number. */
class Asked {
  low = 0
  middle = 0
  high = 0

  add(bit: number): void {
    if (bit < 30) this.low |= 1 << bit
    else if (bit < 60) this.middle |= 1 << (bit - 30)
    else this.high |= 1 << (bit - 60)
  }

  addAll({ low, middle, high }: Asked): void {
    this.low |= low
    this.middle |= middle
    this.high |= high
  }

  has(bit: number): boolean {
    if (bit < 30) return (this.low & (1 << bit)) !== 0
    if (bit < 60) return (this.middle & (1 << (bit - 30))) !== 0
    return (this.high & (1 << (bit - 60))) !== 0
  }

  /** Lists the bits of settings. */
  list(): number[] {
    const bits: number[] = []
    for (const [number, from] of [
      [this.low, 0],
      [this.middle, 30],
      [this.high & ~(1 << (factsBit - 60)), 60],
    ] as const)
      for (let rest = number; rest !== 0; rest &= rest - 1)
        bits.push(from + 31 - Math.clz32(rest & -rest))
    return bits
  }

  /** Tests whether anything but facts was asked. */
  hasSettings(): boolean {
    return (this.low | this.middle | (this.high & ~(1 << (factsBit - 60)))) !== 0
  }
}

/** The answer of a question, and on what it rests. */
class Entry {
  readonly question: Question<unknown>
  answer: unknown
  /** What was asked by the question, or by one that it asked. */
  readonly asked = new Asked()
  /** What the question asked itself. */
  readonly own = new Asked()
  /** The questions that it asked and that depend on settings. */
  questions: Question<unknown>[] | null = null
  choices: Choice[] | null = null

  constructor(question: Question<unknown>) {
    this.question = question
  }
}

/** Stands for what a trace asks by itself. */
const root: Question<unknown> = { index: -1, evaluate: () => null, join: () => null }

/** Settings, and the answers under them that no fact changes. */
export class Variant {
  readonly settings: Settings
  readonly constants: (Entry | undefined)[] = []

  constructor(settings: Settings) {
    this.settings = settings
  }
}

/** The evaluation of one request under one group of settings. */
export class Evaluation {
  readonly items: Candidates
  readonly settings: Settings
  readonly #facts: Facts
  readonly #constants: (Entry | undefined)[]
  readonly #entries: (Entry | undefined)[] = []
  readonly #based: { on: Evaluation; bit: number } | null
  #entry = new Entry(root)

  /**
   * @param based an evaluation of the same facts, whose answers hold here too if they do not depend
   *   on the reading with this bit
   */
  constructor(
    facts: Facts,
    { settings, constants }: Variant,
    items: Candidates,
    based: { on: Evaluation; bit: number } | null = null,
  ) {
    this.#facts = facts
    this.settings = settings
    this.items = items
    this.#constants = constants
    this.#based = based
  }

  /** The facts of the request. */
  get facts(): Facts {
    this.#entry.own.add(factsBit)
    return this.#facts
  }

  /** Asks a question; its joined answer. */
  ask<T>(question: Question<T>): T {
    const entry = this.#getEntry(question)
    this.#entry.asked.addAll(entry.asked)
    if (entry.asked.hasSettings()) (this.#entry.questions ??= []).push(question)
    return entry.answer as T
  }

  /** Lists by bit the questions that were asked and that asked for a reading themselves. */
  listReaders(): (Question<unknown>[] | undefined)[] {
    const readers: (Question<unknown>[] | undefined)[] = []
    for (const entry of this.#entries)
      if (entry?.own.hasSettings() === true)
        for (const bit of entry.own.list()) (readers[bit] ??= []).push(entry.question)
    return readers
  }

  /** Tests whether the answer of a question that was asked depends on a reading. */
  dependsOn(question: Question<unknown>, bit: number): boolean {
    return this.#entries[question.index]?.asked.has(bit) === true
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
    return this.settings.answers[this.#mark(name)] ?? Unknown.of(`not-specified ${name}`)
  }

  /** The value of an item in this world; null if it is absent. */
  item(key: ItemKey): Answer<Value> {
    const candidates = this.items.get(key)
    if (candidates === undefined) {
      this.#entry.own.add(unmanagedBit)
      return this.settings.isTakenAsAbsent(key) ? null : Unknown.of(`unmanaged ${key}`)
    }
    const index =
      candidates.length === 1
        ? 0
        : this.#choose(`item ${key}`, candidates.length, [`in-doubt ${key}`])
    const value = candidates[index] ?? null
    return isUnknownValue(value) ? explainUnknown(key, value) : value
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
    this.#entry.own.add(number)
    return number
  }

  #choose(variable: string, count: number, reasons: readonly string[]): number {
    const choices = (this.#entry.choices ??= [])
    for (const choice of choices) if (choice.variable === variable) return choice.index
    choices.push({ variable, index: 0, count, reasons })
    return 0
  }

  #getEntry(question: Question<unknown>): Entry {
    const { index } = question
    return (this.#entries[index] ??= this.#constants[index] ?? this.#find(question))
  }

  #find(question: Question<unknown>): Entry {
    const known = this.#findKnown(question)
    if (known !== null) return known
    const outer = this.#entry
    const entry = new Entry(question)
    this.#entry = entry
    entry.answer = this.#evaluate(question)
    entry.asked.addAll(entry.own)
    this.#entry = outer
    if (!entry.asked.has(factsBit)) this.#constants[question.index] = entry
    return entry
  }

  /** Finds the answer of the other evaluation, if it must be the same here. */
  #findKnown(question: Question<unknown>): Entry | null {
    if (this.#based === null) return null
    const { on, bit } = this.#based
    const known = on.#entries[question.index]
    if (known === undefined || !known.asked.has(bit)) return known ?? null
    if (known.own.has(bit)) return null
    const isSame = (known.questions ?? []).every((each) => {
      const [there, here] = [on.#getEntry(each), this.#getEntry(each)]
      return there === here || isSameAnswer(there.answer, here.answer)
    })
    return isSame ? known : null
  }

  #evaluate<T>(question: Question<T>): T {
    const first = question.evaluate(this)
    const { choices } = this.#entry
    if (choices === null) return first
    const leaves: Leaf<T>[] = [{ choices: copy(choices), result: first }]
    while (leaves.length < maxWorlds && advance(choices))
      leaves.push({ result: question.evaluate(this), choices: copy(choices) })
    return question.join(leaves)
  }
}

/** Moves to the next world; false after the last one. */
function advance(choices: Choice[]): boolean {
  for (;;) {
    const last = choices.at(-1)
    if (last === undefined) return false
    if (last.index + 1 < last.count) {
      last.index++
      return true
    }
    choices.pop()
  }
}

/** Says why the value of an item is unknown. */
export function explainUnknown(key: ItemKey, { secrets }: UnknownValue): Unknown {
  const plain = readPlain<unknown>(secrets)
  return plain instanceof Unknown ? plain : Unknown.of(`in-doubt ${key}`)
}

/** Tests whether a candidate is any value. */
export function isUnknownValue(value: Candidate): value is UnknownValue {
  return isObject(value) && value['$unknown'] === true
}

function copy(choices: readonly Choice[]): Choice[] {
  return choices.map((choice) => ({ ...choice }))
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
  const isSame = leaves.every(({ result }) => isSameAnswer(result, first))
  if (isSame && leaves.length < maxWorlds) return first
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
