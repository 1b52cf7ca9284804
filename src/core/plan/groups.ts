import { catalogue } from '../catalog/catalogue.ts'
import type { Grouping } from '../model/config.ts'
import { groupBy } from '../model/lists.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Need } from './needs.ts'

/** Items of one domain that are always sent in the same write. */
export interface Bundle {
  items: ItemKey[]
  /** Group name; bundles of one group may share a write. */
  group: string
}

/** Needs of one domain that are always met by the same write. */
export interface NeedBundle {
  domain: Domain
  needs: Need[]
  group: string
}

/** Group of all items that are unset by DELETE. */
const deleteGroup = 'by DELETE'

/**
 * Bundles the needs of one domain. An item that is unset by DELETE shares a write with every other
 * one, and with nothing else: neither groups nor `together` bind it.
 */
export function listBundles(domain: Domain, needs: Need[], grouping: Grouping): NeedBundle[] {
  const byKind = groupBy(needs, ({ whole }) => whole.name === 'delete')
  const written = new Map(byKind.get(false)?.map((need) => [need.item, need]))
  const deleted = (byKind.get(true) ?? []).toSorted((a, b) => (a.item < b.item ? -1 : 1))
  return [
    ...buildBundles([...written.keys()], grouping).map(({ items, group }) => ({
      domain,
      needs: items.flatMap((item) => written.get(item) ?? []),
      group,
    })),
    ...deleted.map((need) => ({ domain, needs: [need], group: deleteGroup })),
  ]
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
