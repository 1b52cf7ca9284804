import type { Domain, ItemKey, Value } from '../../model/item.ts'
import type { Behaviour } from './behaviour.ts'
import type { Timeline } from './timeline.ts'

/** What the service holds of one domain. */
export interface EmulatedDomain {
  /** Given at first sight, the same ever after. */
  id: string
  items: ReadonlyMap<ItemKey, Value>
  /** What its configurations did to its requests, from when on. */
  behaviour: Timeline<Behaviour>
}

/** Every domain that was ever written. */
export type EmulatedDomains = Map<Domain, EmulatedDomain>
