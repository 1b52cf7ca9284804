import type { Change, PatchOperation } from './change.ts'
import type { Domain, ItemState, ItemKey } from './item.ts'

/**
 * Reason why an observed value can't be used. It repeats no part of the value where the item may
 * hold a secret.
 */
export interface Unreadable {
  /** Where in the observed value, as a JSON pointer; empty for the whole value. */
  pointer: string
  /** What is wrong there, in a clause. */
  reason: string
}

/** What was seen of one item at the service. */
export interface ObservedItem {
  /** Unknown where the value is unreadable. */
  state: ItemState
  /** JSON pointers of fields that could not be compared; they count as recorded. */
  notVerified: string[]
  /** Present where the catalogue refuses the observed value, or the value tells no state. */
  unreadable?: Unreadable
  /** References of its secrets that could not be compared, since their values are not at hand. */
  uncompared?: string[]
}

/** domain → item → what was seen. An item that is not in it was not observed. */
export type Observed = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ObservedItem>>

/**
 * How far the record of an item can be relied on.
 * - `verified`: the item was observed, and all that was shown of it was compared.
 * - `assumed`: it was confirmed once, and was not observed or not compared as a whole.
 * - `in-doubt`: it is not certain what the service holds, or nothing is recorded of it. An item
 *   whose observed value is unreadable belongs here: the recorded value is not what was seen.
 */
export type Confidence = 'verified' | 'assumed' | 'in-doubt'

/** One managed item, and how desired, recorded and observed value part. */
export interface DriftItem {
  domain: Domain
  item: ItemKey
  /** `pending`: desired is not what is recorded. `live`: observed is not what is recorded. */
  kinds: ('pending' | 'live')[]
  confidence: Confidence
  /** When its last outcome or import was recorded, ISO 8601; null where nothing is. */
  recordedAt: string | null
  pending: PatchOperation[]
  /** Empty where the observed value is unreadable: no patch leads to what is not known. */
  live: PatchOperation[]
  notVerified: string[]
  /** Present where the item was observed and the value can't be read or compared. */
  unreadable?: Unreadable
  /** What is desired of its domain is held after a rollout that was stopped, and not applied. */
  held: boolean
}

/** Where desired, recorded and observed configuration part. */
export interface Drift {
  /** Every managed item, sorted by domain, then by item. */
  items: DriftItem[]
  /**
   * What leads from recorded to desired, without what is in doubt in the record, and without what
   * is held.
   */
  pending: Change[]
  /** Changes from recorded to observed, without unreadable items. */
  live: Change[]
  /** Items that an apply left without a certain outcome. */
  inDoubt: { domain: Domain; item: ItemKey; recordedAt: string }[]
}
