import { catalogue } from '../catalog/catalogue.ts'
import { nameFields } from '../catalog/hidden-fields.ts'
import { fillKeptFields, pickKeptFields, type ItemSpec } from '../catalog/item-spec.ts'
import { parseItem } from '../catalog/parse-item.ts'
import { listClearedItems, type ItemKeys } from '../catalog/wire-names.ts'
import { isSameJson } from '../model/json.ts'
import {
  unrecordedState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
  unsetState,
} from '../model/item.ts'
import type { Irreversible } from '../model/plan.ts'
import { findTemplate, listSecrets } from '../model/secret.ts'

/** Domain → item → its state before; null if unrecorded. */
type StateBefore = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState | null>>
type StateNow = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>

/** Two snapshots whose difference is a rollback, restricted to the items that it changes. */
export interface RollbackSnapshots {
  /** The recorded state now. */
  from: Snapshot
  /** The desired state of the rollback. `diffSnapshots(from, to)` gives the changes. */
  to: Snapshot
  /** Sorted by domain, then by item. */
  irreversible: Irreversible[]
}

/**
 * Computes how to roll items back to their state before. Other items stay as they are, except those
 * that a restored item empties. An item that was unrecorded before is unset if the specification
 * documents how, or if the account can unset any item.
 *
 * @param now the recorded state, or the state after a plan is applied
 * @param before state before of each item to roll back; null if it was unrecorded
 * @param canReveal tests whether the value of a secret is available, by its fingerprint
 * (`scrypt:…`)
 * @param deletes whether the account can unset any item (`service.unset`)
 */
export function computeRollback(
  now: StateNow,
  before: StateBefore,
  canReveal: (secret: string) => boolean,
  itemKeys: ItemKeys = {},
  deletes = false,
): RollbackSnapshots {
  const rollback: RollbackSnapshots = { from: new Map(), to: new Map(), irreversible: [] }
  for (const domain of [...before.keys()].toSorted()) {
    const items = before.get(domain) ?? new Map<ItemKey, ItemState | null>()
    const current = now.get(domain) ?? new Map<ItemKey, ItemState>()
    const goals = new Map<ItemKey, ItemState>()
    const lost = new Map<ItemKey, string>()
    for (const item of [...items.keys()].toSorted()) {
      const { goal, reason } = computeItemRollback(
        domain,
        item,
        items.get(item) ?? null,
        current.get(item),
        canReveal,
        deletes,
      )
      if (goal !== undefined) goals.set(item, goal)
      if (reason !== undefined) lost.set(item, reason)
    }
    const emptied = dropEmptiedGoals(goals, lost, items, current, itemKeys)
    if (goals.size > 0) {
      rollback.to.set(domain, goals)
      rollback.from.set(
        domain,
        new Map(
          [...current].filter(
            ([item, { status }]) => goals.has(item) || (emptied.has(item) && status !== 'unset'),
          ),
        ),
      )
    }
    for (const item of [...lost.keys()].toSorted())
      rollback.irreversible.push({ domain, item, reason: lost.get(item) ?? '' })
  }
  return rollback
}

/**
 * The goal of one item, and the reason why it can't be rolled back completely; empty: unchanged.
 */
interface ItemRollback {
  goal?: ItemState
  reason?: string
}

function computeItemRollback(
  domain: Domain,
  item: ItemKey,
  before: ItemState | null,
  current: ItemState | undefined,
  canReveal: (secret: string) => boolean,
  deletes: boolean,
): ItemRollback {
  if (isUnchanged(before, current)) return {}
  const spec = catalogue.get(item)
  if (spec === undefined) return { reason: 'this version of edgewise does not support the item' }
  if (before === null || before.status === 'unset')
    return rollBackToUnset(spec, domain, before, current, deletes)
  const [value, ...others] = before.candidates
  if (value === undefined) return { reason: 'its value before is not known' }
  if (before.unknown === true || others.length > 0) {
    const values =
      others.length === 0 ? 'one value and something unknown' : `${before.candidates.length} values`
    return { reason: `its state before was in-doubt between ${values}` }
  }
  return rollBackToValue(spec, { ...before, candidates: [value] }, value, current, canReveal)
}

/** Tests whether a plan would change nothing. The value that an unset item returned is ignored. */
function isUnchanged(before: ItemState | null, current: ItemState | undefined): boolean {
  if (before === null || current === undefined) return before === null && current === undefined
  if (before.status !== current.status) return false
  if (before.status === 'unset') return true
  return (
    (before.unknown === true) === (current.unknown === true) &&
    isSameJson(before.candidates, current.candidates)
  )
}

function rollBackToUnset(
  spec: ItemSpec,
  domain: Domain,
  before: ItemState | null,
  current: ItemState | undefined,
  deletes: boolean,
): ItemRollback {
  const earlier = before === null ? 'it was not recorded before' : 'it was unset before'
  if (current?.status === 'unset')
    return { reason: `${earlier}, so the value that was unset is not known` }
  const payload = spec.unset?.(current ?? unrecordedState, domain)
  if (payload === undefined && !deletes)
    return { reason: `${earlier}, and the service documents no way to unset it` }
  // The service may have had a value, without which the domain would be worse off than before.
  const loss = before === null && payload === undefined ? explainLoss(spec, current) : null
  if (loss !== null) return { reason: `${earlier}, and ${loss}` }
  const obstacle = deletes ? null : (spec.explainNoUnset?.(domain) ?? null)
  if (obstacle !== null) return { reason: `${earlier}, and ${obstacle}` }
  if (payload === null && !deletes)
    return { reason: `${earlier}, and it has no recorded entry to remove` }
  return { goal: unsetState }
}

/** Explains why unsetting an item is destructive although its value is not; null if it is not. */
function explainLoss(spec: ItemSpec, current: ItemState | undefined): string | null {
  const [value] = current?.candidates ?? []
  const isDestructive = value !== undefined && (spec.explainDestructive?.(value) ?? null) !== null
  return isDestructive ? null : (spec.explainDestructive?.(null) ?? null)
}

function rollBackToValue(
  spec: ItemSpec,
  before: ItemState,
  value: Value,
  current: ItemState | undefined,
  canReveal: (secret: string) => boolean,
): ItemRollback {
  const reason = explainPartly(spec, before, value, current)
  const partly = reason === null ? {} : { reason }
  // The remaining difference may consist of fields that the service keeps.
  if (
    current?.status === 'confirmed' &&
    isSameJson(current.candidates[0], fillKeptFields(spec.keptFields, value, current.candidates[0]))
  )
    return partly
  const parsed = parseItem(spec, value, 'manifest')
  if (parsed.value === null)
    return {
      reason: `its recorded value before is not valid (${parsed.problems[0]?.pointer || '/'})`,
    }
  const missing = [...listSecrets([value])].filter((secret) => !canReveal(secret))
  if (missing.length > 0) {
    const names = [
      ...new Set(
        missing.map(
          (secret) => findTemplate(before.templates, secret) ?? 'written out in a manifest',
        ),
      ),
    ].join(', ')
    return { reason: `its value before has a secret whose value is not available (${names})` }
  }
  const { templates, writtenFields = [] } = before
  return {
    goal: {
      status: 'confirmed',
      candidates: [parsed.value],
      writtenFields,
      ...(templates === undefined ? {} : { templates }),
    },
    ...partly,
  }
}

/** Explains which fields do not get the values that they had before; null if all do. */
function explainPartly(
  spec: ItemSpec,
  { unknownFields = [] }: ItemState,
  value: Value,
  current: ItemState | undefined,
): string | null {
  const values = current?.candidates ?? []
  const kept = values.map((each) => pickKeptFields(spec.keptFields, value, each))
  const keptFields = Object.keys(Object.assign({}, ...kept))
  if (keptFields.length > 0)
    return (
      `${keptFields.join(' and ')} was not recorded before, ` +
      'and the service keeps a field that is left out'
    )
  return unknownFields.length === 0
    ? null
    : `the value of ${nameFields(unknownFields).join(' and ')} before was never known, ` +
        'and the default is sent'
}

/**
 * Drops goals that conflict: one that another goal empties, and one that would unset its item but
 * empty an unchanged one. Adds the reasons to `lost`.
 *
 * @returns all items that the remaining goals empty
 */
export function dropEmptiedGoals(
  goals: Map<ItemKey, ItemState>,
  lost: Map<ItemKey, string>,
  before: ReadonlyMap<ItemKey, ItemState | null>,
  now: ReadonlyMap<ItemKey, ItemState>,
  itemKeys: ItemKeys,
): Set<ItemKey> {
  const emptied = new Set<ItemKey>()
  const isSet = (current: ItemState | null | undefined) =>
    current !== null && current !== undefined && current.status !== 'unset'
  const staysSet = (item: ItemKey) =>
    !goals.has(item) && isSet(now.get(item)) && (!before.has(item) || isSet(before.get(item)))
  const valuesFirst = [...goals].toSorted(
    ([, a], [, b]) => Number(a.status === 'unset') - Number(b.status === 'unset'),
  )
  for (const [item, goal] of valuesFirst) {
    if (!goals.has(item)) continue
    const clearedItems = listClearedItems(item, itemKeys)
    const keptItem = goal.status === 'unset' ? clearedItems.find(staysSet) : undefined
    if (keptItem !== undefined) {
      lost.set(item, `unsetting it would empty ${keptItem}`)
      goals.delete(item)
      continue
    }
    for (const cleared of clearedItems) {
      emptied.add(cleared)
      if (goals.get(cleared)?.status === 'confirmed' || (before.has(cleared) && staysSet(cleared)))
        lost.set(cleared, `${item} empties it`)
      goals.delete(cleared)
    }
  }
  return emptied
}
