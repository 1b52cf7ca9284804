import { getItemSpec } from '../catalog/catalogue.ts'
import { fillKeptFields } from '../catalog/item-spec.ts'
import { isSameJson } from '../model/canonical-json.ts'
import type { Change } from '../model/change.ts'
import type { Confidence, Drift, DriftItem } from '../model/drift.ts'
import type { Observed, ObservedItem, Unreadable } from '../model/drift.ts'
import type { Domain, ItemState, ItemKey, Snapshot } from '../model/item.ts'
import { diffSnapshots } from './diff-snapshots.ts'
import { splitDomains } from './split-domains.ts'

/** What is recorded, and when each item was. `at` is ISO 8601. */
type RecordedAt = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState & { at: string }>>

/**
 * Where desired, recorded and observed configuration part: the difference from recorded to desired,
 * and the one from recorded to observed for as much as was observed. An item in doubt stays in
 * doubt whatever was observed, since a write that was given up may still land. An item whose
 * observed value is unreadable is a live difference without a patch.
 *
 * @param held domains whose desired state is not applied any more
 */
export function detectDrift(
  recorded: RecordedAt,
  desired: Snapshot,
  observed: Observed,
  held: ReadonlySet<Domain> = new Set(),
): Drift {
  const [from, to] = [splitDomains(asSnapshot(recorded), held), splitDomains(desired, held)]
  const pending = diffSnapshots(from.others, to.others).changes
  const onHold = diffSnapshots(from.chosen, to.chosen).changes
  const seen = seenOf(recorded, observed)
  const pendingOf = byPlace([...pending, ...onHold])
  const liveOf = byPlace(diffSnapshots(seen.recorded, seen.observed).changes)
  const live: Change[] = []
  const items: DriftItem[] = []
  const inDoubt: Drift['inDoubt'] = []
  for (const [domain, names] of managed(recorded, desired)) {
    for (const item of names) {
      const known = recorded.get(domain)?.get(item)
      const sight = observed.get(domain)?.get(item)
      const change = pendingOf.get(place(domain, item))
      // Asked to be unset, and never recorded: there is nothing to take back.
      if (known === undefined && sight === undefined && change === undefined) continue
      const isPending = change !== undefined && !isCandidate(change, known)
      const liveChange = liveOf.get(place(domain, item))
      const beside = liveChange === undefined ? undefined : differsBeside(sight)
      const unreadable = sight?.unreadable ?? beside
      const differs = liveChange !== undefined || unreadable !== undefined
      if (liveChange !== undefined && unreadable === undefined) live.push(liveChange)
      items.push({
        domain,
        item,
        kinds: listKinds(isPending, differs),
        confidence: unreadable === undefined ? rateConfidence(known, sight) : 'in-doubt',
        recordedAt: known?.at ?? null,
        pending: isPending ? change.patch : [],
        live: unreadable === undefined ? (liveChange?.patch ?? []) : [],
        notVerified: sight?.notVerified ?? [],
        unreadable,
        held: isPending && held.has(domain),
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
  }
}

/**
 * Both sides of what was observed: items that were not are on neither, so that they can't differ.
 */
function seenOf(
  recorded: RecordedAt,
  observed: Observed,
): { recorded: Snapshot; observed: Snapshot } {
  const before: Snapshot = new Map()
  const after: Snapshot = new Map()
  for (const [domain, sights] of observed) {
    const own = new Map<ItemKey, ItemState>()
    const seen = new Map<ItemKey, ItemState>()
    for (const [item, sight] of sights) {
      const held = recorded.get(domain)?.get(item)
      if (held?.status === 'in-doubt' || sight.unreadable !== undefined) continue
      if (held !== undefined) own.set(item, held)
      seen.set(item, held !== undefined && agrees(item, held, sight.state) ? held : sight.state)
    }
    before.set(domain, own)
    after.set(domain, seen)
  }
  return { recorded: before, observed: after }
}

/**
 * What was observed is known already, as what an item was unset to or as what the service made of a
 * write.
 */
function agrees(item: ItemKey, held: ItemState, seen: ItemState): boolean {
  const [value] = seen.candidates
  if (seen.status !== 'confirmed' || value === undefined) return false
  const { keptFields } = getItemSpec(item)
  const known = held.status === 'unset' ? held.candidates[0] : held.returned
  return known !== undefined && isSameJson(known, fillKeptFields(keptFields, value, known))
}

/** An item in doubt is no pending change when it may hold what is desired. */
function isCandidate(change: Change, held: ItemState | undefined): boolean {
  if (held?.status !== 'in-doubt' || change.after === null) return false
  return held.candidates.some((candidate) => isSameJson(candidate, change.after ?? undefined))
}

function listKinds(pending: boolean, live: boolean): DriftItem['kinds'] {
  const kinds: DriftItem['kinds'] = pending ? ['pending'] : []
  return live ? [...kinds, 'live'] : kinds
}

/** Explains a difference beside secrets that can't be compared; no patch of it is reliable. */
function differsBeside(sight: ObservedItem | undefined): Unreadable | undefined {
  const { uncompared = [] } = sight ?? {}
  if (uncompared.length === 0) return undefined
  const names = uncompared.join(', ')
  const reason = `it differs in more than its secret, whose value is not at hand (${names})`
  return { pointer: '', reason }
}

function rateConfidence(held: ItemState | undefined, sight: ObservedItem | undefined): Confidence {
  if (held?.status === 'in-doubt') return 'in-doubt'
  if (sight !== undefined && (sight.uncompared ?? []).length === 0) return 'verified'
  return held === undefined ? 'in-doubt' : 'assumed'
}

function asSnapshot(recorded: RecordedAt): Snapshot {
  return new Map([...recorded].map(([domain, items]) => [domain, new Map(items)]))
}

function managed(recorded: RecordedAt, desired: Snapshot): [Domain, ItemKey[]][] {
  return [...new Set([...recorded.keys(), ...desired.keys()])].toSorted().map((domain) => {
    const names = new Set([
      ...(recorded.get(domain)?.keys() ?? []),
      ...(desired.get(domain)?.keys() ?? []),
    ])
    return [domain, [...names].toSorted()]
  })
}

function byPlace(changes: Change[]): Map<string, Change> {
  return new Map(changes.map((change) => [place(change.domain, change.item), change]))
}

function place(domain: Domain, item: ItemKey): string {
  return `${domain} ${item}`
}
