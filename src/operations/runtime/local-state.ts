import type { Settings, Desired, Secrets } from './workspace-parts.ts'
import { findRepository } from '../../state/git/find-repository.ts'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import { stores } from '../../core/model/stores.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import { openGit } from '../../state/git/open-git.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { loadState } from './open-state.ts'
import type { GitRepository } from '../../state/git/git-repository.ts'
import type { OpenState } from '../../state/store/store-opener.ts'
import type { StateOutside } from './outside.ts'

/**
 * Loads the state of a workspace if it is in a folder; null if reading it would start git or reach
 * a database, and for a state that can't be read.
 */
export async function loadLocalState(
  workspace: Settings & Desired & Secrets,
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

/**
 * Loads the state as this machine knows it: of a folder, or what this clone has last seen of a
 * branch. It starts git, which reaches no remote. Null for a state in a database.
 *
 * @throws EdgewiseError as `loadState`
 */
export async function loadKnownState(
  workspace: Settings & Desired & Secrets,
  outside: StateOutside,
): Promise<(Pick<OpenState, 'store'> & { recorded: RecordedState }) | null> {
  const { state, service } = workspace.config
  if (state.store !== null && stores[state.store].isElsewhere(state)) return null
  // A partial clone would fetch what it lacks.
  const env = { ...buildGitEnvironment(outside.env, service.token), GIT_NO_LAZY_FETCH: '1' }
  const context = { ...outside, note: () => undefined, scrub: workspace.scrub }
  const open = outside.openGit ?? ((folder, remote) => openGit(folder, remote, env, context))
  const openWithoutRemote = async (folder: string, remote: string) => {
    const git = await open(folder, remote)
    return git && keepFromRemote(git)
  }
  return loadState(workspace, { ...outside, openGit: openWithoutRemote }, true)
}

/** Answers what a clone has last seen of its remote instead of asking it, and moves no ref. */
function keepFromRemote(git: GitRepository): GitRepository {
  const refuse = () => Promise.reject(new EdgewiseError('unavailable', 'the state is only read'))
  return {
    ...git,
    fetch: async (ref, present = null) =>
      present ?? git.findTip(ref.replace('refs/heads/', `refs/remotes/${git.remote}/`)),
    move: refuse,
    push: refuse,
  }
}
