import type { Json } from './json.ts'

/**
 * Name of a configuration item in manifests, plans and state, e.g. `https`. Its wire name may
 * differ.
 */
export type ItemKey = string
/** Name of an accelerated domain, lower case. */
export type Domain = string
/** Name of a field of an item that is an object. */
export type FieldName = string
/**
 * A value in canonical form: equal values are equal byte for byte. Secrets appear as `{$secret}`.
 */
export type Value = Json
/** The payload under `config.<item>` of a write. */
export type Wire = Json

/**
 * State of one item of one domain, in any snapshot.
 * - `confirmed`: exactly one candidate, the value.
 * - `unset`: unset in the documented form; at most one candidate, the value that the service has
 *   afterwards.
 * - `in-doubt`: every value it may have; `unknown` if that list cannot be complete.
 */
export interface ItemState {
  status: 'confirmed' | 'in-doubt' | 'unset'
  candidates: Value[]
  /** In-doubt, and its value may also be one that was never recorded, or none. */
  unknown?: boolean
  /** The value that the service returned for a write, if it differs from the value sent. */
  returned?: Value
  /**
   * Sources of its secrets, by fingerprint: a name, or a template such as `Bearer ${secret:token}`.
   */
  templates?: Record<string, string>
}

/** Reported state of one item at a service, in canonical form and without secrets. */
export interface ImportedItem {
  domain: Domain
  item: ItemKey
  value: Value
}

/**
 * domain → item → state. Desired, recorded and observed state are three snapshots of this shape.
 */
export type Snapshot = Map<Domain, Map<ItemKey, ItemState>>

/** State of an item that is not recorded: the service may have any value. */
export const unrecordedState: ItemState = { status: 'in-doubt', candidates: [], unknown: true }

/** Creates the state of a confirmed value. */
export function createConfirmedState(value: Value): ItemState {
  return { status: 'confirmed', candidates: [value] }
}
