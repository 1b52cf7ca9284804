import { isAbsolute, join } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { inSpan } from '../model/tracing.ts'
import { openDatabase } from '../state/postgres/open-database.ts'
import { openGit } from '../state/git/open-git.ts'
import { buildGitEnvironment } from '../state/git/git-environment.ts'
import { openState as openStateAt, type OpenState } from '../state/open-state.ts'
import type { KnownFiles } from '../state/known-files.ts'
import type { RecordedState, Store } from '../state/store.ts'
import { loadSalt } from './load-salt.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'
import { useMoves } from './renamed-domains.ts'

type StateWorkspace = Pick<LoadedWorkspace, 'root' | 'config' | 'scrub' | 'explainMissing'>

/**
 * Opens and loads the state of a workspace without the lock.
 *
 * @param known state files that need not be parsed before their items are used
 * @param renames whether the state of renamed domains has their new names, as for an apply
 */
export async function loadState(
  workspace: LoadedWorkspace,
  outside: Outside,
  known: KnownFiles | null = null,
  renames = false,
): Promise<{ store: Store; recorded: RecordedState }> {
  outside.onPhase?.({ name: 'loading-state' })
  return inSpan(outside.tracer, 'load state', async () => {
    const { store } = await openState(workspace, outside)
    if (renames) useMoves(workspace, store)
    const recorded = await store.load(known)
    await loadSalt(workspace, store, outside)
    return { store, recorded }
  })
}

/**
 * Opens the state that belongs to a workspace's id and service address, and the lock of its
 * account.
 *
 * @throws EdgewiseError `usage` when the location of the state is ambiguous, `unavailable` when git
 * can't be used, `access` without the address of the database
 */
export async function openState(
  { root, config, scrub, explainMissing }: StateWorkspace,
  outside: Outside,
): Promise<OpenState> {
  const { id, service, state } = config
  if (state.store === 'postgres' && state.database === undefined) {
    throw new EdgewiseError(
      'access',
      `no address of the database that has the state: ${explainMissing('/state/url')}`,
      'Set it. A user of the database who may only read is enough for plan and drift.',
    )
  }
  const env = buildGitEnvironment(outside.env, service.token)
  const { clock, signal, createPool } = outside
  const newId = () => outside.newId()
  const context = { clock, signal, note: (text: string) => outside.note?.(text), scrub }
  return openStateAt(
    {
      root,
      id,
      address: service.url,
      writtenAddress: service.writtenUrl,
      account: service.account,
      state,
    },
    {
      disk: outside.disk,
      processName: outside.machine.processName,
      userFolder: findUserFolder(outside.env),
      note: outside.note,
      openDatabase: (database) =>
        openDatabase(database, { clock, signal, scrub, newId, createPool }),
      openGit: outside.openGit ?? ((folder, remote) => openGit(folder, remote, env, context)),
    },
  )
}

/** Finds the folder for state of the user, by the XDG specification; null without a home. */
function findUserFolder(env: Outside['env']): string | null {
  const { XDG_STATE_HOME: xdg = '', LOCALAPPDATA: local = '', HOME: home = '' } = env
  const base = [xdg, local, home === '' ? '' : join(home, '.local', 'state')].find(isAbsolute)
  return base === undefined ? null : join(base, 'edgewise')
}
