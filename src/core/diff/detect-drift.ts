import { getItemSpec } from '../catalog/catalogue.ts'
import { fillKeptFields } from '../catalog/item-spec.ts'
import { isSameJson } from '../model/json.ts'
import { nameChange, type Change } from '../model/change.ts'
import type {
  Confidence,
  Drift,
  DriftItem,
  Observed,
  ObservedItem,
  Unreadable,
} from '../model/drift.ts'
import type { Domain, ItemState, ItemKey, Snapshot } from '../model/item.ts'
import { diffSnapshots, splitItems, type ItemSet } from './diff-snapshots.ts'
import { listStays } from './kept-fields.ts'
import { listUnresolvedPointers, replaceKnownSecrets } from './known-secrets.ts'

/** Recorded state; `at` is when an item was recorded, ISO 8601. */
type RecordedAt = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState & { at: string }>>

/**
 * Detects drift between desired, recorded and observed state: the difference from recorded to
 * desired, and from recorded to observed for the observed items. An in-doubt item stays in-doubt
 * for any observed value, since an abandoned write may still take effect. An item whose observed
 * value is unreadable is a live difference without a patch. A secret whose value is not available
 * counts as recorded, and is not verified.
 *
 * @param onHold items on hold
 * @param waiting items that an open rollout sends with a later wave
 */
export function detectDrift(
  recorded: RecordedAt,
  desired: Snapshot,
  observed: Observed,
  onHold: ItemSet = new Map(),
  waiting: ItemSet = new Map(),
): Drift {
  const base = toSnapshot(recorded)
  const assumed = replaceKnownSecrets(desired, base)
  const [from, to] = [splitItems(base, onHold), splitItems(assumed, onHold)]
  const pending = listDefiniteChanges(from.others, to.others)
  const seen = selectObserved(recorded, observed)
  const pendingByKey = indexByKey([...pending, ...listDefiniteChanges(from.chosen, to.chosen)])
  const liveByKey = indexByKey(diffSnapshots(seen.recorded, seen.observed).changes)
  const [live, items]: [Change[], DriftItem[]] = [[], []]
  const inDoubt: Drift['inDoubt'] = []
  for (const [domain, names] of listManaged(recorded, desired)) {
    for (const item of names) {
      const known = recorded.get(domain)?.get(item)
      const observedItem = observed.get(domain)?.get(item)
      const change = pendingByKey.get(nameChange({ domain, item }))
      // Desired to be unset, and never recorded: no difference.
      if (known === undefined && observedItem === undefined && change === undefined) continue
      const isPending = change !== undefined && !isCandidate(change, known)
      const waits = known?.status !== 'in-doubt' && waiting.get(domain)?.has(item) === true
      const liveChange = liveByKey.get(nameChange({ domain, item }))
      const uncompared = liveChange === undefined ? undefined : explainUncompared(observedItem)
      const unreadable = observedItem?.unreadable ?? uncompared
      const differs = liveChange !== undefined || unreadable !== undefined
      if (liveChange !== undefined && unreadable === undefined) live.push(liveChange)
      items.push({
        domain,
        item,
        kinds: listKinds(isPending && (waits ? 'waiting' : 'pending'), differs),
        confidence: rateConfidence(known, observedItem, differs, unreadable !== undefined),
        recordedAt: known?.at ?? null,
        pending: isPending ? change.patch : [],
        live: unreadable === undefined ? (liveChange?.patch ?? []) : [],
        notVerifiable: [
          ...new Set([
            ...(observedItem?.notVerifiable ?? []),
            ...listUncompared(known, desired.get(domain)?.get(item)),
          ]),
        ].toSorted(),
        unreadable,
        held: isPending && onHold.get(domain)?.has(item) === true,
      })
      if (known?.status === 'in-doubt') inDoubt.push({ domain, item, recordedAt: known.at })
    }
  }
  return {
    items,
    pending: pending.filter(
      ({ domain, item }) => recorded.get(domain)?.get(item)?.status !== 'in-doubt',
    ),
    live,
    inDoubt,
    stays: listStays(from.others, to.others),
  }
}

/** Lists the changes from one snapshot to another, without conditional ones. */
function listDefiniteChanges(from: Snapshot, to: Snapshot): Change[] {
  return diffSnapshots(from, to).changes.filter(({ reason }) => reason !== 'secret-unknown')
}

/** Lists the pointers of desired secrets that can't be compared with a confirmed value. */
function listUncompared(known: ItemState | undefined, desired: ItemState | undefined): string[] {
  if (known?.status !== 'confirmed') return []
  return (desired?.candidates ?? []).flatMap(listUnresolvedPointers)
}

/** Selects recorded and observed state of the observed items; other items can't differ. */
function selectObserved(
  recorded: RecordedAt,
  observed: Observed,
): { recorded: Snapshot; observed: Snapshot } {
  const before: Snapshot = new Map()
  const after: Snapshot = new Map()
  for (const [domain, observedItems] of observed) {
    const recordedItems = new Map<ItemKey, ItemState>()
    const seen = new Map<ItemKey, ItemState>()
    for (const [item, observedItem] of observedItems) {
      const state = recorded.get(domain)?.get(item)
      if (state?.status === 'in-doubt' || observedItem.unreadable !== undefined) continue
      // It was never applied, and the service does not have it: it is pending only.
      if (state === undefined && observedItem.state.status === 'unset') continue
      // A field that is never shown agrees, whether its value is known or not.
      const known = state === undefined ? undefined : { ...state, unknownFields: [] }
      if (known !== undefined) recordedItems.set(item, known)
      seen.set(
        item,
        known !== undefined && isKnownValue(item, known, observedItem.state)
          ? known
          : observedItem.state,
      )
    }
    before.set(domain, recordedItems)
    after.set(domain, seen)
  }
  return { recorded: before, observed: after }
}

/**
 * Tests whether the observed value is the one that the service returned for a write or an unset.
 */
function isKnownValue(item: ItemKey, state: ItemState, seen: ItemState): boolean {
  const [value] = seen.candidates
  if (seen.status !== 'confirmed' || value === undefined) return false
  const { keptFields } = getItemSpec(item)
  const known = state.status === 'unset' ? state.candidates[0] : state.returned
  return known !== undefined && isSameJson(known, fillKeptFields(keptFields, value, known))
}

/** Tests whether an in-doubt item may have the desired value, so that it is no pending change. */
function isCandidate(change: Change, state: ItemState | undefined): boolean {
  if (state?.status !== 'in-doubt' || change.after === null) return false
  return state.candidates.some((candidate) => isSameJson(candidate, change.after ?? undefined))
}

function listKinds(pending: DriftItem['kinds'][number] | false, live: boolean) {
  const kinds: DriftItem['kinds'] = pending === false ? [] : [pending]
  return live ? [...kinds, 'live' as const] : kinds
}

/**
 * Explains a difference in an item with secrets that can't be compared; its patch is unreliable.
 */
function explainUncompared(observedItem: ObservedItem | undefined): Unreadable | undefined {
  const { uncompared = [] } = observedItem ?? {}
  if (uncompared.length === 0) return undefined
  const names = uncompared.join(', ')
  const reason = `it differs, and not only in its secret, whose value is not available (${names})`
  return { pointer: '', reason }
}

function rateConfidence(
  state: ItemState | undefined,
  observedItem: ObservedItem | undefined,
  differs: boolean,
  isUnreadable: boolean,
): Confidence {
  if (state?.status === 'in-doubt' || isUnreadable) return 'in-doubt'
  const { notVerifiable, uncompared = [] } = observedItem ?? { notVerifiable: [''] }
  if (uncompared.length === 0 && (differs || notVerifiable.length === 0)) return 'verified'
  return state === undefined ? 'in-doubt' : 'assumed'
}

function toSnapshot(recorded: RecordedAt): Snapshot {
  return new Map([...recorded].map(([domain, items]) => [domain, new Map(items)]))
}

function listManaged(recorded: RecordedAt, desired: Snapshot): [Domain, ItemKey[]][] {
  return [...new Set([...recorded.keys(), ...desired.keys()])].toSorted().map((domain) => {
    const names = new Set([
      ...(recorded.get(domain)?.keys() ?? []),
      ...(desired.get(domain)?.keys() ?? []),
    ])
    return [domain, [...names].toSorted()]
  })
}

function indexByKey(changes: Change[]): Map<string, Change> {
  return new Map(changes.map((change) => [nameChange(change), change]))
}
