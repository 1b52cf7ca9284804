import { getItemSpec } from '../catalog/catalogue.ts'
import { dropFields, listOmittedHidden, listResets } from '../catalog/hidden-fields.ts'
import { fillKeptFields, isSameAtService, orderSets, type ItemSpec } from '../catalog/item-spec.ts'
import { listClearedItems, type ItemKeys } from '../catalog/wire-names.ts'
import { append } from '../model/lists.ts'
import type { Change, PatchOperation } from '../model/change.ts'
import {
  unrecordedState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../model/item.ts'
import { getOwn } from '../model/json.ts'
import { isSameButUnknown } from './known-secrets.ts'
import jsonPatch from 'fast-json-patch'

/** Difference of two snapshots. */
interface Difference {
  /** Sorted by domain, then by item. */
  changes: Change[]
  /** Number of desired items without a change. */
  unchanged: number
}

/**
 * Computes the changes from one snapshot to another. An in-doubt item is a change even if a
 * candidate is equal. An item that only `from` has is released, or emptied by a desired item that
 * clears it. An item that differs at most in unresolved secrets is a conditional change.
 *
 * @param deletes whether the account can unset any item (`service.unset`)
 */
export function diffSnapshots(
  from: Snapshot,
  to: Snapshot,
  itemKeys: ItemKeys = {},
  deletes = false,
): Difference {
  const domains = [...new Set([...from.keys(), ...to.keys()])].toSorted()
  const changes: Change[] = []
  let unchanged = 0
  for (const domain of domains) {
    const before = from.get(domain) ?? new Map<ItemKey, ItemState>()
    const after = to.get(domain) ?? new Map<ItemKey, ItemState>()
    const desiredChanges: Change[] = []
    for (const [item, state] of after) {
      const change = computeDesiredChange(domain, item, before.get(item), state, deletes)
      if (change === null) unchanged++
      else desiredChanges.push(change)
    }
    const goneChanges: Change[] = []
    for (const [item, state] of before)
      if (!after.has(item))
        goneChanges.push(computeGoneChange(domain, item, state, desiredChanges, itemKeys))
    const all = [...desiredChanges, ...goneChanges]
    if (all.length > 0)
      append(
        changes,
        all.toSorted((a, b) => (a.item < b.item ? -1 : 1)),
      )
  }
  return { changes, unchanged }
}

function computeDesiredChange(
  domain: Domain,
  item: ItemKey,
  state: ItemState | undefined,
  desired: ItemState,
  deletes: boolean,
): Change | null {
  const spec = getItemSpec(item)
  const before = state?.status === 'unset' ? null : (state?.candidates[0] ?? null)
  const reason = state?.status === 'in-doubt' ? 'in-doubt' : 'differs'
  const value = desired.candidates[0]
  if (desired.status === 'unset' || value === undefined) {
    if (state?.status === 'unset') return null
    if (!deletes && spec.unset?.(state ?? unrecordedState, domain) === null) return null
    return {
      domain,
      item,
      action: 'unset',
      reason,
      before,
      after: null,
      patch: computePatch(before, null),
      ...(deletes ? { byDelete: true } : {}),
    }
  }
  // Fields that the service keeps have their recorded values unless the desired value has them.
  const live = state?.status === 'in-doubt' ? undefined : state?.candidates[0]
  const after = fillKeptFields(spec.keptFields, value, live)
  const written =
    desired.writtenFields ?? spec.keptFields.filter((name) => getOwn(Object(value), name) != null)
  const certain = state?.status === 'confirmed' ? before : null
  const unknown = state?.unknownFields ?? []
  const leftOut = desired.unknownFields ?? []
  // A manifest that names a field whose value is not known differs, whatever the value.
  const isNamed = unknown.some((pointer) => !leftOut.includes(pointer))
  if (certain !== null && !isNamed && isSameAtService(spec, certain, after)) return null
  const isConditional = certain !== null && !isNamed && isSameButUnknown(spec, certain, after)
  const find = (fields: string[]) =>
    certain === null
      ? []
      : listResets(spec, { value: certain, unknown }, { value: after, unknown: fields })
  const resets = find(leftOut)
  const absent = find(listOmittedHidden(spec, after).filter((at) => !leftOut.includes(at)))
  const known = before === null ? null : dropFields(before, unknown)
  return {
    domain,
    item,
    action: before === null ? 'set' : 'change',
    reason: isConditional ? 'secret-unknown' : reason,
    before: known,
    after,
    patch: computePatch(known, after),
    ...showOrdered(spec, known, after, desired.ordered),
    ...(resets.length === 0 ? {} : { resets }),
    ...(absent.length === 0 ? {} : { absent }),
    ...(written.length === 0 ? {} : { writtenFields: written }),
  }
}

/** Computes the change of an item that is recorded and no longer desired. */
function computeGoneChange(
  domain: Domain,
  item: ItemKey,
  state: ItemState,
  desiredChanges: Change[],
  itemKeys: ItemKeys,
): Change {
  const before = state.candidates[0] ?? null
  const by =
    state.status === 'unset'
      ? undefined
      : desiredChanges.find(
          // A DELETE unsets nothing else.
          ({ item: other, byDelete }) =>
            byDelete !== true && listClearedItems(other, itemKeys).includes(item),
        )?.item
  const patch = computePatch(before, null)
  if (by === undefined)
    return { domain, item, action: 'release', reason: 'differs', before, after: null, patch }
  return { domain, item, action: 'unset', reason: 'cleared', by, before, after: null, patch }
}

/** Builds `shown` of a change whose manifest has this value, with sets in any order; or nothing. */
export function showOrdered(
  spec: ItemSpec,
  before: Value | null,
  after: Value,
  ordered: Value | undefined,
): Pick<Change, 'shown'> {
  if (ordered === undefined) return {}
  const to = orderSets(spec, after, [ordered])
  const from = before === null ? null : orderSets(spec, before, [to])
  return { shown: { before: from, after: to, patch: computePatch(from, to) } }
}

/** Computes the RFC 6902 patch from one value to another; null stands for no value. */
export function computePatch(before: Value | null, after: Value | null): PatchOperation[] {
  if (before === null && after === null) return []
  if (before === null) return [{ op: 'add', path: '', value: after }]
  if (after === null) return [{ op: 'remove', path: '' }]
  // The library misses a change between object and list at the root: compare one level down.
  return jsonPatch.compare({ root: before }, { root: after }).map((operation) => {
    const path = operation.path.slice('/root'.length)
    if (operation.op === 'remove') return { op: 'remove', path }
    if (operation.op === 'add' || operation.op === 'replace')
      return { op: operation.op, path, value: operation.value }
    throw new TypeError(`expected add, remove or replace in a patch, got "${operation.op}"`)
  })
}

/**
 * Returns whether state has the result of every change as confirmed, whoever made it. A value with
 * a secret that can't be compared is not known to be there.
 */
export function isAchieved(
  changes: Change[],
  recorded: ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>,
): boolean {
  return changes.every(({ domain, item, action, after }) => {
    const state = recorded.get(domain)?.get(item)
    if (action === 'release') return state === undefined
    if (after === null) return state === undefined || state.status === 'unset'
    const [value] = state?.candidates ?? []
    return (
      state?.status === 'confirmed' &&
      state.unknownFields === undefined &&
      value !== undefined &&
      isSameAtService(getItemSpec(item), value, after)
    )
  })
}

/** Items of domains. */
export type ItemSet = ReadonlyMap<Domain, { has(item: ItemKey): boolean }>

/** Splits a snapshot into the items of a set and the others, without changing it. */
export function splitItems(
  snapshot: Snapshot,
  set: ItemSet,
): { chosen: Snapshot; others: Snapshot } {
  const [chosen, others]: [Snapshot, Snapshot] = [new Map(), new Map()]
  for (const [domain, items] of snapshot) {
    const own = set.get(domain)
    if (own === undefined) {
      others.set(domain, items)
      continue
    }
    const parts = { chosen: new Map<ItemKey, ItemState>(), others: new Map<ItemKey, ItemState>() }
    for (const [item, state] of items) parts[own.has(item) ? 'chosen' : 'others'].set(item, state)
    if (parts.chosen.size > 0) chosen.set(domain, parts.chosen)
    if (parts.others.size > 0) others.set(domain, parts.others)
  }
  return { chosen, others }
}
