import type { ItemValues } from '../catalog/generated/items.ts'
import { castAccepted } from '../catalog/item-spec.ts'
import type { ItemKey, Value } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import { map, Unknown, type Answer } from './answer.ts'
import type { Carrier } from './carrier.ts'
import type { ReadingName, Settings } from './readings.ts'
import type { Facts } from './request.ts'

/** Bit of unmanaged items in what was read; bit n stands for the reading Rn. */
export const unmanagedBit = 0
/** Bit of the first thing in doubt; the others follow. */
export const firstDoubtBit = 80

/** What was read on the way to a result, as bits, 30 in each number. */
export class Bits {
  readonly #parts = [0, 0, 0, 0]

  add(bit: number): void {
    const part = Math.floor(bit / 30)
    this.#parts[part] = (this.#parts[part] ?? 0) | (1 << (bit % 30))
  }

  addAll(other: Bits): void {
    for (let i = 0; i < 4; i++) this.#parts[i] = (this.#parts[i] ?? 0) | (other.#parts[i] ?? 0)
  }

  has(bit: number): boolean {
    return ((this.#parts[Math.floor(bit / 30)] ?? 0) & (1 << (bit % 30))) !== 0
  }
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
  /** An item without a value is unmanaged. */
  values: ReadonlyMap<ItemKey, Answer<Value>>
  carrier: Carrier
  /** The bits of items in doubt, and of the carrier if it is. */
  bits: ReadonlyMap<ItemKey, number>
  carrierBit: number | null
}

/**
 * What the stages of a trace read: a configuration with one value an item, the facts of a request,
 * and the answers of the readings. Results are kept, so that each is computed once.
 */
export class Run {
  readonly #sources: Sources
  readonly #varied: { from: Run; bits: readonly number[] } | null
  readonly #kept = new Map<unknown, Kept<unknown>>()
  #bits = new Bits()

  /** @param varied a run that differs in what has these bits only, whose other results hold here */
  constructor(sources: Sources, varied: { from: Run; bits: readonly number[] } | null = null) {
    this.#sources = sources
    this.#varied = varied
  }

  /** The same run with other sources of what has these bits. */
  vary(bits: readonly number[], sources: Partial<Sources>): Run {
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

  get carrier(): Carrier {
    const { carrier, carrierBit } = this.#sources
    if (carrierBit !== null) this.#bits.add(carrierBit)
    return carrier
  }

  /** The answer of a reading as a text. */
  reading(name: ReadingName): string {
    return String(this.settled(name))
  }

  settled(name: ReadingName): Json {
    const number = Number(name.slice(1))
    this.#bits.add(number)
    return this.#sources.settings.answers[number] ?? null
  }

  /** The value of an item; null if it is not set. */
  item(key: ItemKey): Answer<Value> {
    const { values, bits, settings } = this.#sources
    const value = values.get(key)
    if (value === undefined) {
      this.#bits.add(unmanagedBit)
      return settings.isTakenAsAbsent(key) ? null : Unknown.of(`unmanaged ${key}`)
    }
    const bit = bits.get(key)
    if (bit !== undefined) this.#bits.add(bit)
    return value
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
    const kept = (this.#kept.get(key) ?? this.#find(key, compute)) as Kept<T>
    this.#bits.addAll(kept.bits)
    return kept.value
  }

  /** Computes something, and tells what it rests on. */
  watch<T>(compute: (run: Run) => T): Kept<T> {
    const outer = this.#bits
    const bits = (this.#bits = new Bits())
    const value = compute(this)
    this.#bits = outer
    outer.addAll(bits)
    return { value, bits }
  }

  /** Tests whether anything that was read rests on a reading. */
  restsOn(bit: number): boolean {
    return this.#bits.has(bit)
  }

  #find(key: unknown, compute: (run: Run) => unknown): Kept<unknown> {
    const kept = this.#reuse(key) ?? this.watch(compute)
    this.#kept.set(key, kept)
    return kept
  }

  #reuse(key: unknown): Kept<unknown> | null {
    if (this.#varied === null) return null
    const { from, bits } = this.#varied
    const known = from.#kept.get(key) ?? from.#reuse(key)
    return known === null || bits.some((bit) => known.bits.has(bit)) ? null : known
  }
}
