import { canonicalizeJson } from '../model/canonical-json.ts'
import type { Form, Write } from '../model/change.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { UnorderedWrite } from './order-writes.ts'

/** Writes that send the same items, as one; it may have more domains than a write can have. */
export interface JoinedWrite {
  items: Record<ItemKey, Form>
  domains: Domain[]
}

/** Joins the writes with equal items: each of them could have the domains of the others. */
export function joinEqualWrites(writes: Write[]): JoinedWrite[] {
  const equal = groupBy(writes, ({ items }) => canonicalizeJson(items as unknown as Json))
  return [...equal.values()].map((own) => ({
    items: own[0]?.items ?? {},
    domains: [...new Set(own.flatMap(({ domains }) => domains))].toSorted(),
  }))
}

/** Builds the writes of some domains, each with at most `width` domains. */
export function cutJoinedWrites(
  joined: JoinedWrite[],
  isIn: (domain: Domain) => boolean,
  width: number,
): UnorderedWrite[] {
  return joined.flatMap(({ items, domains }) => {
    const own = domains.filter(isIn)
    return Array.from({ length: Math.ceil(own.length / width) }, (_, i) => ({
      items,
      domains: own.slice(i * width, (i + 1) * width),
    }))
  })
}
