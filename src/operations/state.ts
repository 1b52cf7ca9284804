import { compareKeys } from '../core/model/lists.ts'
import type { Comparable, StateOutside } from './runtime/parts.ts'
import type { Applied, HistoryEntry } from '../core/model/applied.ts'
import type { Domain, ItemKey } from '../core/model/item.ts'
import type { RecordedState, RecordedItem, HistoryReader } from '../state/store/store.ts'
import { loadState } from './runtime/open-state.ts'
import { listUnsharedNotes } from './submission/first-plan-warnings.ts'
import { findApplies } from './submission/find-change.ts'

/** Loads the recorded state, its location, and notes about it. */
export async function listState(
  workspace: Comparable,
  outside: StateOutside,
): Promise<{ recorded: RecordedState; location: string; notes: string[] }> {
  const { store, recorded } = await loadState(workspace, outside)
  const sorted = [...recorded].toSorted(compareKeys)
  const notes = await listUnsharedNotes(store)
  return { recorded: new Map(sorted), location: store.location, notes }
}

/** Lists the applies of a store, first to last, and counts earlier ones. */
export async function listHistory(
  store: HistoryReader,
): Promise<{ applies: HistoryEntry[]; dropped: number }> {
  const stored = await store.listApplies()
  const ids = new Set(stored.map(({ id }) => id))
  const { applies, dropped } = await store.listPruned()
  const pruned = applies.flatMap((apply): HistoryEntry[] =>
    ids.has(apply.id) ? [] : [{ ...apply, pruned: true }],
  )
  return { applies: [...pruned, ...stored], dropped }
}

/** State of a domain at the end of an apply. */
export interface PastState {
  /** Apply; for a rollout, its last wave. */
  apply: Applied
  items: Map<ItemKey, RecordedItem>
  /**
   * Items recorded since by something other than an apply (an import, a repair): their earlier
   * state is not stored.
   */
  notKnown: ItemKey[]
}

/**
 * Reconstructs the state of a domain at the end of an apply, by undoing later applies from the
 * current state. Imports and removed items are in no apply's journal: items imported since are
 * listed in `notKnown`, items forgotten since are missing.
 *
 * @param name id of an apply, or of a rollout for the end of its last wave
 * @throws EdgewiseError `usage` when there is no such apply
 */
export async function reconstructState(
  store: HistoryReader,
  recorded: RecordedState,
  domain: Domain,
  name: string,
): Promise<PastState> {
  const history = await store.listApplies()
  const { applies: pruned } = await store.listPruned()
  const apply = findApplies(history, name, pruned).at(-1)
  if (apply === undefined) throw new TypeError('expected at least one apply')
  const index = history.findIndex(({ id }) => id === apply.id)
  const items = new Map(recorded.get(domain))
  for (const { id } of history.slice(index + 1).toReversed()) {
    for (const [item, before] of (await store.loadStateBefore(id)).get(domain) ?? []) {
      if (before === null) items.delete(item)
      else items.set(item, before)
    }
  }
  const earlierApplies = new Set(history.slice(0, index + 1).map(({ id }) => id))
  const endedAtMs = Date.parse(apply.endedAt ?? history[index + 1]?.startedAt ?? apply.startedAt)
  const notKnown = [...items]
    .filter(([, state]) => !earlierApplies.has(state.apply) && Date.parse(state.at) > endedAtMs)
    .map(([item]) => item)
  for (const item of notKnown) items.delete(item)
  return { apply, items, notKnown: notKnown.toSorted() }
}
