import { catalogue } from '../catalog/catalogue.ts'
import type { Grouping } from '../model/config.ts'
import type { ItemKey } from '../model/item.ts'

/**
 * Items of one domain that travel in one write or not at all, and the name of what may travel with
 * them.
 */
export interface Bundle {
  items: ItemKey[]
  /** Bundles of one name may share a write. */
  group: string
}

/**
 * For the items that change on one domain: what travels together, and what may. Items that must not
 * be seen apart (`together`) are one bundle; a bundle that joins several groups travels alone. In a
 * stable order.
 */
export function buildBundles(items: ItemKey[], grouping: Grouping): Bundle[] {
  const bound = joined(grouping.together, items).filter((set) => set.length > 1)
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

/** The changed items of each set; sets that have one in common are one set. */
function joined(sets: ItemKey[][], items: ItemKey[]): ItemKey[][] {
  const changed = new Set(items)
  return sets.reduce<ItemKey[][]>((found, set) => {
    const own = set.filter((item) => changed.has(item))
    const [touching, apart] = [
      found.filter((other) => other.some((item) => own.includes(item))),
      found.filter((other) => !other.some((item) => own.includes(item))),
    ]
    return [...apart, [...new Set([...touching.flat(), ...own])]]
  }, [])
}

/**
 * The group of an item (specification, "POST /domain/config", rule 8). An item that a list of lists
 * leaves out is alone.
 */
export function findGroup(item: ItemKey, groups: Grouping['groups']): string {
  if (groups === 'all') return 'all'
  if (groups === 'documented') return catalogue.get(item)?.group ?? item
  const index = groups.findIndex((group) => group.includes(item))
  return index >= 0 ? `group ${index}` : item
}
