import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import type { Write } from '../model/change.ts'
import type { ItemKey } from '../model/item.ts'
import type { RecordedState, RecordedItem } from '../state/store.ts'
import type { Moment } from './run.ts'

const mostSkew = 300_000

/** Facts about an apply that limit the late effects of earlier writes. */
interface Since {
  apply: string
  /** Instant of acquiring the lock: other processes had abandoned their writes by then. */
  lockedAt: Moment
  settleMs: number
}

/**
 * Computes the wait until no earlier call can take effect on the items of a write, ms. An abandoned
 * call may take effect for `settleMs` more. The time that another apply recorded counts if it is
 * more than five minutes before the lock was acquired; otherwise its clock may be wrong, and the
 * time of acquiring the lock counts.
 */
export function computeSettleWait(
  write: Write,
  recorded: RecordedState,
  now: number,
  { apply, lockedAt: { at: lockedAt }, settleMs }: Since,
): number {
  const items = relatedTo(Object.keys(write.items))
  const ends = write.domains.flatMap((domain) =>
    [...(recorded.get(domain) ?? new Map<ItemKey, RecordedItem>())].flatMap(([item, held]) => {
      // An item that was only observed is in-doubt without a call that could take effect.
      const written = held.status === 'in-doubt' && held.origin === 'write'
      if (!written || !items.has(item)) return []
      const given = Date.parse(held.at)
      const known = held.apply === apply || (held.open !== true && given < lockedAt - mostSkew)
      return [Math.min(now, known ? given : lockedAt) + settleMs]
    }),
  )
  return Math.max(0, ...ends.map((end) => end - now))
}

/** Returns the items, the items that they clear, and the items that clear them. */
function relatedTo(items: ItemKey[]): Set<ItemKey> {
  const related = new Set(items)
  for (const item of items)
    for (const cleared of getItemSpec(item).clearedItems) related.add(cleared)
  for (const spec of catalogue.values())
    if (spec.clearedItems.some((cleared) => items.includes(cleared))) related.add(spec.key)
  return related
}
