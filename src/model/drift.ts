import type { Change, PatchOperation } from './change.ts'
import type { Domain, Held, ItemKey } from './item.ts'

/** What was seen of one item at the service. */
export interface ObservedItem {
  held: Held
  /** JSON pointers of fields that the look at the service did not show; they count as recorded. */
  notVerified: string[]
}

/** domain → item → what was seen. An item that is not in it was not observed. */
export type Observed = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ObservedItem>>

/**
 * How far the record of an item can be relied on.
 * - `verified`: the item was observed.
 * - `assumed`: it was confirmed once, and was not observed.
 * - `in-doubt`: what the service holds is not certain, or nothing is recorded of it.
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
  live: PatchOperation[]
  notVerified: string[]
  /** What is desired of its domain is held after a rollout that was stopped, and not applied. */
  held: boolean
}

/** Where desired, recorded and observed configuration part. */
export interface Drift {
  /** Every managed item, sorted by domain, then by item. */
  items: DriftItem[]
  /** What leads from recorded to desired, without what is in doubt in the record, and without what is held. */
  pending: Change[]
  /** What leads from recorded to observed. */
  live: Change[]
  /** Items that an apply left without a certain outcome. */
  inDoubt: { domain: Domain; item: ItemKey; recordedAt: string }[]
}
