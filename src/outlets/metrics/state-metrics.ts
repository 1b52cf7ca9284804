import type { Drift } from '../../core/model/drift.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { Instruments } from './instruments.ts'
import { addActions, addItems, createItemMetrics } from './items.ts'

/** Creates the metrics of the recorded state, and of what differs from it. */
export function createStateMetrics(instruments: Instruments) {
  const { gauge, unknown } = instruments
  const changes = gauge('plan_changes', 'Changes of the current plan.', ['action'])
  const planned = unknown('plan_writes', 'Writes of the current plan.')
  const drifts = gauge('drift_items', 'Items that differ.', ['kind', 'confidence'])
  const items = createItemMetrics(instruments)
  const oldest = unknown('confirmation_age_oldest_seconds', 'Age of the oldest confirmation.')
  return {
    setPlan(plan: Pick<Plan, 'changes' | 'writes'>): void {
      changes.reset()
      addActions(changes, plan.changes)
      planned.set(plan.writes.length)
    },
    setDrift(drift: Pick<Drift, 'items'>): void {
      drifts.reset()
      for (const { kinds, confidence } of drift.items)
        for (const kind of kinds) drifts.labels(kind, confidence).inc()
    },
    /** Replaces the ages of confirmations; `now` in seconds since 1970. */
    setConfirmations(recorded: RecordedState, now: number): void {
      items.age.reset()
      items.items.reset()
      const seconds = addItems(recorded, now, items)
      if (seconds === null) oldest.remove()
      else oldest.set(seconds)
    },
  }
}
