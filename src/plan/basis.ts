import { createHash } from 'node:crypto'
import { canonicalizeJson } from '../model/canonical-json.ts'
import type { Domain, ItemState, ItemKey, Snapshot } from '../model/item.ts'
import type { Json } from '../model/json.ts'

/**
 * One hash for each of these domains of what a snapshot holds of it; nothing recorded has a hash as
 * well.
 */
export function hashDomains(snapshot: Snapshot, domains: Iterable<Domain>): Record<Domain, string> {
  return Object.fromEntries(
    [...domains].map((domain) => {
      const items = [...(snapshot.get(domain) ?? new Map<ItemKey, ItemState>())].map(
        ([item, held]) => [item, plainHeld(held)],
      )
      return [
        domain,
        `sha256:${createHash('sha256')
          .update(canonicalizeJson(Object.fromEntries(items)))
          .digest('hex')}`,
      ]
    }),
  )
}

/** What an item holds, without when and by whom it was recorded. */
function plainHeld(held: ItemState): Json {
  const { status, candidates, unknown = false, returned = null } = held
  return { status, candidates, unknown, returned }
}
