import type { Domain, ItemKey, ItemState, Snapshot } from '../model/item.ts'

/** Items of domains. */
export type ItemSet = ReadonlyMap<Domain, { has(item: ItemKey): boolean }>

/** Splits a snapshot into the items of a set and the others, without changing it. */
export function splitItems(
  snapshot: Snapshot,
  set: ItemSet,
): { chosen: Snapshot; others: Snapshot } {
  const [chosen, others]: [Snapshot, Snapshot] = [new Map(), new Map()]
  for (const [domain, items] of snapshot) {
    const own = set.get(domain)
    if (own === undefined) {
      others.set(domain, items)
      continue
    }
    const parts = { chosen: new Map<ItemKey, ItemState>(), others: new Map<ItemKey, ItemState>() }
    for (const [item, state] of items) parts[own.has(item) ? 'chosen' : 'others'].set(item, state)
    if (parts.chosen.size > 0) chosen.set(domain, parts.chosen)
    if (parts.others.size > 0) others.set(domain, parts.others)
  }
  return { chosen, others }
}
