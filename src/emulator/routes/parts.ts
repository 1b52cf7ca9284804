import type { SettableClock } from '../store/clock.ts'
import type { FaultPlan } from '../store/fault-plan.ts'
import type { Store } from '../store/store.ts'

/** What the service is made of: what it remembers, its clock, and what is to go wrong. */
export interface Parts {
  store: Store
  clock: SettableClock
  faults: FaultPlan
}
