import type { ItemKey } from '../model/item.ts'

/** A rule or entry of an item; the pointer is empty for the item as a whole. */
export interface Rule {
  item: ItemKey
  pointer: string
  /** Its text; null if it has none, or a secret. */
  pattern: string | null
}

export function createRule(item: ItemKey, pointer = '', pattern: unknown = null): Rule {
  return { item, pointer, pattern: typeof pattern === 'string' ? pattern : null }
}
