import type { SettableClock } from '../store/clock.ts'
import type { FaultPlan } from '../store/fault-plan.ts'
import type { Store } from '../store/store.ts'

/** Parts of the service: its data, its clock and its faults. */
export interface Parts {
  store: Store
  clock: SettableClock
  faults: FaultPlan
}
