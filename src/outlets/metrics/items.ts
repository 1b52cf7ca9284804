import type { Counter, Gauge } from 'prom-client'
import type { Change } from '../../core/model/change.ts'
import type { OutcomeCounts } from '../../core/model/outcome.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { Instruments } from './instruments.ts'

/** Upper limits of the ages of confirmations, seconds: an hour, a day, a week, 30 and 90 days. */
const ages = [3600, 86_400, 604_800, 2_592_000, 7_776_000]

/** Names the counts of outcomes as labels. The rest of an open rollout may still be sent. */
export function toLabels({ confirmed, refused, inDoubt, notSent }: OutcomeCounts, isOpen = false) {
  return { confirmed, refused, 'in-doubt': inDoubt, 'not-sent': isOpen ? 0 : notSent }
}

/** Adds counts to a metric, each under the label that it has. */
export function addCounts(metric: Counter | Gauge, counts: Record<string, number>): void {
  for (const [label, count] of Object.entries(counts)) metric.labels(label).inc(count)
}

/** Counts changes by action; an action without any has a zero. */
export function addActions(metric: Gauge, changes: Pick<Change, 'action'>[]): void {
  addCounts(metric, { set: 0, change: 0, unset: 0, release: 0 })
  for (const { action } of changes) metric.labels(action).inc()
}

/** Metrics of recorded items: the ages of their confirmations, and their number by status. */
export type ItemMetrics = ReturnType<typeof createItemMetrics>

export function createItemMetrics({ gauge, histogram }: Instruments) {
  const help = 'Ages of the confirmations of recorded items.'
  return {
    age: histogram(ages, 'confirmation_age_seconds', help),
    items: gauge('items', 'Recorded items by status.', ['status']),
  }
}

/**
 * Adds recorded items. Returns the largest age, seconds, null without a confirmed item; `now` in
 * seconds since 1970.
 */
export function addItems(
  recorded: RecordedState,
  now: number,
  { age, items }: ItemMetrics,
): number | null {
  addCounts(items, { confirmed: 0, 'in-doubt': 0, unset: 0 })
  let oldest: number | null = null
  for (const recordedItems of recorded.values())
    for (const { status, at } of recordedItems.values()) {
      items.labels(status).inc()
      if (status !== 'confirmed') continue
      const seconds = Math.max(0, now - Date.parse(at) / 1000)
      oldest = Math.max(oldest ?? 0, seconds)
      age.observe(seconds)
    }
  return oldest
}
