import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { StateConfig } from '../model/config.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { createFolderFiles } from './folder/folder-files.ts'
import { createFolderRegister } from './folder/folder-register.ts'
import type { Disk } from './folder/disk.ts'
import { openFileStore } from './file-store.ts'
import { createGitFiles } from './git/git-files.ts'
import { createGitRegister } from './git/git-register.ts'
import type { GitRepository } from './git/git-repository.ts'
import type { StateKey, Store } from './store.ts'
import { buildBudgetPath, buildLockPath, buildStatePaths } from './format/state-paths.ts'
import type { Register } from './register.ts'

/** Which record a workspace has, and where it says that it is kept. */
export interface StateLocation extends StateKey {
  /** The workspace's folder. */
  root: string
  account: string
  state: StateConfig
}

/** What a record is kept with. */
export interface StateEnvironment {
  disk: Disk
  /** Names this process among all that may write to the same folder. */
  processName: string
  /** The repository that a folder lies in; null where there is none. */
  openGit(folder: string, remote: string): Promise<GitRepository | null>
}

/** A record, and the lock of its account. */
export interface OpenState {
  store: Store
  lock: Register
  /** Sentences that the user should know before relying on it. */
  notes: string[]
}

/**
 * Opens the record of a workspace: in git, where it lies in a repository and names nothing else,
 * else in a folder.
 *
 * @throws EdgewiseError `usage` when the choice is not clear, `unavailable` when git is asked for
 * and can't be used
 */
export async function openState(place: StateLocation, world: StateEnvironment): Promise<OpenState> {
  const { root, state } = place
  const git = state.store === 'dir' ? null : await repositoryOf(place, world)
  if (git === null) return inFolder(place, world)
  const folder = resolve(root, state.path)
  if (
    state.store === null &&
    (await world.disk.exists(join(folder, buildStatePaths(place).addresses)))
  ) {
    throw new EdgewiseError(
      'usage',
      `the folder ${folder} holds a record of "${place.id}", and the workspace lies in a git repository, where records go by default`,
      'Say in edgewise.yaml which one counts: "state: {store: dir}" or "state: {store: git}".',
    )
  }
  return inGit(place, world, git)
}

async function repositoryOf(
  { root, state }: StateLocation,
  world: StateEnvironment,
): Promise<GitRepository | null> {
  if (state.store === null && !insideRepository(root)) return null
  const git = await world.openGit(root, state.remote)
  if (git === null && state.store === 'git') {
    throw new EdgewiseError(
      'usage',
      `edgewise.yaml keeps the record in git, and ${root} lies in no git repository`,
      'Run "git init" there, or keep the record in a folder: "state: {store: dir}".',
    )
  }
  if (git !== null && git.remote === null && state.remote !== 'origin') {
    throw new EdgewiseError(
      'usage',
      `edgewise.yaml shares the record by the remote "${state.remote}", which the repository does not have`,
      `Add it ("git remote add ${state.remote} ADDRESS"), or take "remote" out of edgewise.yaml.`,
    )
  }
  return git
}

/**
 * Whether a folder seems to lie in a repository: asks no git, which need not be installed where
 * there is none.
 */
function insideRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (
      existsSync(join(at, '.git')) ||
      (existsSync(join(at, 'HEAD')) && existsSync(join(at, 'objects')))
    )
      return true
    if (at === dirname(at)) return false
  }
}

function inFolder(
  { root, state, account, ...key }: StateLocation,
  { disk, processName }: StateEnvironment,
): OpenState {
  const folder = resolve(root, state.path)
  const lock = createFolderRegister(
    disk,
    join(folder, buildLockPath(key.address, account)),
    processName,
  )
  return {
    store: openFileStore(createFolderFiles(disk, folder, processName, lock), key, account),
    lock,
    notes: [],
  }
}

function inGit(
  { state, account, ...key }: StateLocation,
  { disk, processName }: StateEnvironment,
  git: GitRepository,
): OpenState {
  const paths = buildStatePaths(key)
  const place = {
    branch: state.branch,
    home: paths.home,
    others: [paths.address, buildBudgetPath(key.address, account)],
  }
  return {
    store: openFileStore(createGitFiles(git, place, disk, processName), key, account),
    lock: createGitRegister(git, buildLockPath(key.address, account)),
    notes:
      git.remote === null
        ? [
            `The repository has no remote "${state.remote}": the record stays on its branch ${state.branch}, where no other machine sees it.`,
          ]
        : [],
  }
}
