import type { Domain, ItemKey, ItemState } from '../model/item.ts'

/** Recorded state of an item, with the apply that died with a call that may still change it. */
export type StoredItem = ItemState & { late?: string }

/** Files of domains that an earlier run has parsed and compared. */
export interface KnownFiles {
  /** Finds the domain of such a file, if it still has this text and nothing else has changed. */
  find(path: string, text: string): KnownFile | null
  /** Adds a file that was parsed. */
  add(path: string, text: string, domain: Domain, items: Map<ItemKey, StoredItem>): void
}

/** A file whose items do not differ from the desired ones of this version. */
export interface KnownFile {
  domain: Domain
  version: string
  /** Number of its items. */
  count: number
}
