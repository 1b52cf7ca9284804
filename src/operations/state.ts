import type { Applied } from '../model/applied.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { RecordedState, RecordedItem } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { loadState } from './open-state.ts'
import type { Outside } from './outside.ts'
import { reconstructState } from './reconstruct-state.ts'

/** Everything recorded, and where that is. */
export async function listState(
  workspace: LoadedWorkspace,
  outside: Outside,
): Promise<{ recorded: RecordedState; location: string }> {
  const { store, recorded } = await loadState(workspace, outside)
  return { recorded, location: store.location }
}

/** What is recorded of a domain. */
export interface DomainState {
  domain: Domain
  items: Map<ItemKey, RecordedItem>
  /** The apply at whose end it was so, and the items of which that is not known; null for now. */
  asOf: { apply: Applied; notKnown: ItemKey[] } | null
}

/**
 * Looks up what is recorded of a domain, now or at the end of an apply.
 *
 * @param at id of the apply or rollout; absent for now
 * @throws EdgewiseError `usage` when nothing is, or there is no such apply
 */
export async function showState(
  workspace: LoadedWorkspace,
  name: string,
  at: string | undefined,
  outside: Outside,
): Promise<DomainState> {
  const { store, recorded } = await loadState(workspace, outside)
  const domain = name.toLowerCase()
  const asOf = at === undefined ? null : await reconstructState(store, recorded, domain, at)
  const items = asOf?.items ?? recorded.get(domain) ?? new Map<ItemKey, RecordedItem>()
  if (items.size === 0) {
    const when =
      asOf === null
        ? 'is recorded'
        : `is known to have been recorded at the end of apply ${asOf.apply.id}`
    throw new EdgewiseError(
      'usage',
      `nothing ${when} of "${domain}"`,
      '"edgewise state list" lists what is recorded now.',
    )
  }
  return { domain, items, asOf }
}

/** Lists the applies, first to last. */
export async function loadHistory(
  workspace: LoadedWorkspace,
  outside: Outside,
): Promise<Applied[]> {
  const { store } = await loadState(workspace, outside)
  return store.listApplies()
}
