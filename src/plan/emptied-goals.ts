import { listClearedItems, type ItemKeys } from '../catalog/wire-names.ts'
import type { ItemKey, ItemState } from '../model/item.ts'

/**
 * Drops goals that conflict: one that another goal empties, and one that would unset its item but
 * empty an unchanged one. Adds the reasons to `lost`.
 *
 * @returns all items that the remaining goals empty
 */
export function dropEmptiedGoals(
  goals: Map<ItemKey, ItemState>,
  lost: Map<ItemKey, string>,
  before: ReadonlyMap<ItemKey, ItemState | null>,
  now: ReadonlyMap<ItemKey, ItemState>,
  itemKeys: ItemKeys,
): Set<ItemKey> {
  const emptied = new Set<ItemKey>()
  const isSet = (current: ItemState | null | undefined) =>
    current !== null && current !== undefined && current.status !== 'unset'
  const staysSet = (item: ItemKey) =>
    !goals.has(item) && isSet(now.get(item)) && (!before.has(item) || isSet(before.get(item)))
  const valuesFirst = [...goals].toSorted(
    ([, a], [, b]) => Number(a.status === 'unset') - Number(b.status === 'unset'),
  )
  for (const [item, goal] of valuesFirst) {
    if (!goals.has(item)) continue
    const clearedItems = listClearedItems(item, itemKeys)
    const keptItem = goal.status === 'unset' ? clearedItems.find(staysSet) : undefined
    if (keptItem !== undefined) {
      lost.set(item, `unsetting it would empty ${keptItem}`)
      goals.delete(item)
      continue
    }
    for (const cleared of clearedItems) {
      emptied.add(cleared)
      if (goals.get(cleared)?.status === 'confirmed' || (before.has(cleared) && staysSet(cleared)))
        lost.set(cleared, `${item} empties it`)
      goals.delete(cleared)
    }
  }
  return emptied
}
