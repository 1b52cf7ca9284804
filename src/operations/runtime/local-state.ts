import { findRepository } from '../../state/git/find-repository.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { loadState } from './open-state.ts'
import type { StateOutside } from './outside.ts'

/**
 * Loads the state of a workspace if it is in a folder; null if reading it would start git or reach
 * a database, and for a state that can't be read.
 */
export async function loadLocalState(
  workspace: LoadedWorkspace,
  outside: StateOutside,
): Promise<RecordedState | null> {
  const { store } = workspace.config.state
  try {
    const isFolder = store === 'dir' || (store === null && findRepository(workspace.root) === null)
    return isFolder ? (await loadState(workspace, outside, true)).recorded : null
  } catch (error) {
    if (error instanceof EdgewiseError) return null
    throw error
  }
}
