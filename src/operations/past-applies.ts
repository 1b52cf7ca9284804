import type { Domain, ItemKey } from '../model/item.ts'
import type { IntendedChanges, RecordedItem, RecordedState, Store } from '../state/store.ts'
import { describeChange, type PastChange, type PastDomain } from './domain-history.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { loadState } from './open-state.ts'
import type { Outside } from './outside.ts'
import { sortByValues } from './sort-by-values.ts'
import { listHistory, type HistoryEntry } from './state.ts'

/** What an apply intended, by domain and item. */
export type PastChanges = ReadonlyMap<Domain, ReadonlyMap<ItemKey, PastChange>>

/** An apply, and what it intended; null if that is not stored or was not loaded. */
export interface PastFleetApply {
  apply: HistoryEntry
  changes: PastChanges | null
}

/** The history of all domains. */
export interface PastFleet {
  /** First to last. */
  applies: PastFleetApply[]
  /** Number of earlier applies that are not listed any more. */
  dropped: number
}

/** Maximum number of changes that are loaded, by default. */
const maxChanges = 300_000
/** Applies, and about how many changes, that are loaded at once. */
const [maxAtOnce, maxChangesAtOnce] = [100, 20_000]
/** Assumed changes of an apply of an earlier version, which did not count them. */
const assumedChanges = 1000

/**
 * Loads the history of all domains, with what the latest applies intended: as many of them as have
 * about `limit` changes, but at least the last one.
 */
export async function loadPastApplies(
  workspace: LoadedWorkspace,
  outside: Outside,
  limit = maxChanges,
): Promise<PastFleet> {
  const { store, recorded } = await loadState(workspace, outside)
  const { applies, dropped } = await listHistory(store)
  const stored = applies.filter(({ pruned }) => pruned !== true)
  const intended = await loadLatest(store, stored, limit)
  const past = describeAll(intended, recorded)
  return {
    applies: applies.map((apply) => ({ apply, changes: past.get(apply.id) ?? null })),
    dropped,
  }
}

/** Converts the history of one domain to that of a fleet. */
export function toFleet({ domain, applies }: PastDomain): PastFleet {
  const all = applies.map(({ items, ...apply }) => ({ apply, changes: new Map([[domain, items]]) }))
  return { applies: all, dropped: 0 }
}

interface Intended {
  apply: HistoryEntry
  changes: IntendedChanges
}

/** Loads what the latest applies intended, first to last. */
async function loadLatest(
  store: Store,
  applies: HistoryEntry[],
  limit: number,
): Promise<Intended[]> {
  const intended: Intended[] = []
  let [left, end] = [limit, applies.length]
  while (end > 0 && left > 0) {
    const start = findStart(applies, end, Math.min(left, maxChangesAtOnce))
    const batch = applies.slice(start, end)
    const found = await store.loadIntended(batch.map(({ id }) => id))
    for (const apply of batch.toReversed()) {
      const changes = found.get(apply.id) ?? new Map()
      left -= sum([...changes.values()].map(({ size }) => size))
      intended.push({ apply, changes })
    }
    end = start
  }
  return intended.toReversed()
}

/** Finds the first apply of a batch that ends before `end`: at least one apply. */
function findStart(applies: HistoryEntry[], end: number, changes: number): number {
  let [start, found] = [end, 0]
  while (start > 0 && end - start < maxAtOnce) {
    const parts = applies[start - 1]?.parts
    found += parts === undefined ? assumedChanges : sum(Object.values(parts))
    if (found > changes && start < end) break
    start--
  }
  return start
}

/** Describes the changes of all applies, from the last: state before one is that after another. */
function describeAll(intended: Intended[], recorded: RecordedState): Map<string, PastChanges> {
  const later = new Map<Domain, Map<ItemKey, RecordedItem | null>>()
  const getLater = (domain: Domain) => {
    const items = later.get(domain) ?? new Map<ItemKey, RecordedItem | null>(recorded.get(domain))
    later.set(domain, items)
    return items
  }
  const past = new Map<string, PastChanges>()
  for (const { apply, changes } of sortByValues(
    intended,
    (each) => each.apply.id,
    listFound,
  ).toReversed()) {
    const described = Array.from(changes, ([domain, items]) => {
      const after = getLater(domain)
      const own = Array.from(items, ([item, change]): [ItemKey, PastChange] => {
        const found = describeChange(apply, change, after.get(item) ?? null)
        after.set(item, change.before)
        return [item, found]
      })
      return [domain, new Map(own)] as const
    })
    past.set(apply.id, new Map(described))
  }
  return past
}

function* listFound({ changes }: Intended): Iterable<string> {
  const ids = new Set<string>()
  for (const items of changes.values())
    for (const { before } of items.values()) if (before !== null) ids.add(before.apply)
  yield* ids
}

function sum(values: number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
