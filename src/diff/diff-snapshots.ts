import { getItemSpec } from '../catalog/catalogue.ts'
import { fillKeptFields, isSameAtService, type ItemSpec } from '../catalog/item-spec.ts'
import { listClearedItems, type ItemKeys } from '../catalog/wire-names.ts'
import { append } from '../model/append.ts'
import type { Change } from '../model/change.ts'
import {
  unrecordedState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../model/item.ts'
import { isKnownUnchanged } from '../model/known-items.ts'
import { computePatch } from './compute-patch.ts'
import { isSameButUnknown } from './known-secrets.ts'

/** Difference of two snapshots. */
export interface Difference {
  /** Sorted by domain, then by item. */
  changes: Change[]
  /** Number of desired items without a change. */
  unchanged: number
}

/**
 * Computes the changes from one snapshot to another. An in-doubt item is a change even if a
 * candidate is equal. An item that only `from` has is released, or emptied by a desired item that
 * clears it. An item that differs at most in unresolved secrets is a conditional change.
 */
export function diffSnapshots(from: Snapshot, to: Snapshot, itemKeys: ItemKeys = {}): Difference {
  const domains = [...new Set([...from.keys(), ...to.keys()])].toSorted()
  const changes: Change[] = []
  let unchanged = 0
  for (const domain of domains) {
    if (isKnownUnchanged(from.get(domain), to.get(domain))) {
      unchanged += to.get(domain)?.size ?? 0
      continue
    }
    const before = from.get(domain) ?? new Map<ItemKey, ItemState>()
    const after = to.get(domain) ?? new Map<ItemKey, ItemState>()
    const desiredChanges: Change[] = []
    for (const [item, state] of after) {
      const change = computeDesiredChange(domain, item, before.get(item), state)
      if (change === null) unchanged++
      else desiredChanges.push(change)
    }
    const goneChanges: Change[] = []
    for (const [item, state] of before)
      if (!after.has(item))
        goneChanges.push(computeGoneChange(domain, item, state, desiredChanges, itemKeys))
    append(
      changes,
      [...desiredChanges, ...goneChanges].toSorted((a, b) => (a.item < b.item ? -1 : 1)),
    )
  }
  return { changes, unchanged }
}

/**
 * Computes the value of an item after a write of the desired value: fields that the service keeps
 * have their recorded values unless the desired value has them.
 */
export function computeTargetValue(
  spec: ItemSpec,
  state: ItemState | undefined,
  desired: Value,
): Value {
  return state?.status === 'in-doubt'
    ? desired
    : fillKeptFields(spec.keptFields, desired, state?.candidates[0])
}

function computeDesiredChange(
  domain: Domain,
  item: ItemKey,
  state: ItemState | undefined,
  desired: ItemState,
): Change | null {
  const spec = getItemSpec(item)
  const before = state?.status === 'unset' ? null : (state?.candidates[0] ?? null)
  const reason = state?.status === 'in-doubt' ? 'in-doubt' : 'differs'
  const value = desired.candidates[0]
  if (desired.status === 'unset' || value === undefined) {
    const hasNothingToUnset =
      state?.status === 'unset' || spec.unset?.(state ?? unrecordedState, domain) === null
    if (hasNothingToUnset) return null
    return {
      domain,
      item,
      action: 'unset',
      reason,
      before,
      after: null,
      patch: computePatch(before, null),
    }
  }
  const after = computeTargetValue(spec, state, value)
  if (state?.status === 'confirmed' && before !== null && isSameAtService(spec, before, after))
    return null
  const isConditional =
    state?.status === 'confirmed' && before !== null && isSameButUnknown(spec, before, after)
  return {
    domain,
    item,
    action: before === null ? 'set' : 'change',
    reason: isConditional ? 'secret-unknown' : reason,
    before,
    after,
    patch: computePatch(before, after),
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
      : desiredChanges.find((change) => listClearedItems(change.item, itemKeys).includes(item))
          ?.item
  const patch = computePatch(before, null)
  if (by === undefined)
    return { domain, item, action: 'release', reason: 'differs', before, after: null, patch }
  return { domain, item, action: 'unset', reason: 'cleared', by, before, after: null, patch }
}
