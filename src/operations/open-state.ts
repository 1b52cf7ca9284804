import type { Workspace } from '../manifest/workspace.ts'
import { openGit } from '../state/git/plumbing.ts'
import { buildGitEnvironment } from '../state/git/git-environment.ts'
import { openState as openRecordAt, type OpenState } from '../state/open-state.ts'
import type { RecordedState, Store } from '../state/store.ts'
import type { Outside } from './outside.ts'

/** Opens the state of a workspace to look at it, and loads it. */
export async function loadState(
  workspace: Workspace,
  outside: Outside,
): Promise<{ store: Store; recorded: RecordedState }> {
  const { store } = await openState(workspace, outside)
  return { store, recorded: await store.load() }
}

/**
 * Opens the record that belongs to a workspace's id and its service's address, and the lock of its
 * account.
 *
 * @throws EdgewiseError `usage` when it is not clear where the record is, `unavailable` when git
 * can't be used
 */
export async function openState({ root, config }: Workspace, outside: Outside): Promise<OpenState> {
  const { id, service, state } = config
  const env = buildGitEnvironment(outside.env, service.token)
  return openRecordAt(
    { root, id, address: service.url, account: service.account, state },
    {
      disk: outside.disk,
      processName: outside.machine.processName,
      openGit:
        outside.openGit ??
        ((folder, remote) => openGit(folder, remote, env, () => outside.clock.now())),
    },
  )
}
