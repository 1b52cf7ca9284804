import { catalogue, itemSpec } from '../catalog/catalogue.ts'
import type { Write } from '../model/change.ts'
import type { ItemKey } from '../model/item.ts'
import type { Recorded, RecordedItem } from '../state/record.ts'

/**
 * How long until nothing that was sent earlier can land on what a write is about, ms. A write that was given up may land
 * for `settleMs` more; of one that nobody gave up any more, since its process died, the end is the latest that it could
 * have been given up. A time from the future counts as now.
 */
export function settlesIn(write: Write, recorded: Recorded, now: number, settleMs: number): number {
  const items = relatedTo(Object.keys(write.items))
  const ends = write.domains.flatMap((domain) =>
    [...(recorded.get(domain) ?? new Map<ItemKey, RecordedItem>())].flatMap(([item, held]) =>
      held.status === 'in-doubt' && items.has(item) ? [Math.min(now, Date.parse(held.until ?? held.at)) + settleMs] : [],
    ),
  )
  return Math.max(0, ...ends.map((end) => end - now))
}

/** The items themselves, those that they empty, and those that would empty them. */
function relatedTo(items: ItemKey[]): Set<ItemKey> {
  const related = new Set(items)
  for (const item of items) for (const cleared of itemSpec(item).clears) related.add(cleared)
  for (const spec of catalogue.values()) if (spec.clears.some((cleared) => items.includes(cleared))) related.add(spec.key)
  return related
}
