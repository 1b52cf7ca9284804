import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import type { Write } from '../model/change.ts'
import type { ItemKey } from '../model/item.ts'
import type { RecordedState, RecordedItem } from '../state/store.ts'
import type { Moment } from './run.ts'

const maxSkewMs = 300_000

/** Facts about an apply that limit the late effects of earlier writes. */
interface SettleContext {
  apply: string
  /** Instant of acquiring the lock; other processes abandoned their writes before it. */
  lockedAt: Moment
  settleMs: number
}

/**
 * Computes the wait until no earlier call can take effect on the items of a write, ms. An abandoned
 * call may take effect for `settleMs` more. The recorded time of another apply's outcome counts if
 * it is more than five minutes before the lock was acquired. Otherwise its clock may be wrong, and
 * the time of acquiring the lock counts.
 */
export function computeSettleWait(
  write: Write,
  recorded: RecordedState,
  now: number,
  { apply, lockedAt: { atMs: lockedAtMs }, settleMs }: SettleContext,
): number {
  const related = findRelatedItems(Object.keys(write.items))
  const ends = write.domains.flatMap((domain) =>
    [...(recorded.get(domain) ?? new Map<ItemKey, RecordedItem>())].flatMap(([item, state]) => {
      // An item that was only observed is in-doubt without a call that could take effect.
      const written = state.status === 'in-doubt' && state.origin === 'write'
      if (!written || !related.has(item)) return []
      const abandonedAtMs = Date.parse(state.at)
      const isTrusted =
        state.apply === apply || (state.open !== true && abandonedAtMs < lockedAtMs - maxSkewMs)
      return [Math.min(now, isTrusted ? abandonedAtMs : lockedAtMs) + settleMs]
    }),
  )
  return Math.max(0, ...ends.map((end) => end - now))
}

/** Returns the items, the items that they clear, and the items that clear them. */
function findRelatedItems(items: ItemKey[]): Set<ItemKey> {
  const related = new Set(items)
  for (const item of items)
    for (const cleared of getItemSpec(item).clearedItems) related.add(cleared)
  for (const spec of catalogue.values())
    if (spec.clearedItems.some((cleared) => items.includes(cleared))) related.add(spec.key)
  return related
}
