import type { Form } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'

/** A write that has no place in the plan yet. */
export interface UnorderedWrite {
  domains: Domain[]
  items: Record<ItemKey, Form>
}

/**
 * Puts writes in order: those with a domain that goes first before all others, and writes that
 * share domains close together, so that a domain is between two states for as short as possible.
 * Each time the write comes next that finishes most of the domains that were begun; what shares
 * nothing comes by name. The order in which the writes were given does not matter.
 */
export function orderWrites(
  writes: UnorderedWrite[],
  isFirst: (domain: Domain) => boolean,
): UnorderedWrite[] {
  const sorted = writes
    .map((write) => ({ write, key: keyOf(write) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ write }) => write)
  const first = sorted.filter((write) => write.domains.some(isFirst))
  const others = sorted.filter((write) => !write.domains.some(isFirst))
  return [...closeTogether(first), ...closeTogether(others)]
}

function closeTogether(writes: UnorderedWrite[]): UnorderedWrite[] {
  const writesOf = new Map<Domain, number[]>()
  for (const [i, { domains }] of writes.entries()) {
    for (const domain of domains) {
      const known = writesOf.get(domain)
      if (known === undefined) writesOf.set(domain, [i])
      else known.push(i)
    }
  }
  const placed: UnorderedWrite[] = []
  const waiting = new Set(writes.keys())
  /** Writes with domains that were begun, and how many those are. */
  const begun = new Map<number, number>()
  while (waiting.size > 0) {
    const next = mostBegun(begun) ?? waiting.values().next().value ?? 0
    waiting.delete(next)
    begun.delete(next)
    const write = writes[next]
    if (write === undefined) continue
    placed.push(write)
    for (const domain of write.domains) {
      for (const other of writesOf.get(domain) ?? [])
        if (waiting.has(other)) begun.set(other, (begun.get(other) ?? 0) + 1)
    }
  }
  return placed
}

function mostBegun(begun: ReadonlyMap<number, number>): number | undefined {
  let best: number | undefined
  for (const [i, count] of begun) {
    const most = best === undefined ? 0 : (begun.get(best) ?? 0)
    if (count > most || (count === most && best !== undefined && i < best)) best = i
  }
  return best
}

function keyOf({ domains, items }: UnorderedWrite): string {
  return `${domains.join(' ')}\n${Object.keys(items).join(' ')}`
}
