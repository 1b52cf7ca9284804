import type { Json } from './json.ts'

/**
 * Name of a configuration item in manifests, plans and records, e.g. `https`. The wire may call it
 * otherwise.
 */
export type ItemKey = string
/** Name of an accelerated domain, lower case. */
export type Domain = string
/** Name of a field of an item that is an object. */
export type FieldName = string
/**
 * A value in canonical form: equal values are equal byte for byte. Secrets stand in it as
 * `{$secret}`.
 */
export type Value = Json
/** What stands under `config.<item>` in a write. */
export type Wire = Json

/**
 * What one item of one domain holds, in any snapshot.
 * - `confirmed`: exactly one candidate, the value.
 * - `unset`: the documented way back was asked for; at most one candidate, what the service holds
 * after it.
 * - `in-doubt`: every value it may hold; `unknown` when that list can't be complete.
 */
export interface ItemState {
  status: 'confirmed' | 'in-doubt' | 'unset'
  candidates: Value[]
  /** In doubt, and it may also hold something that was never recorded, or nothing. */
  unknown?: boolean
  /** The service answered a write with another value than was sent; what it answered. */
  returned?: Value
  /**
   * What its secrets were made from, by fingerprint: a name, or a template such as `Bearer
   * ${secret:token}`.
   */
  templates?: Record<string, string>
}

/** What a service is said to hold of one item, in canonical form and without secrets. */
export interface ImportedItem {
  domain: Domain
  item: ItemKey
  value: Value
}

/**
 * domain → item → what it holds. Desired, recorded and observed are three snapshots of this shape.
 */
export type Snapshot = Map<Domain, Map<ItemKey, ItemState>>

/** The state of an item that is not recorded: anything may be there. */
export const unrecordedState: ItemState = { status: 'in-doubt', candidates: [], unknown: true }

/** A confirmed value. */
export function createConfirmedState(value: Value): ItemState {
  return { status: 'confirmed', candidates: [value] }
}
