import type { ItemValues } from '../catalog/generated/items.ts'
import { castAccepted } from '../catalog/item-spec.ts'
import type { ItemKey, Value } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import { map, Unknown, type Answer } from './answer.ts'
import type { Carrier } from './carrier.ts'
import { readings, type ReadingName, type Settings } from './readings.ts'
import type { Facts } from './request.ts'

/** What was read on the way to a result, as a set. */
export type Bits = bigint

/** Place of the bit of unmanaged items; place n is that of the reading Rn. */
export const unmanagedPlace = 0
/** Place of the first thing in doubt; the others follow. */
export const firstDoubtPlace = 80

const numbers = new Map(readings.map(({ name }, i) => [name, i + 1]))
const single: Bits[] = []

/** The set of one thing, by its place. */
export function getBit(place: number): Bits {
  return (single[place] ??= 1n << BigInt(place))
}

/** A result, and what it rests on. */
interface Kept<T> {
  value: T
  bits: Bits
}

/** What a run reads. */
interface Sources {
  facts: Facts
  settings: Settings
  /** An item without a value is unmanaged. Has the carrier, too. */
  values: ReadonlyMap<ItemKey, Answer<Value>>
  /** The bits of what is in doubt. */
  bits: ReadonlyMap<ItemKey, Bits>
  /** Whether anybody asks what results rest on, which takes time. */
  isWatched: boolean
}

/** The name of the carrier among values: it may be in doubt like an item. */
export const carrierKey = 'isp'

/**
 * What the stages of a trace read: a configuration with one value an item, the facts of a request,
 * and the answers of the readings. Results are kept, so that each is computed once.
 */
export class Run {
  readonly #sources: Sources
  readonly #varied: { from: Run; bits: Bits } | null
  readonly #kept = new Map<unknown, Kept<unknown>>()
  #bits = 0n

  /** @param varied a run that differs in what has these bits only, whose other results hold here */
  constructor(sources: Sources, varied: { from: Run; bits: Bits } | null = null) {
    this.#sources = sources
    this.#varied = varied
  }

  /** The same run with other sources of what has these bits. */
  vary(bits: Bits, sources: Partial<Sources>): Run {
    return new Run({ ...this.#sources, ...sources }, { from: this, bits })
  }

  get facts(): Facts {
    return this.#sources.facts
  }

  get settings(): Settings {
    return this.#sources.settings
  }

  get values(): Sources['values'] {
    return this.#sources.values
  }

  /** What anything that was read rests on. */
  get bits(): Bits {
    return this.#bits
  }

  get carrier(): Carrier {
    return this.facts.isp ?? (this.#find(carrierKey) as Carrier)
  }

  /** The answer of a reading as a text. */
  reading(name: ReadingName): string {
    return String(this.settled(name))
  }

  settled(name: ReadingName): Json {
    const number = numbers.get(name) ?? 0
    this.#add(getBit(number))
    return this.#sources.settings.answers[number] ?? null
  }

  /** The value of an item; null if it is not set. */
  item(key: ItemKey): Answer<Value> {
    const value = this.#find(key)
    if (value !== undefined) return value
    this.#add(getBit(unmanagedPlace))
    return this.settings.isTakenAsAbsent(key) ? null : Unknown.of(`unmanaged ${key}`)
  }

  /** What an item gives if it is set, and what holds without it. */
  read<Key extends keyof ItemValues, T, U>(
    key: Key,
    absent: Answer<U>,
    read: (item: ItemValues[Key]) => Answer<T>,
  ): Answer<T | U> {
    return map(this.item(key), (value): Answer<T | U> =>
      value === null ? absent : read(castAccepted<ItemValues[Key]>(value)),
    )
  }

  /** A result that is computed once. */
  once<T>(compute: (run: Run) => T): T {
    return this.keep(compute, compute)
  }

  /** A result that is computed once for a key. */
  keep<T>(key: unknown, compute: (run: Run) => T): T {
    let kept = this.#kept.get(key)
    if (kept === undefined) this.#kept.set(key, (kept = this.#reuse(key) ?? this.watch(compute)))
    this.#add(kept.bits)
    return kept.value as T
  }

  /** Computes something, and tells what it rests on. */
  watch<T>(compute: (run: Run) => T): Kept<T> {
    const outer = this.#bits
    this.#bits = 0n
    const value = compute(this)
    const bits = this.#bits
    this.#add(outer)
    return { value, bits }
  }

  #add(bits: Bits): void {
    if (this.#sources.isWatched) this.#bits |= bits
  }

  #find(key: ItemKey): Answer<Value> | undefined {
    const { values, bits } = this.#sources
    this.#add(bits.get(key) ?? 0n)
    return values.get(key)
  }

  #reuse(key: unknown): Kept<unknown> | null {
    if (this.#varied === null) return null
    const { from, bits } = this.#varied
    const known = from.#kept.get(key) ?? from.#reuse(key)
    return known === null || (known.bits & bits) !== 0n ? null : known
  }
}
