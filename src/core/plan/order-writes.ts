import { isDelete, type Form } from '../model/change.ts'
import { compare, groupBy, groupByEach } from '../model/lists.ts'
import type { Domain, ItemKey } from '../model/item.ts'

/** A write without a place in the plan. */
export interface UnorderedWrite {
  domains: Domain[]
  items: Record<ItemKey, Form>
}

/**
 * Orders writes: those with a domain that goes first, then the others. Writes that share domains
 * are close together, so that a domain is in a mixed state as briefly as possible: the next write
 * is the one with most domains that have had a write already, else the next by name. A DELETE comes
 * directly before the first other write of one of its domains. The input order does not matter.
 */
export function orderWrites(
  writes: UnorderedWrite[],
  isFirst: (domain: Domain) => boolean,
): UnorderedWrite[] {
  const sorted = writes
    .map((write) => ({ write, key: buildSortKey(write) }))
    .toSorted((a, b) => compare(a.key, b.key))
    .map(({ write }) => write)
  const byKind = groupBy(sorted, isDelete)
  const posts = byKind.get(false) ?? []
  const first = posts.filter((write) => write.domains.some(isFirst))
  const others = posts.filter((write) => !write.domains.some(isFirst))
  const deletes = new Set(byKind.get(true))
  if (deletes.size === 0) return [...placeClose(first), ...placeClose(others)]
  return [
    ...placeDeletes(placeClose(first), deletes),
    ...placeRest(deletes, (write) => write.domains.some(isFirst)),
    ...placeDeletes(placeClose(others), deletes),
    ...placeRest(deletes, () => true),
  ]
}

/** Places each DELETE of a domain before the other writes of it, and takes it out of `deletes`. */
function placeDeletes(posts: UnorderedWrite[], deletes: Set<UnorderedWrite>): UnorderedWrite[] {
  const byDomain = groupByEach(deletes, (write) => write.domains)
  return posts.flatMap((post) => {
    const own = new Set(post.domains.flatMap((domain) => byDomain.get(domain) ?? []))
    return [...placeRest(deletes, (write) => own.has(write)), post]
  })
}

/** Takes the chosen ones out of `deletes`, and places them close to each other. */
function placeRest(
  deletes: Set<UnorderedWrite>,
  isChosen: (write: UnorderedWrite) => boolean,
): UnorderedWrite[] {
  const chosen = [...deletes].filter(isChosen)
  for (const write of chosen) deletes.delete(write)
  return placeClose(chosen)
}

function placeClose(writes: UnorderedWrite[]): UnorderedWrite[] {
  const writesByDomain = groupByEach(writes.keys(), (i) => writes[i]?.domains ?? [])
  const placed: UnorderedWrite[] = []
  const remaining = new Set(writes.keys())
  /** Write → number of times that its domains occur in the placed writes. */
  const overlap = new Map<number, number>()
  while (remaining.size > 0) {
    const next = findNext(overlap) ?? remaining.values().next().value ?? 0
    remaining.delete(next)
    overlap.delete(next)
    const write = writes[next]
    if (write === undefined) continue
    placed.push(write)
    for (const domain of write.domains) {
      for (const other of writesByDomain.get(domain) ?? [])
        if (remaining.has(other)) overlap.set(other, (overlap.get(other) ?? 0) + 1)
    }
  }
  return placed
}

function findNext(overlap: ReadonlyMap<number, number>): number | undefined {
  let best: number | undefined
  for (const [i, count] of overlap) {
    const max = best === undefined ? 0 : (overlap.get(best) ?? 0)
    if (count > max || (count === max && best !== undefined && i < best)) best = i
  }
  return best
}

function buildSortKey({ domains, items }: UnorderedWrite): string {
  return `${domains.join(' ')}\n${Object.keys(items).join(' ')}`
}
