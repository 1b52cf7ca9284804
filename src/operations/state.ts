import type { Applied } from '../model/applied.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { RecordedState, RecordedItem, Store } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { loadState } from './open-state.ts'
import type { Outside } from './outside.ts'
import { reconstructState } from './reconstruct-state.ts'
import { listUnsharedNotes } from './unshared-notes.ts'

/** Loads the recorded state, its location, and notes about it. */
export async function listState(
  workspace: LoadedWorkspace,
  outside: Outside,
): Promise<{ recorded: RecordedState; location: string; notes: string[] }> {
  const { store, recorded } = await loadState(workspace, outside)
  const sorted = [...recorded].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const notes = await listUnsharedNotes(store)
  return { recorded: new Map(sorted), location: store.location, notes }
}

/** Recorded state of a domain. */
export interface DomainState {
  domain: Domain
  items: Map<ItemKey, RecordedItem>
  /**
   * Apply at whose end the domain had this state, and items whose state then is not known; null for
   * the current state.
   */
  asOf: { apply: Applied; notKnown: ItemKey[] } | null
}

/**
 * Looks up the state of a domain, now or at the end of an apply.
 *
 * @param applyName id of an apply or a rollout; absent: now
 * @throws EdgewiseError `usage` when no state is known, or there is no such apply
 */
export async function showState(
  workspace: LoadedWorkspace,
  name: string,
  applyName: string | undefined,
  outside: Outside,
): Promise<DomainState> {
  const { store, recorded } = await loadState(workspace, outside)
  const domain = name.toLowerCase()
  const asOf =
    applyName === undefined ? null : await reconstructState(store, recorded, domain, applyName)
  const items = asOf?.items ?? recorded.get(domain) ?? new Map<ItemKey, RecordedItem>()
  if (items.size === 0) {
    const when = asOf === null ? 'is recorded' : `is known at the end of apply ${asOf.apply.id}`
    const owner = (await store.findOwners([domain])).get(domain)
    const advice = asOf === null ? ': run the command there.' : ' now.'
    throw new EdgewiseError(
      'usage',
      `no state of "${domain}" ${when}`,
      owner === undefined
        ? '"edgewise state list" lists all recorded domains.'
        : `It belongs to the workspace "${owner}"${advice}`,
    )
  }
  return { domain, items, asOf }
}

/** One apply in the history. */
export interface HistoryEntry extends Applied {
  /** The state before it is not stored any more, so it can't be rolled back. */
  pruned?: true
}

/** Lists the applies, first to last, and counts earlier ones that are not listed any more. */
export async function loadHistory(
  workspace: LoadedWorkspace,
  outside: Outside,
): Promise<{ applies: HistoryEntry[]; dropped: number }> {
  const { store } = await loadState(workspace, outside)
  return listHistory(store)
}

/** Lists the applies of a store, first to last, and counts earlier ones. */
export async function listHistory(
  store: Store,
): Promise<{ applies: HistoryEntry[]; dropped: number }> {
  const stored = await store.listApplies()
  const ids = new Set(stored.map(({ id }) => id))
  const { applies, dropped } = await store.listPruned()
  const pruned = applies.flatMap((apply): HistoryEntry[] =>
    ids.has(apply.id) ? [] : [{ ...apply, pruned: true }],
  )
  return { applies: [...pruned, ...stored], dropped }
}
