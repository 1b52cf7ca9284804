import type { ItemKey, ItemState } from './item.ts'

/**
 * Items of a domain that an earlier run has built from the same text: they are built on first use.
 * All of them have a confirmed value without a secret. Recorded items that do not differ from the
 * desired ones have the same version.
 */
export class KnownItems<State extends ItemState> extends Map<ItemKey, State> {
  #version: string | null
  #build: (() => Iterable<[ItemKey, State]>) | null
  readonly #count: number

  /**
   * Creates items from what identifies the desired ones.
   *
   * @param count their number
   */
  constructor(version: string, count: number, build: () => Iterable<[ItemKey, State]>) {
    super()
    this.#version = version
    this.#count = count
    this.#build = build
  }

  /** Identifies the desired items of a domain; null if they were changed since. */
  get version(): string | null {
    return this.#version
  }

  override get size(): number {
    return this.#build === null ? super.size : this.#count
  }

  override get(item: ItemKey): State | undefined {
    this.#fill()
    return super.get(item)
  }

  override has(item: ItemKey): boolean {
    this.#fill()
    return super.has(item)
  }

  override keys(): MapIterator<ItemKey> {
    this.#fill()
    return super.keys()
  }

  override values(): MapIterator<State> {
    this.#fill()
    return super.values()
  }

  override entries(): MapIterator<[ItemKey, State]> {
    this.#fill()
    return super.entries()
  }

  override [Symbol.iterator](): MapIterator<[ItemKey, State]> {
    return this.entries()
  }

  override forEach(work: (state: State, item: ItemKey, items: Map<ItemKey, State>) => void): void {
    for (const [item, state] of this) work(state, item, this)
  }

  override set(item: ItemKey, state: State): this {
    this.#change()
    return super.set(item, state)
  }

  override delete(item: ItemKey): boolean {
    this.#change()
    return super.delete(item)
  }

  override clear(): void {
    this.#change()
    super.clear()
  }

  #change(): void {
    this.#fill()
    this.#version = null
  }

  #fill(): void {
    if (this.#build === null) return
    const build = this.#build
    this.#build = null
    for (const [item, state] of build()) super.set(item, state)
  }
}

/** Finds the version of items; null if they are not known, or were changed since. */
export function findVersion(items: ReadonlyMap<ItemKey, ItemState> | undefined): string | null {
  return items instanceof KnownItems ? items.version : null
}

/** Tests whether an earlier run has found that recorded items do not differ from desired ones. */
export function isKnownUnchanged(
  recorded: ReadonlyMap<ItemKey, ItemState> | undefined,
  desired: ReadonlyMap<ItemKey, ItemState> | undefined,
): boolean {
  const version = findVersion(recorded)
  return version !== null && version === findVersion(desired)
}
