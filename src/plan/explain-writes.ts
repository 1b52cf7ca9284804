import { canonicalizeJson } from '../model/canonical-json.ts'
import type { Form, Write } from '../model/change.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Explanation } from '../model/plan.ts'
import { buildBundles } from './groups.ts'
import type { WriteProblem } from './group-writes.ts'
import type { Need } from './needs.ts'

type Asked = Pick<WriteProblem, 'needs' | 'grouping' | 'domainsPerWrite'>

/**
 * Why each write is as it is, and what the obvious ways to group the same changes would have cost.
 */
export function explainWrites(asked: Asked, writes: Write[]): Explanation {
  const writesOf = new Map<Domain, Write[]>()
  for (const write of writes)
    for (const domain of write.domains)
      writesOf.set(domain, [...(writesOf.get(domain) ?? []), write])
  const takers = new Map<string, Write[]>()
  for (const write of writes)
    for (const [item, form] of Object.entries(write.items)) push(takers, keyOf(item, form), write)
  return {
    ...countObviousWrites(asked),
    writes: writes.map((write) => ({
      id: write.id,
      reason: reasonOf(write, writesOf, takers, asked.domainsPerWrite),
    })),
  }
}

/**
 * How many calls the same changes take one by one, with domains that change alike together, and one
 * item at a time.
 */
export function countObviousWrites({
  needs,
  grouping,
  domainsPerWrite,
}: Asked): Pick<Explanation, 'single' | 'equalPatches' | 'itemByItem'> {
  const patches = new Map<string, number>()
  const items = new Map<string, number>()
  let single = 0
  for (const [, own] of groupBy(needs, (need) => need.domain)) {
    const byItem = new Map(own.map((need): [ItemKey, Need] => [need.item, need]))
    const bundles = buildBundles([...byItem.keys()], grouping)
    const keys = bundles.map(({ items: names, group }) => ({
      group,
      key: names.map((name) => keyOf(name, byItem.get(name)?.whole)).join('\n'),
    }))
    single += keys.length
    for (const { key } of keys) count(items, key)
    for (const [group, same] of groupBy(keys, (each) => each.group))
      count(patches, `${group}\n${same.map((each) => each.key).join('\n')}`)
  }
  const calls = (counts: Map<string, number>): number =>
    [...counts.values()].reduce((sum, n) => sum + Math.ceil(n / domainsPerWrite), 0)
  return { single, equalPatches: calls(patches), itemByItem: calls(items) }
}

function reasonOf(
  write: Write,
  writesOf: Map<Domain, Write[]>,
  takers: Map<string, Write[]>,
  domainsPerWrite: number,
): string {
  const others = new Set(
    write.domains.flatMap((domain) => writesOf.get(domain) ?? []).map((other) => other.id),
  )
  others.delete(write.id)
  const part =
    others.size === 0
      ? 'all that its domains need'
      : `the rest of its domains' changes goes in ${numbers([...others])}`
  if (write.domains.length >= domainsPerWrite) return `full; ${part}`
  const alike = Object.entries(write.items).map(([item, form]) =>
    (takers.get(keyOf(item, form)) ?? []).filter((other) => other.id !== write.id),
  )
  const shared = alike.flat().map((other) => other.id)
  const room =
    shared.length === 0
      ? 'no other domain takes these values'
      : `other domains get these values in ${numbers([...new Set(shared)])}`
  return `${room}; ${part}`
}

function numbers(ids: number[]): string {
  const sorted = ids.toSorted((a, b) => a - b)
  const shown = sorted.slice(0, 5).join(', ')
  const rest = sorted.length - 5
  return `${sorted.length === 1 ? 'write' : 'writes'} ${shown}${rest > 0 ? ` and ${rest} more` : ''}`
}

function keyOf(item: ItemKey, form: Form | undefined): string {
  return `${item} ${canonicalizeJson((form ?? null) as unknown as Json)}`
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function push(lists: Map<string, Write[]>, key: string, write: Write): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [write])
  else list.push(write)
}
