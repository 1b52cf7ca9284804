import type { Json } from '../model/json.ts'
import { findDrift, type FoundDrift } from './find-drift.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { loadState } from './open-state.ts'
import type { Outside } from './outside.ts'

/** What a search for drift is asked for. */
export interface DriftRequest {
  /** Observes the service: `{domain: {item: payload}}`. Absent where it can't be observed. */
  observe?: () => Promise<Json>
}

/**
 * Compares desired, recorded and observed state. Records nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `not-observed` when what was
 * observed has another shape
 */
export async function drift(
  workspace: LoadedWorkspace,
  { observe }: DriftRequest,
  outside: Outside,
): Promise<FoundDrift> {
  const { store, recorded } = await loadState(workspace, outside)
  const observed = observe === undefined ? null : await observe()
  return findDrift(workspace, recorded, observed, await store.listRollouts())
}
