import { compareKeys } from '../core/model/lists.ts'
import type { Comparable, StateOutside } from './runtime/parts.ts'
import type { Applied, HistoryEntry } from '../core/model/applied.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
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
  workspace: Comparable,
  name: string,
  applyName: string | undefined,
  outside: StateOutside,
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
interface PastState {
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
async function reconstructState(
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
