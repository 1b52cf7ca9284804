import type { Domain, ItemKey, Value } from '../../model/item.ts'
import type { Behaviour } from './behaviour.ts'
import type { Timeline } from './timeline.ts'

/** Data of one domain at the service. */
export interface EmulatedDomain {
  /** Assigned at the first write and never changed. */
  id: string
  items: ReadonlyMap<ItemKey, Value>
  /** Behaviour of its configurations over time. */
  behaviour: Timeline<Behaviour>
}

/** Every domain that was ever written. */
export type EmulatedDomains = Map<Domain, EmulatedDomain>
