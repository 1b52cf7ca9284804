import type { Domain, ItemKey, Value } from '../../model/item.ts'

/** What the service holds of one domain. */
export interface DomainRecord {
  /** Given at first sight, the same ever after. */
  id: string
  items: ReadonlyMap<ItemKey, Value>
}

/** Every domain that was ever written. */
export type DomainRecords = Map<Domain, DomainRecord>
