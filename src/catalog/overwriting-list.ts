import type { ItemRow } from './item-spec.ts'

/** Traits of an array that every write replaces as a whole; an empty array unsets the item. */
export const overwritingList = {
  isEmpty: (value) => Array.isArray(value) && value.length === 0,
  unset: () => [],
} satisfies ItemRow
