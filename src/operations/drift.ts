import type { Json } from '../model/json.ts'
import { inSpan } from '../model/tracing.ts'
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
  const observed = await observe(request, outside)
  outside.onPhase?.({ name: 'comparing', total: workspace.desired.size })
  const found = narrowDrift(
    findDrift(workspace, recorded, observed, await store.listRollouts()),
    selection,
  )
  outside.tracer?.root().set({ 'edgewise.items': found.drift.items.length })
  if (observed !== null) refuseUnobserved(found, workspace)
  const owners = await store.findOwners([...narrowSnapshot(workspace.desired, selection).keys()])
  return { ...found, notes: [...found.notes, ...describeOwners(owners)] }
}

/** Loads the observed configuration of a request; null if there is none. */
export async function observe(
  { observe: load }: Pick<DriftRequest, 'observe'>,
  { onPhase, tracer }: Pick<Outside, 'onPhase' | 'tracer'>,
): Promise<Json | null> {
  if (load === undefined) return null
  onPhase?.({ name: 'loading-observed' })
  return inSpan(tracer, 'load observed', load)
}
