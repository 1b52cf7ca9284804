import type { Drift } from '../../core/model/drift.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { Instruments } from './instruments.ts'
import { addItems, ages } from './items.ts'

/** Creates the metrics of the recorded state, and of what differs from it. */
export function createStateMetrics({ gauge, histogram, unknown }: Instruments) {
  const changes = gauge('plan_changes', 'Changes of the current plan.', ['action'])
  const planned = unknown('plan_writes', 'Writes of the current plan.')
  const drifts = gauge('drift_items', 'Items that differ.', ['kind', 'confidence'])
  const help = 'Ages of the confirmations of recorded items.'
  const age = histogram(ages, 'confirmation_age_seconds', help)
  const items = gauge('items', 'Recorded items by status.', ['status'])
  const oldest = unknown('confirmation_age_oldest_seconds', 'Age of the oldest confirmation.')
  return {
    setPlan(plan: Pick<Plan, 'changes' | 'writes'>): void {
      changes.reset()
      for (const action of ['set', 'change', 'unset', 'release']) changes.labels(action).set(0)
      for (const { action } of plan.changes) changes.labels(action).inc()
      planned.set(plan.writes.length)
    },
    setDrift(drift: Pick<Drift, 'items'>): void {
      drifts.reset()
      for (const { kinds, confidence } of drift.items)
        for (const kind of kinds) drifts.labels(kind, confidence).inc()
    },
    /** Replaces the ages of confirmations; `now` in seconds since 1970. */
    setConfirmations(recorded: RecordedState, now: number): void {
      age.reset()
      items.reset()
      const seconds = addItems(recorded, now, age, items)
      if (seconds === null) oldest.remove()
      else oldest.set(seconds)
    },
  }
}
