import type { Gauge, Histogram } from 'prom-client'
import type { OutcomeCounts } from '../../core/model/outcome.ts'
import type { RecordedState } from '../../state/store/store.ts'

/** Upper limits of the ages of confirmations, seconds: an hour, a day, a week, 30 and 90 days. */
export const ages = [3600, 86_400, 604_800, 2_592_000, 7_776_000]

/** Names the counts of outcomes as labels. The rest of an open rollout may still be sent. */
export function toLabels({ confirmed, refused, inDoubt, notSent }: OutcomeCounts, isOpen = false) {
  return { confirmed, refused, 'in-doubt': inDoubt, 'not-sent': isOpen ? 0 : notSent }
}

/**
 * Adds recorded items to the ages of their confirmations, and to their number by status. Returns
 * the largest age, seconds, null without a confirmed item; `now` in seconds since 1970.
 */
export function addItems(
  recorded: RecordedState,
  now: number,
  age: Histogram,
  items: Gauge,
): number | null {
  const statuses: Record<string, number> = { confirmed: 0, 'in-doubt': 0, unset: 0 }
  let oldest: number | null = null
  for (const recordedItems of recorded.values())
    for (const { status, at } of recordedItems.values()) {
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status !== 'confirmed') continue
      const seconds = Math.max(0, now - Date.parse(at) / 1000)
      oldest = Math.max(oldest ?? 0, seconds)
      age.observe(seconds)
    }
  for (const [status, count] of Object.entries(statuses)) items.labels(status).set(count)
  return oldest
}
