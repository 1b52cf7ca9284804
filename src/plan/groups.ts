import { catalogue } from '../catalog/catalogue.ts'
import type { Grouping } from '../model/config.ts'
import type { ItemKey } from '../model/item.ts'

/** Items of one domain that are always sent in the same write. */
export interface Bundle {
  items: ItemKey[]
  /** Group name; bundles of one group may share a write. */
  group: string
}

/**
 * Bundles the changed items of one domain. Items that must take effect together (`together`) are
 * one bundle; a bundle with items of several groups gets its own write. The order is stable.
 */
export function buildBundles(items: ItemKey[], grouping: Grouping): Bundle[] {
  const bound = mergeSets(grouping.together, items).filter((set) => set.length > 1)
  const single = items
    .filter((item) => !bound.some((set) => set.includes(item)))
    .map((item) => [item])
  return [...bound, ...single]
    .map((set) => {
      const sorted = set.toSorted()
      const groups = new Set(sorted.map((item) => findGroup(item, grouping.groups)))
      return {
        items: sorted,
        group: groups.size === 1 ? [...groups].join() : `together ${sorted.join(' ')}`,
      }
    })
    .toSorted((a, b) => (a.items.join() < b.items.join() ? -1 : 1))
}

/** Restricts each set to the changed items and merges sets that have one in common. */
function mergeSets(sets: ItemKey[][], items: ItemKey[]): ItemKey[][] {
  const changed = new Set(items)
  return sets.reduce<ItemKey[][]>((found, set) => {
    const own = set.filter((item) => changed.has(item))
    const [touching, separate] = [
      found.filter((other) => other.some((item) => own.includes(item))),
      found.filter((other) => !other.some((item) => own.includes(item))),
    ]
    return [...separate, [...new Set([...touching.flat(), ...own])]]
  }, [])
}

/**
 * Finds the group of an item (specification, "POST /domain/config", rule 8). An item that is in
 * none of the configured groups is its own group.
 */
export function findGroup(item: ItemKey, groups: Grouping['groups']): string {
  if (groups === 'all') return 'all'
  if (groups === 'documented') return catalogue.get(item)?.group ?? item
  const index = groups.findIndex((group) => group.includes(item))
  return index >= 0 ? `group ${index}` : item
}
