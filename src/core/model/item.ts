import { isObject, type Json } from './json.ts'

/**
 * Name of a configuration item in manifests, plans and state, e.g. `https`. Its wire name may
 * differ.
 */
export type ItemKey = string
/** Name of an accelerated domain, lower case. */
export type Domain = string
/** Items of domains, such as those of a write or of a part of it. */
export interface Part {
  domains: Domain[]
  items: ItemKey[]
}

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
  /**
   * JSON pointers of hidden fields that nobody has named: a manifest leaves them out, or the
   * service never showed them. The candidate has their defaults, the service may have any value.
   */
  unknownFields?: string[]
  /** Fields that the service keeps if they are left out, that an apply wrote and none gave up. */
  writtenFields?: FieldName[]
  /** A desired value with its sets as the manifest has them; absent if it is the same. */
  ordered?: Value
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
  /** Null if the item is not set, or can't be managed. */
  value: Value
  /** As in `ItemState`; absent for none. */
  unknownFields?: string[]
  /** As in `ItemState`, in the order of what was imported. */
  ordered?: Value
}

/**
 * domain → item → state. Desired, recorded and observed state are three snapshots of this shape.
 */
export type Snapshot = Map<Domain, Map<ItemKey, ItemState>>

/** Sets the value of an item in a map by domain and item; a new domain begins with `others`. */
export function setItem<T>(
  all: Map<Domain, Map<ItemKey, T>>,
  domain: Domain,
  item: ItemKey,
  value: T,
  others?: ReadonlyMap<ItemKey, T>,
): void {
  all.set(domain, (all.get(domain) ?? new Map(others)).set(item, value))
}

/** A value that the service may have; undefined for none, or one that is unknown. */
export type Possible = Value | undefined

/** Lists the values that an item may have at the service. */
export function listPossible(state: ItemState | undefined): Possible[] {
  if (state === undefined || state.candidates.length === 0) return [undefined]
  const isOpen = state.unknown === true || state.unknownFields !== undefined
  return isOpen ? [...state.candidates, undefined] : state.candidates
}

/** State of an item that is not recorded: the service may have any value. */
export const unrecordedState: ItemState = { status: 'in-doubt', candidates: [], unknown: true }

/** State of an item that is not set. */
export const unsetState: ItemState = { status: 'unset', candidates: [] }

/** Tests whether a value means that its item is not set: null, an empty list, or one in `list`. */
export function isUnset(value: Json): boolean {
  const list = isObject(value) && Array.isArray(value['list']) ? value['list'] : value
  return list === null || (Array.isArray(list) && list.length === 0)
}

/** Creates the state of a value: unset if it means that. `unknownFields`: as in `ItemState`. */
export function createItemState(value: Value, unknownFields: string[] = []): ItemState {
  if (isUnset(value)) return unsetState
  const state: ItemState = { status: 'confirmed', candidates: [value] }
  return unknownFields.length === 0 ? state : { ...state, unknownFields }
}

/** Builds `writtenFields` of a state, unless there are none. */
export function pickWritten(
  ...lists: (FieldName[] | undefined)[]
): Pick<ItemState, 'writtenFields'> {
  const fields = new Set(lists.flatMap((each) => each ?? []))
  return fields.size === 0 ? {} : { writtenFields: [...fields].toSorted() }
}
