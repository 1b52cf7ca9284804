import type { ItemRow } from './item-spec.ts'

/**
 * An array that every write replaces whole: an empty one clears the item, which is its way back.
 */
export const overwritingList = {
  isEmpty: (value) => Array.isArray(value) && value.length === 0,
  unset: () => [],
} satisfies ItemRow
