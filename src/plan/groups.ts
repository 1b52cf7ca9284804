import { catalogue } from '../catalog/catalogue.ts'
import type { ItemKey } from '../model/item.ts'

/** What the workspace says about which items may, and which must, travel in one write. */
export interface Grouping {
  groups: 'documented' | 'all' | ItemKey[][]
  together: ItemKey[][]
}

/**
 * For the items that change on one domain: the bundles in which they may travel. Items of a bundle share a group, or
 * must not be seen apart (`together`). Bundles and the items in them come in a stable order.
 */
export function bundlesOf(items: ItemKey[], grouping: Grouping): ItemKey[][] {
  const bound = joined(grouping.together, items).filter((set) => new Set(set.map((item) => groupOf(item, grouping.groups))).size > 1)
  const bundles = new Map<string, ItemKey[]>()
  for (const item of items) {
    const place = bound.findIndex((set) => set.includes(item))
    const name = place >= 0 ? `together ${place}` : groupOf(item, grouping.groups)
    bundles.set(name, [...(bundles.get(name) ?? []), item])
  }
  return [...bundles].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => members.toSorted())
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

/** The group of an item (specification, "POST /domain/config", rule 8). An item that a list of lists leaves out is alone. */
export function groupOf(item: ItemKey, groups: Grouping['groups']): string {
  if (groups === 'all') return 'all'
  if (groups === 'documented') return catalogue.get(item)?.group ?? item
  const index = groups.findIndex((group) => group.includes(item))
  return index >= 0 ? `group ${index}` : item
}
