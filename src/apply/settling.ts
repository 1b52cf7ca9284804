import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import type { Write } from '../model/change.ts'
import type { ItemKey } from '../model/item.ts'
import type { RecordedState, RecordedItem } from '../state/store.ts'
import type { Moment } from './run.ts'

const mostSkew = 300_000

/** What has to be known of an apply to tell how long earlier writes may still land. */
interface Since {
  apply: string
  /** When the lock was taken: writes of other processes had been given up by then. */
  lockedAt: Moment
  settleMs: number
}

/**
 * How long until nothing that was sent earlier can land on what a write is about, ms. A write that
 * was given up may land for `settleMs` more. When another apply gave up is known if it says so and
 * its clock can't be the reason: what it tells of the last five minutes, or of the future, counts
 * as of the moment the lock was taken.
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
      // What was only looked at is in doubt without a write that could land.
      const written = held.status === 'in-doubt' && held.origin === 'write'
      if (!written || !items.has(item)) return []
      const given = Date.parse(held.at)
      const known = held.apply === apply || (held.open !== true && given < lockedAt - mostSkew)
      return [Math.min(now, known ? given : lockedAt) + settleMs]
    }),
  )
  return Math.max(0, ...ends.map((end) => end - now))
}

/** The items themselves, those that they empty, and those that would empty them. */
function relatedTo(items: ItemKey[]): Set<ItemKey> {
  const related = new Set(items)
  for (const item of items)
    for (const cleared of getItemSpec(item).clearedItems) related.add(cleared)
  for (const spec of catalogue.values())
    if (spec.clearedItems.some((cleared) => items.includes(cleared))) related.add(spec.key)
  return related
}
