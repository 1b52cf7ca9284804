import { getItemSpec } from '../catalog/catalogue.ts'
import { fillKeptFields, type ItemSpec } from '../catalog/item-spec.ts'
import { isSameJson } from '../model/canonical-json.ts'
import type { Change } from '../model/change.ts'
import {
  unrecordedState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../model/item.ts'
import { computePatch } from './compute-patch.ts'

/** What parts two snapshots, and how much is equal in both. */
export interface Difference {
  /** Sorted by domain, then by item. */
  changes: Change[]
  /** Items of domains that are managed and as they should be. */
  unchanged: number
}

/**
 * The changes that lead from one snapshot to another. An item in doubt is a change even when a
 * candidate is equal. An item that only the first one has is released, or emptied by a desired item
 * that clears it.
 */
export function diffSnapshots(from: Snapshot, to: Snapshot): Difference {
  const domains = [...new Set([...from.keys(), ...to.keys()])].toSorted()
  const changes: Change[] = []
  let unchanged = 0
  for (const domain of domains) {
    const before = from.get(domain) ?? new Map<ItemKey, ItemState>()
    const after = to.get(domain) ?? new Map<ItemKey, ItemState>()
    const found = [...after].map(([item, held]) =>
      desiredChange(domain, item, before.get(item), held),
    )
    const wanted = found.filter((change) => change !== null)
    unchanged += found.length - wanted.length
    const gone = [...before].flatMap(([item, held]) =>
      after.has(item) ? [] : [goneChange(domain, item, held, wanted)],
    )
    changes.push(...[...wanted, ...gone].toSorted((a, b) => (a.item < b.item ? -1 : 1)))
  }
  return { changes, unchanged }
}

/**
 * The value that a desired item comes to, given what is held: fields that the service keeps stay
 * unless they are named.
 */
export function computeTargetValue(
  spec: ItemSpec,
  held: ItemState | undefined,
  desired: Value,
): Value {
  return held?.status === 'in-doubt'
    ? desired
    : fillKeptFields(spec.keptFields, desired, held?.candidates[0])
}

function desiredChange(
  domain: Domain,
  item: ItemKey,
  held: ItemState | undefined,
  desired: ItemState,
): Change | null {
  const spec = getItemSpec(item)
  const before = held?.status === 'unset' ? null : (held?.candidates[0] ?? null)
  const reason = held?.status === 'in-doubt' ? 'in-doubt' : 'differs'
  const wanted = desired.candidates[0]
  if (desired.status === 'unset' || wanted === undefined) {
    const nothingToTakeBack =
      held?.status === 'unset' || spec.unset?.(held ?? unrecordedState, domain) === null
    if (nothingToTakeBack) return null
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
  const after = computeTargetValue(spec, held, wanted)
  if (held?.status === 'confirmed' && isSameJson(before ?? undefined, after)) return null
  return {
    domain,
    item,
    action: before === null ? 'set' : 'change',
    reason,
    before,
    after,
    patch: computePatch(before, after),
  }
}

/** An item that is recorded and no longer desired. */
function goneChange(domain: Domain, item: ItemKey, held: ItemState, wanted: Change[]): Change {
  const before = held.candidates[0] ?? null
  const by =
    held.status === 'unset'
      ? undefined
      : wanted.find((change) => getItemSpec(change.item).clearedItems.includes(item))?.item
  const patch = computePatch(before, null)
  if (by === undefined)
    return { domain, item, action: 'release', reason: 'differs', before, after: null, patch }
  return { domain, item, action: 'unset', reason: 'cleared', by, before, after: null, patch }
}
