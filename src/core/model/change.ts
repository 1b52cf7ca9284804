import type { Domain, FieldName, ItemKey, Part, Value, Wire } from './item.ts'
import type { Json } from './json.ts'

/** Action on one item of a domain. */
export type Action = 'set' | 'change' | 'unset' | 'release'

/** Symbols of the actions in text and Markdown; JSON has the names. */
export const symbols: Record<Action, string> = { set: '+', change: '~', unset: '-', release: '○' }

/** One operation of an RFC 6902 patch; a move or copy appears as add and remove. */
export interface PatchOperation {
  op: 'add' | 'remove' | 'replace'
  path: string
  value?: Json
}

/** One item of one domain whose state differs from the desired one. */
export interface Change {
  domain: Domain
  item: ItemKey
  action: Action
  /**
   * - `cleared`: the write of the item `by` clears this one, which has no write of its own.
   * - `secret-unknown`: a conditional change. Only a secret whose value is unavailable may differ,
   *   so its write is sent only if the value turns out to differ.
   */
  reason: 'differs' | 'in-doubt' | 'cleared' | 'secret-unknown'
  by?: ItemKey
  /** It is unset by a DELETE, not by a documented reset. In no JSON: the form of its write is. */
  byDelete?: boolean
  /** Source that it undoes, if it goes back to an older value: `commit 1a2b3c4d`. In no JSON. */
  undoes?: string
  /** Canonical values; null if nothing was recorded, or nothing is managed any more. */
  before: Value | null
  after: Value | null
  patch: PatchOperation[]
  /** The same with sets in the order of the manifest, as it is shown; absent if it is the same. */
  shown?: { before: Value | null; after: Value; patch: PatchOperation[] }
  /**
   * JSON pointers within `after` of fields that its write resets although their values at the
   * service are unknown: it never shows them, and no manifest names them. Absent for none.
   */
  resets?: string[]
  /** The same of fields that the manifest declares absent. */
  absent?: string[]
  /** As in `ItemState`, once it is written. */
  writtenFields?: FieldName[]
  /** No request shows it, as was proved under the settled readings; absent if that is not known. */
  effect?: 'none'
}

/** Tests whether only a secret whose value is not known may differ. */
export function isConditional({ reason }: Pick<Change, 'reason'>): boolean {
  return reason === 'secret-unknown'
}

/** Names an item of a domain, such as a change: no other change of the same plan has the name. */
export function nameChange({ domain, item }: { domain: Domain; item: ItemKey }): string {
  return `${domain} ${item}`
}

/**
 * Form of a write of one item. `unset` is a documented reset; `delete` is a call of its own, which
 * some accounts offer (`service.unset`).
 */
export type FormName = 'replace' | 'append' | 'add' | 'remove' | 'switch' | 'unset' | 'delete'

/** Form that changes an item from its state to the desired one. */
export interface Form {
  name: FormName
  /** Null for `delete`, which has none. */
  payload: Wire
}

/** The form of an item that is unset by `DELETE /domain/config`. */
export const deleteForm: Form = { name: 'delete', payload: null }

/**
 * One `POST /domain/config`, or one `DELETE` if each form is `delete`: up to 10 domains × some
 * items. A change is made by one write, by
 * several (parts of a list), or by none: a released or cleared item has none. All of them are in
 * one wave.
 */
export interface Write {
  /** Position in the plan, from 1. */
  id: number
  wave: number
  domains: Domain[]
  /** Item → payload; the service client translates items to wire names. */
  items: Record<ItemKey, Form>
}

/** Names the domains and items of a write. */
export function toPart({ domains, items }: Pick<Write, 'domains' | 'items'>): Part {
  return { domains, items: Object.keys(items) }
}

/** Reports whether a form leaves the same state when the service applies it twice. */
export function isSafeToRepeat(form: FormName): boolean {
  return form === 'replace' || form === 'switch' || form === 'unset' || form === 'delete'
}

/** Tests whether a write is a `DELETE`: none has other forms beside `delete`. */
export function isDelete({ items }: Pick<Write, 'items'>): boolean {
  return Object.values(items).some(({ name }) => name === 'delete')
}

/** Lists the domains that a plan changes, or with a field that it gives up. */
export function listTouched({
  changes,
  writes,
  stays = [],
}: {
  changes: readonly Change[]
  writes: readonly Write[]
  stays?: readonly { domain: Domain }[] | undefined
}): Set<Domain> {
  return new Set([
    ...[...changes, ...stays].map(({ domain }) => domain),
    ...writes.flatMap(({ domains }) => domains),
  ])
}
