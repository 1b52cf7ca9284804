import type { Change, PatchOperation } from './change.ts'
import type { Stay } from './plan.ts'
import type { Domain, FieldName, ItemState, ItemKey } from './item.ts'

/**
 * Reason why an observed value cannot be used. Quotes no part of the value if the item may hold a
 * secret.
 */
export interface Unreadable {
  /** JSON pointer within the observed value; empty for the whole value. */
  pointer: string
  /** Problem at the pointer, as a clause. */
  reason: string
}

/** Observed state of one item at the service. */
export interface ObservedItem {
  /** Unknown if the value is unreadable. */
  state: ItemState
  /** JSON pointers of fields that could not be compared; they count as recorded. */
  notVerifiable: string[]
  /** Present if the catalogue refuses the observed value, or no state follows from it. */
  unreadable?: Unreadable
  /** References of its secrets that could not be compared, since their values are unavailable. */
  uncompared?: string[]
}

/** domain → item → observed state. Items that are absent were not observed. */
export type Observed = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ObservedItem>>

/**
 * Confidence in the recorded state of an item.
 * - `verified`: the item was observed, and everything the service returned was compared.
 * - `assumed`: it was confirmed once, and was not observed or not compared as a whole.
 * - `in-doubt`: its state at the service is uncertain, or none is recorded. Includes items whose
 *   observed value is unreadable: the recorded value is not what was observed.
 */
export type Confidence = 'verified' | 'assumed' | 'in-doubt'

/** One managed item: how its desired, recorded and observed values differ. */
export interface DriftItem {
  domain: Domain
  item: ItemKey
  /**
   * `pending`: desired differs from recorded. `waiting`: so it does, and a later wave sends it,
   * which is no drift. `live`: observed differs from recorded.
   */
  kinds: ('pending' | 'waiting' | 'live')[]
  confidence: Confidence
  /** Time of its last outcome or import, ISO 8601; null if nothing is recorded. */
  recordedAt: string | null
  pending: PatchOperation[]
  /** Empty if the observed value is unreadable: no patch leads to an unknown value. */
  live: PatchOperation[]
  notVerifiable: string[]
  /** Present if the item was observed and its value cannot be read or compared. */
  unreadable?: Unreadable
  /**
   * Whether its domain is on hold: its rollout was stopped, and the desired state is not applied.
   */
  held: boolean
  /** Since when, by which rollout and why; absent if it is not on hold. */
  hold?: string
  /** Reasons why a difference at the service, or a part of it, is ignored. */
  ignored?: string
  /** Time of the drift check that found the difference first, ISO 8601; absent if unknown. */
  since?: string
}

/** Tests whether an item differs or is in-doubt, and does not only wait for its wave. */
export function isDrifted({ kinds, confidence }: DriftItem): boolean {
  const isUncertain = kinds.length === 0 && confidence === 'in-doubt'
  return isUncertain || kinds.some((kind) => kind !== 'waiting')
}

/** Differences between the desired, recorded and observed state. */
export interface Drift {
  /** Every managed item, sorted by domain, then by item. */
  items: DriftItem[]
  /** Changes from recorded to desired, also waiting ones; without items in-doubt or on hold. */
  pending: Change[]
  /** Changes from recorded to observed, without unreadable items. */
  live: Change[]
  /** Items that an apply left in-doubt. */
  inDoubt: { domain: Domain; item: ItemKey; recordedAt: string }[]
  /** As in `Plan`. */
  stays?: Stay[]
  /** Domains that were read and that the service does not have; absent for none. */
  unanswered?: Domain[]
  /** Whether anything was observed. */
  isObserved?: boolean
  /** Number of domains that were to be observed, and were not yet; absent for none. */
  unread?: number
}

/** Comparison of the confirmed items of an apply with those that were read back. */
export interface Verified {
  /** Items that the service has as they were sent. */
  same: number
  /**
   * Items that agree in all that the service shows, by their fields that it does not show: the
   * number of domains with such an item.
   */
  notVerifiable: { item: ItemKey; fields: FieldName[]; domains: number }[]
  /** Items that the service stores differently, or does not have. */
  differs: { domain: Domain; item: ItemKey }[]
  /** Items that it did not return, or that can't be compared. */
  unknown: number
  /** Why nothing could be read; null if it was. */
  failure: string | null
}
