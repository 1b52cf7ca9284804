import { findOutliers, type Outlier } from '../core/checks/outliers.ts'
import { narrowDomains } from '../core/plan/selection.ts'
import type { Workspace } from '../manifest/workspace-file/workspace.ts'
import { loadState } from './runtime/open-state.ts'
import type { Comparable, StateOutside } from './runtime/parts.ts'
import { select } from './submission/select.ts'

/**
 * Finds what differs from nearly all similar domains of a selection, in the manifests or in state.
 *
 * @throws EdgewiseError `usage` when a glob selects nothing
 */
export async function listOutliers(
  workspace: Comparable & Pick<Workspace, 'findProfiles'>,
  { of, target }: { of: 'desired' | 'recorded'; target: string[] },
  outside: StateOutside,
): Promise<Outlier[]> {
  const isRecorded = of === 'recorded'
  const recorded = isRecorded ? (await loadState(workspace, outside, true)).recorded : new Map()
  select({ target }, workspace, recorded)
  const snapshot = narrowDomains(isRecorded ? recorded : workspace.desired, target)
  return findOutliers(snapshot, workspace.findProfiles)
}
