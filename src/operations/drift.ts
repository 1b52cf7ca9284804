import type { Json } from '../model/json.ts'
import { findDrift, type FoundDrift } from './find-drift.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { loadState } from './open-state.ts'
import { refuseEmpty } from './refuse-empty.ts'
import { describeOwners } from './refuse-owned-elsewhere.ts'
import type { Outside } from './outside.ts'

/** Options of a drift check. */
export interface DriftRequest {
  /** Loads the observed configuration, `{domain: {item: payload}}`; absent if there is none. */
  observe?: () => Promise<Json>
}

/**
 * Compares desired, recorded and observed state. Records nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `not-observed` when the observed
 * configuration has the wrong shape
 */
export async function drift(
  workspace: LoadedWorkspace,
  { observe }: DriftRequest,
  outside: Outside,
): Promise<FoundDrift> {
  refuseEmpty(workspace)
  const { store, recorded } = await loadState(workspace, outside)
  const observed = observe === undefined ? null : await observe()
  const found = findDrift(workspace, recorded, observed, await store.listRollouts())
  const owners = await store.findOwners([...workspace.desired.keys()])
  return { ...found, notes: [...found.notes, ...describeOwners(owners)] }
}
