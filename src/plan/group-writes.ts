import { canonicalJson } from '../model/canonical-json.ts'
import type { Form, Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { bundlesOf, type Grouping } from './groups.ts'
import type { Need } from './needs.ts'

/** What the planner is asked: the needs, how items may be grouped, and how many domains a write holds. */
export interface WriteProblem {
  needs: Need[]
  grouping: Grouping
  domainsPerWrite: number
}

/** The planner's answer. Every need is met by one write; writes that share a domain stand close together. */
export interface WriteSolution {
  writes: Write[]
}

/**
 * Groups domains whose whole patch in a bundle of items is equal, so many to a write as the service takes. Deterministic.
 * Of several forms of an item the first counts, the whole value.
 */
export function groupWrites({ needs, grouping, domainsPerWrite }: WriteProblem): WriteSolution {
  const classes = new Map<string, { domains: Domain[]; items: Record<ItemKey, Form> }>()
  for (const [domain, own] of byDomain(needs)) {
    for (const bundle of bundlesOf([...own.keys()], grouping)) {
      const items = Object.fromEntries(bundle.flatMap((item) => firstForm(own.get(item), item)))
      const key = canonicalJson(items as unknown as Parameters<typeof canonicalJson>[0])
      const found = classes.get(key)
      if (found === undefined) classes.set(key, { domains: [domain], items })
      else found.domains.push(domain)
    }
  }
  const writes = [...classes.values()].flatMap(({ domains, items }) =>
    chunks(domains.toSorted(), domainsPerWrite).map((part) => ({ domains: part, items })),
  )
  const ordered = writes.toSorted((a, b) => compare(orderKey(a), orderKey(b)))
  return { writes: ordered.map((write, i) => ({ id: i + 1, wave: 1, ...write })) }
}

function byDomain(needs: Need[]): Map<Domain, Map<ItemKey, Need>> {
  const domains = new Map<Domain, Map<ItemKey, Need>>()
  for (const need of needs) {
    const own = domains.get(need.domain) ?? new Map<ItemKey, Need>()
    own.set(need.item, need)
    domains.set(need.domain, own)
  }
  return domains
}

function firstForm(need: Need | undefined, item: ItemKey): [ItemKey, Form][] {
  const form = need?.forms[0]
  return form === undefined ? [] : [[item, form]]
}

function chunks<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
}

function orderKey(write: { domains: Domain[]; items: Record<ItemKey, Form> }): string {
  return `${write.domains[0] ?? ''} ${Object.keys(write.items).join(' ')}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
