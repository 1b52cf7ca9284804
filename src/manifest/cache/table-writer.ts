import type { ItemKey, ItemState } from '../../model/item.ts'
import { findReference, listSecrets } from '../../model/secret.ts'
import type { KnownManifest } from '../parse-document.ts'
import type { CacheContent, CachedManifest, StoredItems } from './cache-file.ts'

/** Hashes everything below the manifests that name these profiles. */
export type HashStack = (profiles: string[]) => string

/** Index of an item that is not stored. */
const withheld = -1

/** Collects items and stacks of profiles, each once. */
export class TableWriter {
  readonly content: Omit<CacheContent, 'files'> = { references: [], unset: [], stacks: [] }
  readonly items: StoredItems = []
  readonly #hashStack: HashStack
  /** By identity: domains with the same profiles share states. */
  readonly #indexes = new Map<ItemState, number>()
  readonly #stacks = new Map<string, number>()
  /** The same indexes by identity: most manifests share their list of profiles. */
  readonly #stacksByList = new Map<KnownManifest['profiles'], number>()

  constructor(hashStack: HashStack) {
    this.#hashStack = hashStack
  }

  /** Adds the manifests of a file; null if an item has a literal secret. */
  addManifests(manifests: KnownManifest[]): CachedManifest[] | null {
    const rows = manifests.map(({ document, profiles, domains }): CachedManifest => [
      document.index,
      this.#addStack(profiles),
      domains[0]?.pointer !== '/domain',
      domains.map(({ domain, items }) => [
        domain,
        Array.from(items, ([item, state]) => this.#addItem(item, state)),
      ]),
    ])
    const isWithheld = rows.some(([, , , domains]) =>
      domains.some(([, indexes]) => indexes.includes(withheld)),
    )
    return isWithheld ? null : rows
  }

  #addStack(list: KnownManifest['profiles']): number {
    const index = this.#stacksByList.get(list) ?? this.#addNames(list.map(({ name }) => name))
    this.#stacksByList.set(list, index)
    return index
  }

  #addNames(profiles: string[]): number {
    const name = JSON.stringify(profiles)
    const known = this.#stacks.get(name)
    if (known !== undefined) return known
    const hash = this.#hashStack(profiles)
    const index = this.content.stacks.push({ profiles, hash }) - 1
    this.#stacks.set(name, index)
    return index
  }

  #addItem(item: ItemKey, state: ItemState): number {
    const known = this.#indexes.get(state)
    if (known !== undefined) return known
    const references = Array.from(listSecrets(state.candidates), findReference)
    const plain = references.filter((reference) => reference !== null)
    const isPlain = plain.length === references.length
    const index = isPlain ? this.items.push([item, state]) - 1 : withheld
    if (isPlain && plain.length > 0) this.content.references.push([index, plain])
    if (isPlain && state.status === 'unset') this.content.unset.push(index)
    this.#indexes.set(state, index)
    return index
  }
}
