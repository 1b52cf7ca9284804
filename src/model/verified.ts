import type { Domain, ItemKey } from './item.ts'

/** What was read back of the confirmed items of an apply. */
export interface Verified {
  /** Items that the service has as they were sent. */
  same: number
  /** Items that it has otherwise, or does not have. */
  differs: { domain: Domain; item: ItemKey }[]
  /** Items that it did not return, or that can't be compared. */
  unknown: number
  /** Why nothing could be read; null if it was. */
  failure: string | null
}
