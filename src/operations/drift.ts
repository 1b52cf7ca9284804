import type { Json } from '../model/json.ts'
import { narrowSnapshot } from '../plan/selection.ts'
import { findDrift, narrowDrift, refuseInvalid, type FoundDrift } from './find-drift.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { loadState } from './open-state.ts'
import { refuseEmpty } from './refuse-empty.ts'
import { describeOwners } from './refuse-owned-elsewhere.ts'
import type { Outside } from './outside.ts'
import { refuseUnobserved } from './refuse-unobserved.ts'
import { select, type SelectionRequest } from './select.ts'

/** Options of a drift check; a selection restricts it. */
export interface DriftRequest extends SelectionRequest {
  /** Loads the observed configuration, `{domain: {item: payload}}`; absent if there is none. */
  observe?: () => Promise<Json>
}

/**
 * Compares desired, recorded and observed state. Records nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `usage` when a part of the
 * selection matches nothing, `not-observed` when the observed configuration has the wrong shape or
 * none of the compared items
 */
export async function drift(
  workspace: LoadedWorkspace,
  request: DriftRequest,
  outside: Outside,
): Promise<FoundDrift> {
  refuseEmpty(workspace)
  const { store, recorded } = await loadState(workspace, outside)
  refuseInvalid(workspace)
  const selection = select(request, workspace, recorded)
  if (request.observe !== undefined) outside.onPhase?.({ name: 'loading-observed' })
  const observed = request.observe === undefined ? null : await request.observe()
  outside.onPhase?.({ name: 'comparing', total: workspace.desired.size })
  const found = narrowDrift(
    findDrift(workspace, recorded, observed, await store.listRollouts()),
    selection,
  )
  if (observed !== null) refuseUnobserved(found, workspace)
  const owners = await store.findOwners([...narrowSnapshot(workspace.desired, selection).keys()])
  return { ...found, notes: [...found.notes, ...describeOwners(owners)] }
}
