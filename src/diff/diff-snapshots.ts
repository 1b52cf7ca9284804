import { itemSpec } from '../catalog/catalogue.ts'
import { withKept, type ItemSpec } from '../catalog/item-spec.ts'
import { sameJson } from '../model/canonical-json.ts'
import type { Change } from '../model/change.ts'
import {
  unrecorded,
  type Domain,
  type Held,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../model/item.ts'
import { patchBetween } from './compute-patch.ts'

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
    const before = from.get(domain) ?? new Map<ItemKey, Held>()
    const after = to.get(domain) ?? new Map<ItemKey, Held>()
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
export function targetValue(spec: ItemSpec, held: Held | undefined, desired: Value): Value {
  return held?.status === 'in-doubt' ? desired : withKept(spec.keeps, desired, held?.candidates[0])
}

function desiredChange(
  domain: Domain,
  item: ItemKey,
  held: Held | undefined,
  desired: Held,
): Change | null {
  const spec = itemSpec(item)
  const before = held?.status === 'unset' ? null : (held?.candidates[0] ?? null)
  const reason = held?.status === 'in-doubt' ? 'in-doubt' : 'differs'
  const wanted = desired.candidates[0]
  if (desired.status === 'unset' || wanted === undefined) {
    const nothingToTakeBack =
      held?.status === 'unset' || spec.unset?.(held ?? unrecorded, domain) === null
    if (nothingToTakeBack) return null
    return {
      domain,
      item,
      action: 'unset',
      reason,
      before,
      after: null,
      patch: patchBetween(before, null),
    }
  }
  const after = targetValue(spec, held, wanted)
  if (held?.status === 'confirmed' && sameJson(before ?? undefined, after)) return null
  return {
    domain,
    item,
    action: before === null ? 'set' : 'change',
    reason,
    before,
    after,
    patch: patchBetween(before, after),
  }
}

/** An item that is recorded and no longer desired. */
function goneChange(domain: Domain, item: ItemKey, held: Held, wanted: Change[]): Change {
  const before = held.candidates[0] ?? null
  const by =
    held.status === 'unset'
      ? undefined
      : wanted.find((change) => itemSpec(change.item).clears.includes(item))?.item
  const patch = patchBetween(before, null)
  if (by === undefined)
    return { domain, item, action: 'release', reason: 'differs', before, after: null, patch }
  return { domain, item, action: 'unset', reason: 'cleared', by, before, after: null, patch }
}
