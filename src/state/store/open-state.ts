import { join, resolve } from 'node:path'
import { isInside } from '../../files/is-inside.ts'
import type { DatabaseConfig, StateConfig } from '../../core/model/config.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Note } from '../../core/model/text/words.ts'
import { createFolderFiles } from '../folder/folder-files.ts'
import { createFolderRegister } from '../folder/folder-register.ts'
import type { Disk } from '../folder/disk.ts'
import { FileStore } from './file-store.ts'
import { GitFiles } from '../git/git-files.ts'
import { createGitRegister } from '../git/git-register.ts'
import type { GitRepository } from '../git/git-repository.ts'
import { findCheckout, findRepository as findPlace } from '../git/find-repository.ts'
import type { Database } from '../postgres/database.ts'
import { createLeadership, type Leadership } from '../postgres/leadership.ts'
import { openPostgresLedger } from '../postgres/postgres-calls.ts'
import { createPostgresFiles } from '../postgres/postgres-files.ts'
import { PostgresLocks } from '../postgres/postgres-locks.ts'
import { createAccountLock, type Locks } from '../locks/locks.ts'
import type { CallStore, StateKey, Store } from './store.ts'
import {
  buildBudgetPath,
  buildLockPath,
  buildStatePaths,
  buildUserBudgetPath,
} from '../format/state-paths.ts'
import type { Register } from './register.ts'
import type { StateFiles } from './state-files.ts'
import { createOptionalRegister } from './call-ledger.ts'

/** Identity of the state of a workspace, and its configured location. */
export interface StateLocation extends StateKey {
  /** Folder of the workspace. */
  root: string
  account: string
  state: StateConfig
}

/** Environment for opening state. */
export interface StateEnvironment {
  disk: Disk
  /** Identifies this process among all that may write to the same folder. */
  processName: string
  /** Folder of the user, shared by all workspaces on this machine; null if the user has none. */
  userFolder?: string | null
  /** Prints a note. */
  note?: Note
  /** Opens the repository that contains a folder; null if there is none. */
  openGit(folder: string, remote: string): Promise<GitRepository | null>
  /** Opens a PostgreSQL database; absent where none can be configured. */
  openDatabase?(config: DatabaseConfig): Database
}

/** Opened state, and the locks of its account. */
export interface OpenState {
  store: Store
  /** Files of the store, for copies of whole states. */
  files: StateFiles
  locks: Locks
  /** Election of the controller of the workspace; absent for stores without one. */
  leadership?: Leadership
  /** Notes for the user before relying on it. */
  notes: string[]
  /** Finds the folder of the state if it is inside the checkout of the workspace; else null. */
  findFolderInCheckout(): string | null
}

/**
 * Opens the state of a workspace: in git if the workspace is in a repository and configures no
 * other store, else in a folder.
 *
 * @throws EdgewiseError `usage` if the choice is ambiguous, `unavailable` if git is configured and
 *   cannot be used
 */
export async function openState(place: StateLocation, world: StateEnvironment): Promise<OpenState> {
  const { state } = place
  if (state.database !== undefined) {
    if (world.openDatabase === undefined) throw new TypeError('expected a way to open a database')
    return openInDatabase(place, world.openDatabase(state.database))
  }
  const git = state.store === 'dir' ? null : await findConfigured(place, world)
  if (git === null) return openInFolder(place, world)
  const { folder, files } = await openFolder(place, world)
  if (
    state.store === null &&
    (await files.listPaths(buildStatePaths(place).addresses)).length > 0
  ) {
    throw new EdgewiseError(
      'usage',
      `the folder ${folder} already has the state of "${place.id}", but in a git repository ` +
        'the default store is git',
      '"state: {store: dir}" in edgewise.yaml keeps that state. "state: {store: git}" begins ' +
        'with empty state, for which the next plan has every item as new.',
    )
  }
  return openInGit(place, world, git)
}

async function findConfigured(
  { root, state }: StateLocation,
  world: StateEnvironment,
): Promise<GitRepository | null> {
  if (state.store === null && findPlace(root) === null) return null
  const git = await world.openGit(root, state.remote)
  if (git === null && state.store === 'git') {
    throw new EdgewiseError(
      'usage',
      `edgewise.yaml configures the state store git, but ${root} is not in a git repository`,
      'Run "git init" there, or store the state in a folder: "state: {store: dir}".',
    )
  }
  if (git !== null && git.remote === null && state.remote !== 'origin') {
    throw new EdgewiseError(
      'usage',
      `edgewise.yaml configures the remote "${state.remote}" for the state, which the ` +
        'repository does not have',
      `Add it ("git remote add ${state.remote} ADDRESS"), or remove "remote" from edgewise.yaml.`,
    )
  }
  return git
}

/**
 * Refuses state behind a link of the checkout: a commit can bring one that leads anywhere.
 *
 * @throws EdgewiseError `usage`
 */
async function refuseLinks(root: string, folder: string, disk: Disk): Promise<void> {
  const link = (await disk.findLink?.(findCheckout(root) ?? root, folder)) ?? null
  if (link === null) return
  throw new EdgewiseError(
    'usage',
    `the state folder ${folder} is not used: ${link} is a symbolic link in the checkout, and a ` +
      'commit can bring one',
    'Remove the link. To store the state elsewhere, name that folder in edgewise.yaml: ' +
      '"state: {store: dir, path: …}".',
  )
}

/** Opens the files of the folder and the lock of the account. */
async function openFolder(
  { root, state, account, ...key }: StateLocation,
  { disk, processName }: StateEnvironment,
) {
  const folder = resolve(root, state.path)
  await refuseLinks(root, folder, disk)
  const path = join(folder, buildLockPath(key.address, account))
  const lock = createFolderRegister(disk, path, processName)
  const files = createFolderFiles(disk, folder, processName, lock, { ...key, account })
  return { folder, files, lock }
}

async function openInFolder(place: StateLocation, world: StateEnvironment): Promise<OpenState> {
  const { root, account, state: _state, ...key } = place
  const { folder, files, lock } = await openFolder(place, world)
  return {
    store: new FileStore(files, key, account, openUserCalls(key.address, account, world)),
    files,
    locks: createAccountLock(lock),
    notes: [],
    findFolderInCheckout: () => (isInside(findCheckout(root) ?? root, folder) ? folder : null),
  }
}

/**
 * Opens the calls that the folder stores of a user share: each store alone would allow the whole
 * call rate. An embedded emulator has a call rate of its own.
 */
function openUserCalls(
  address: string,
  account: string,
  { disk, processName, userFolder = null, note }: StateEnvironment,
): Register | null {
  if (userFolder === null || address === 'emulator') return null
  const folder = join(userFolder, buildUserBudgetPath(address, account))
  return createOptionalRegister(createFolderRegister(disk, folder, processName), (reason) =>
    note?.(
      `note: the call budget of the account "${account}" is not shared with other workspaces: ` +
        reason,
    ),
  )
}

function openInDatabase({ account, ...key }: StateLocation, database: Database): OpenState {
  const locks = new PostgresLocks(database, buildLockPath(key.address, account))
  const files = createPostgresFiles(database, locks)
  // Several applies may run at the same time: no calls belong to the store alone.
  const calls: CallStore = {
    loadCalls: async () => ({ calls: [], incomplete: false }),
    saveCalls: async () => undefined,
    openCallLedger: (_apply, _previous, here) =>
      openPostgresLedger(database, buildBudgetPath(key.address, account), here),
  }
  return {
    store: Object.assign(new FileStore(files, key, account), calls),
    files,
    locks,
    leadership: createLeadership(database, buildStatePaths(key).home),
    notes: [],
    findFolderInCheckout: () => null,
  }
}

function openInGit(
  { state, account, ...key }: StateLocation,
  { disk, processName }: StateEnvironment,
  git: GitRepository,
): OpenState {
  const paths = buildStatePaths(key)
  const budget = buildBudgetPath(key.address, account)
  const place = {
    branch: state.branch,
    home: paths.home,
    others: [paths.address, budget],
    early: [paths.domains, paths.open, paths.doubts, paths.rollouts, budget],
  }
  const files = new GitFiles(git, place, disk, processName)
  const explainMissing = async () =>
    git.remote === null || (await files.listTopFolders()).length > 0
      ? null
      : `the remote ${git.remote} has no branch ${state.branch}`
  return {
    store: Object.assign(new FileStore(files, key, account), { explainMissing }),
    files,
    locks: createAccountLock(createGitRegister(git, buildLockPath(key.address, account))),
    notes:
      git.remote === null
        ? [
            `The repository has no remote "${state.remote}": the state stays on its local ` +
              `branch ${state.branch}, invisible to other machines. ` +
              `"git remote add ${state.remote} URL" adds it.`,
          ]
        : [],
    findFolderInCheckout: () => null,
  }
}
