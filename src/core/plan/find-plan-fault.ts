import { getItemSpec } from '../catalog/catalogue.ts'
import { fillKeptFields, reduceForm } from '../catalog/item-spec.ts'
import { findNamesake, listClearedItems, type ItemKeys } from '../catalog/wire-names.ts'
import { isSameJson, type Json } from '../model/json.ts'
import { isDelete, type Change, type Form, type Write } from '../model/change.ts'
import { groupBy, groupByEach } from '../model/lists.ts'
import {
  listPossible,
  type ItemState,
  type ItemKey,
  type Possible,
  type Snapshot,
  type Value,
  createItemState,
} from '../model/item.ts'

/** All values that each item may have at the service. */
type State = Map<ItemKey, Possible[]>

/**
 * Proves a plan: folds its writes, in order, over all values that the recorded items may have, and
 * compares the result with the changes.
 *
 * @returns the first contradiction as a sentence, or null if the writes make exactly these changes
 */
export function findPlanFault(
  changes: Change[],
  writes: Write[],
  recorded: Snapshot,
  itemKeys: ItemKeys = {},
): string | null {
  const malformed = findDoubledName(writes, itemKeys) ?? findMixedDelete(writes)
  if (malformed !== null) return malformed
  const reduce = createReducer()
  const changesByDomain = groupBy(changes, (change) => change.domain)
  const writesByDomain = groupByEach(writes, (write) => write.domains)
  for (const domain of new Set([...changesByDomain.keys(), ...writesByDomain.keys()])) {
    const fault = findDomainFault(
      changesByDomain.get(domain) ?? [],
      writesByDomain.get(domain) ?? [],
      recorded.get(domain) ?? new Map<ItemKey, ItemState>(),
      itemKeys,
      reduce,
    )
    if (fault !== null) return `${domain}: ${fault}`
  }
  return null
}

/** Finds a write with two items of the same name on the wire, of which one would be lost. */
function findDoubledName(writes: Write[], itemKeys: ItemKeys): string | null {
  for (const { id, items } of writes) {
    const item = Object.keys(items).find((each) => {
      const namesake = findNamesake(each, itemKeys)
      return namesake !== undefined && Object.hasOwn(items, namesake)
    })
    if (item !== undefined)
      return `write ${id} has ${item} and ${findNamesake(item, itemKeys)}, which have the same name`
  }
  return null
}

/** Finds a DELETE that also has values: they could not be sent. */
function findMixedDelete(writes: Write[]): string | null {
  const mixed = writes.find(
    (write) => isDelete(write) && Object.values(write.items).some(({ name }) => name !== 'delete'),
  )
  return mixed === undefined ? null : `write ${mixed.id} unsets by DELETE and also sets items`
}

/**
 * Finds a DELETE that comes after another write of the domain, or that unsets an item which no
 * change unsets.
 */
function findDeleteFault(byItem: ReadonlyMap<ItemKey, Change>, writes: Write[]): string | null {
  const late = writes.findLast(isDelete)
  const post = writes.find((write) => !isDelete(write))
  if (late !== undefined && post !== undefined && writes.indexOf(late) > writes.indexOf(post))
    return `write ${late.id} unsets by DELETE after write ${post.id}`
  for (const { id, items } of writes.filter(isDelete))
    for (const item of Object.keys(items))
      if (byItem.get(item)?.action !== 'unset')
        return `write ${id} unsets ${item}, which should stay set`
  return null
}

function findDomainFault(
  changes: Change[],
  writes: Write[],
  recorded: ReadonlyMap<ItemKey, ItemState>,
  itemKeys: ItemKeys,
  reduce: Reduce,
): string | null {
  const before: State = new Map(
    [...recorded].map(([item, itemState]) => [item, listPossible(itemState)]),
  )
  const after = writes.reduce((state, write) => foldWrite(state, write, itemKeys, reduce), before)
  const byItem = new Map(changes.map((change) => [change.item, change]))
  const deleteFault = findDeleteFault(byItem, writes)
  if (deleteFault !== null) return deleteFault
  const written = new Set(writes.flatMap((write) => Object.keys(write.items)))
  for (const item of written)
    if (!isWritten(byItem.get(item))) return `the writes change ${item}, which should not change`
  for (const change of changes)
    if (isWritten(change) && !written.has(change.item))
      return `no write makes the change of ${change.item}`
  for (const item of new Set([...after.keys(), ...byItem.keys()])) {
    const change = byItem.get(item)
    const values = after.get(item) ?? [undefined]
    if (change === undefined || change.action === 'release') {
      if (!hasSameValues(values, before.get(item) ?? [undefined]))
        return `the writes change ${item}, which should not change`
    } else if (!values.every((value, i) => isFulfilled(change, value, before.get(item)?.[i]))) {
      return `after the writes ${item} has another value than planned`
    }
  }
  return null
}

/**
 * Tests whether a change needs a write of this item. The fold alone can't show that an
 * unrecorded item was written.
 */
function isWritten(change: Change | undefined): boolean {
  return change !== undefined && change.action !== 'release' && change.reason !== 'cleared'
}

type Reduce = (item: ItemKey, state: Value | undefined, form: Form) => Value | undefined

/** Creates a `reduceForm` that computes what a payload makes of an empty item once. */
function createReducer(): Reduce {
  const known = new Map<ItemKey, { payload: Json; value: Value | undefined }>()
  return (item, state, form) => {
    if (state !== undefined || form.name === 'delete')
      return reduceForm(getItemSpec(item), state, form)
    const last = known.get(item)
    if (last?.payload === form.payload) return last.value
    const value = reduceForm(getItemSpec(item), state, form)
    known.set(item, { payload: form.payload, value })
    return value
  }
}

function foldWrite(state: State, write: Write, itemKeys: ItemKeys, reduce: Reduce): State {
  const next = new Map(state)
  for (const [item, form] of Object.entries(write.items)) {
    next.set(
      item,
      (next.get(item) ?? [undefined]).map((value) => reduce(item, value, form)),
    )
    // A DELETE unsets nothing else.
    for (const cleared of form.name === 'delete' ? [] : listClearedItems(item, itemKeys))
      if (next.has(cleared)) next.set(cleared, [undefined])
  }
  return next
}

/** Tests whether a value after the writes, from `before`, is the one that the change promised. */
function isFulfilled(change: Change, value: Value | undefined, before: Value | undefined): boolean {
  const spec = getItemSpec(change.item)
  if (change.reason === 'cleared') return value === undefined
  if (change.after !== null)
    return (
      value !== undefined &&
      isSameJson(value, fillKeptFields(spec.keptFields, change.after, before))
    )
  const again = spec.unset?.(createItemState(value ?? null), change.domain)
  return (
    value === undefined ||
    (again !== undefined && again !== null && isSameJson(spec.reduce(value, again), value))
  )
}

function hasSameValues(a: Possible[], b: Possible[]): boolean {
  return a.length === b.length && a.every((value, i) => isSameJson(value, b[i]))
}
