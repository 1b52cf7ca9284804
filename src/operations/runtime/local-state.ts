import type { Comparable, StateOutside } from './parts.ts'
import { findRepository } from '../../state/git/find-repository.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { loadState } from './open-state.ts'

/**
 * Loads the state of a workspace if it is in a folder; null if reading it would start git or reach
 * a database, and for a state that can't be read.
 */
export async function loadLocalState(
  workspace: Comparable,
  outside: StateOutside,
): Promise<RecordedState | null> {
  const { store } = workspace.config.state
  try {
    const isFolder = store === 'dir' || (store === null && findRepository(workspace.root) === null)
    return isFolder ? (await loadState(workspace, outside, true)).recorded : null
  } catch (error) {
    throwDefect(error)
    return null
  }
}
