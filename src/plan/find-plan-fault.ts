import { getItemSpec } from '../catalog/catalogue.ts'
import { fillKeptFields } from '../catalog/item-spec.ts'
import { isSameJson } from '../model/canonical-json.ts'
import type { Change, Write } from '../model/change.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemState, ItemKey, Snapshot, Value } from '../model/item.ts'

/** Everything that an item may hold; undefined is nothing. */
type Possible = (Value | undefined)[]
type State = Map<ItemKey, Possible>

/**
 * Folds a plan's writes, in their order, over everything that the recorded items may hold, and
 * compares with the changes.
 *
 * @returns the first disagreement in a sentence, or null when the plan does what it says and
 * touches nothing else.
 */
export function findPlanFault(
  changes: Change[],
  writes: Write[],
  recorded: Snapshot,
): string | null {
  const changesOf = groupBy(changes, (change) => change.domain)
  const writesOf = new Map<Domain, Write[]>()
  for (const write of writes) {
    for (const domain of write.domains) {
      const own = writesOf.get(domain)
      if (own === undefined) writesOf.set(domain, [write])
      else own.push(write)
    }
  }
  for (const domain of new Set([...changesOf.keys(), ...writesOf.keys()])) {
    const fault = domainFault(
      changesOf.get(domain) ?? [],
      writesOf.get(domain) ?? [],
      recorded.get(domain) ?? new Map<ItemKey, ItemState>(),
    )
    if (fault !== null) return `${domain}: ${fault}`
  }
  return null
}

function domainFault(
  changes: Change[],
  writes: Write[],
  recorded: ReadonlyMap<ItemKey, ItemState>,
): string | null {
  const before: State = new Map([...recorded].map(([item, held]) => [item, possible(held)]))
  const after = writes.reduce(foldWrite, before)
  const byItem = new Map(changes.map((change) => [change.item, change]))
  const written = new Set(writes.flatMap((write) => Object.keys(write.items)))
  for (const item of written)
    if (!isWritten(byItem.get(item))) return `the writes touch ${item}, which should stay as it is`
  for (const change of changes)
    if (isWritten(change) && !written.has(change.item))
      return `no write brings about the change of ${change.item}`
  for (const item of new Set([...after.keys(), ...byItem.keys()])) {
    const change = byItem.get(item)
    const values = after.get(item) ?? [undefined]
    if (change === undefined || change.action === 'release') {
      if (!samePossible(values, before.get(item) ?? [undefined]))
        return `the writes touch ${item}, which should stay as it is`
    } else if (!values.every((value, i) => fulfils(change, value, before.get(item)?.[i]))) {
      return `the writes leave ${item} other than planned`
    }
  }
  return null
}

/**
 * A change that needs a write of its own item. What is not recorded can't show in a fold that it
 * was written.
 */
function isWritten(change: Change | undefined): boolean {
  return change !== undefined && change.action !== 'release' && change.reason !== 'cleared'
}

function possible(held: ItemState): Possible {
  if (held.status === 'in-doubt')
    return held.unknown === true ? [...held.candidates, undefined] : held.candidates
  return held.candidates.length === 0 ? [undefined] : held.candidates
}

function foldWrite(state: State, write: Write): State {
  const next = new Map(state)
  for (const [item, form] of Object.entries(write.items)) {
    const spec = getItemSpec(item)
    next.set(
      item,
      (next.get(item) ?? [undefined]).map((value) => spec.reduce(value, form.payload)),
    )
    for (const cleared of spec.clearedItems) if (next.has(cleared)) next.set(cleared, [undefined])
  }
  return next
}

/**
 * Whether a value that is held after the writes is what the change promised, where `before` was
 * held.
 */
function fulfils(change: Change, value: Value | undefined, before: Value | undefined): boolean {
  const spec = getItemSpec(change.item)
  if (change.reason === 'cleared') return value === undefined
  if (change.after !== null)
    return (
      value !== undefined &&
      isSameJson(value, fillKeptFields(spec.keptFields, change.after, before))
    )
  const again = spec.unset?.(
    value === undefined
      ? { status: 'unset', candidates: [] }
      : { status: 'confirmed', candidates: [value] },
    change.domain,
  )
  return (
    value === undefined ||
    (again !== undefined && again !== null && isSameJson(spec.reduce(value, again), value))
  )
}

function samePossible(a: Possible, b: Possible): boolean {
  return a.length === b.length && a.every((value, i) => isSameJson(value, b[i]))
}
