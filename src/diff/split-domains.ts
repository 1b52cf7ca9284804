import type { Domain } from '../model/item.ts'

/** Splits a snapshot into the domains of a set and the others, without changing it. */
export function splitDomains<Items>(
  snapshot: ReadonlyMap<Domain, Items>,
  domains: { has(domain: Domain): boolean },
): { chosen: Map<Domain, Items>; others: Map<Domain, Items> } {
  const [chosen, others] = [new Map<Domain, Items>(), new Map<Domain, Items>()]
  for (const [domain, items] of snapshot) (domains.has(domain) ? chosen : others).set(domain, items)
  return { chosen, others }
}
