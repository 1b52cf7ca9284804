import type { Comparable, Configured, Outside, Secrets, Settings, StateOutside } from './parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { inSpan } from '../../core/model/telemetry.ts'
import { openDatabase } from '../../state/postgres/open-database.ts'
import { openGit } from '../../state/git/open-git.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import { openState as openStateAt } from '../../state/store/open-state.ts'
import type { OpenState } from '../../state/store/store-opener.ts'
import type { RecordedState, SaltStore } from '../../state/store/store.ts'
import { useMoves } from '../history/renamed-domains.ts'
import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import { findUserFolder, isCiJob } from '../../files/cache-folder.ts'
import { isLoopback } from '../../core/model/text/url.ts'
import { createHash } from 'node:crypto'

type StateWorkspace = Omit<Settings, 'explainTokenFault'>

/**
 * Opens and loads the state of a workspace without the lock.
 *
 * @param renames whether the state of renamed domains has their new names, as for an apply
 */
export async function loadState(
  workspace: Comparable,
  outside: StateOutside,
  renames = false,
): Promise<Pick<OpenState, 'store' | 'accountStop'> & { recorded: RecordedState }> {
  outside.onPhase?.({ name: 'loading-state' })
  return inSpan('load state', async () => {
    const { store, accountStop } = await openState(workspace, outside)
    if (renames) useMoves(workspace, store)
    const recorded = await store.load()
    await loadSalt(workspace, store, outside)
    return { store, accountStop, recorded }
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
  workspace: StateWorkspace,
  outside: StateOutside,
): Promise<OpenState> {
  const { root, config, scrub, explainMissing } = workspace
  const { id, service, state } = config
  if (state.store === 'postgres' && state.database === undefined) {
    throw new EdgewiseError(
      'access',
      `no address of the database that has the state: ${explainMissing('/state/url')}`,
      'Set it. A user of the database who may only read is enough for plan and drift.',
    )
  }
  const env = buildGitEnvironment(outside.env, service.token)
  const { clock, signal, createPool, databasePatienceMs: patienceMs } = outside
  const newId = () => outside.newId()
  const context = { clock, signal, note: (text: string) => outside.note?.(text), scrub }
  const opened = await openStateAt(
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
      userFolder: findUserFolder(outside.env, 'XDG_STATE_HOME', '.local', 'state'),
      note: outside.note,
      openDatabase: (database) =>
        openDatabase(database, { clock, signal, scrub, newId, createPool, patienceMs }),
      openGit: outside.openGit ?? ((folder, remote) => openGit(folder, remote, env, context)),
    },
  )
  if (Object.keys(config.sign).length > 0) {
    const { createSigner } = await import('../history/sign-history.ts')
    opened.store.chain.signer = createSigner(workspace, outside)
  }
  return opened
}

/**
 * Refuses to change state that is deleted after its CI job: in a folder of the checkout, for a
 * service that outlives the job. The next job would write everything again.
 *
 * @throws EdgewiseError `local-state`
 */
export function refuseLocalState(
  { service, state }: Workspace['config'],
  { findFolderInCheckout }: Pick<OpenState, 'findFolderInCheckout'>,
  env: Outside['env'],
): void {
  if (state.allowLocal === true || !isCiJob(env)) return
  if (service.url === 'emulator' || isLoopback(new URL(service.url).hostname)) return
  const folder = findFolderInCheckout()
  if (folder === null) return
  throw new EdgewiseError(
    'local-state',
    `the state is in ${folder}, inside the checkout of a CI job (CI is set), and would ` +
      'be lost with it; nothing was changed',
    'Store it in git ("state: {store: git}"), in a database ("state: {store: postgres, url: …}") ' +
      'or in a folder outside of the checkout ("state: {store: dir, path: …}"). If this checkout ' +
      'is kept, set "allowLocal: true" under "state".',
  )
}

/**
 * Loads the salt of the fingerprints of secrets. Without one, a random salt is used, and stored
 * with the first recording of secrets. A workspace without secrets stores none: fingerprints that
 * replace foreign values are then compared with nothing.
 *
 * @param addsSecrets whether the command may add the first secrets of the workspace
 * @throws EdgewiseError `record-damaged`
 */
export async function loadSalt(
  { config, vault }: Configured & Secrets,
  store: SaltStore,
  outside: StateOutside,
  addsSecrets = false,
): Promise<void> {
  const needsSalt = addsSecrets || usesSecrets(config)
  const stored = needsSalt ? await store.loadSalt() : null
  const text = stored ?? drawSalt(outside)
  const isStored = stored !== null || !needsSalt
  vault.useSalt({ text, isStored, keep: () => store.keepSalt(text) })
}

/** Tests whether manifests may have secrets. */
export function usesSecrets({ secrets, allowLiteralSecrets }: Settings['config']): boolean {
  return Object.keys(secrets).length > 0 || allowLiteralSecrets
}

/** Draws a salt from two random ids. */
function drawSalt(outside: StateOutside): string {
  const ids = `${outside.newId()} ${outside.newId()}`
  return createHash('sha256').update(ids).digest('hex').slice(0, 32)
}
