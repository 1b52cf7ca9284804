import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  buildBudgetPath,
  buildLockPath,
  buildStatePaths,
  buildStopPath,
} from '../format/state-paths.ts'
import { createAccountLock } from '../locks/locks.ts'
import { openAccountStop } from '../store/account-stop.ts'
import { FileStore } from '../store/file-store.ts'
import type { OpenState, StateEnvironment, StateLocation } from '../store/store-opener.ts'
import { GitFiles } from './git-files.ts'
import { createGitRegister } from './git-register.ts'
import type { GitRepository } from './git-repository.ts'

/**
 * Opens the state of a workspace on a branch of its repository.
 *
 * @throws EdgewiseError `usage` without the repository or the remote, `unavailable` if git can't be
 *   used
 */
export async function openInGit(place: StateLocation, world: StateEnvironment): Promise<OpenState> {
  const git = await findConfigured(place, world)
  if (git === null) {
    throw new EdgewiseError(
      'usage',
      `edgewise.yaml configures the state store git, but ${place.root} is not in a git repository`,
      'Run "git init" there, or store the state in a folder: "state: {store: dir}".',
    )
  }
  return openInRepository(place, world, git)
}

/**
 * Finds the repository that contains the workspace; null if there is none.
 *
 * @throws EdgewiseError `usage` without the remote, `unavailable` if git cannot be used
 */
export async function findConfigured(
  { root, state }: Pick<StateLocation, 'root' | 'state'>,
  world: Pick<StateEnvironment, 'openGit'>,
): Promise<GitRepository | null> {
  const git = await world.openGit(root, state.remote)
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

/** Opens the state of a workspace on a branch of this repository. */
export function openInRepository(
  { state, account, ...key }: StateLocation,
  { disk, processName }: StateEnvironment,
  git: GitRepository,
): OpenState {
  const paths = buildStatePaths(key)
  const budget = buildBudgetPath(key.address, account)
  const { domains, open, doubts, rollouts, trafficFolder, chainHead, unlocks, restraints } = paths
  const place = {
    branch: state.branch,
    home: paths.home,
    others: [paths.address, budget],
    early: [domains, open, doubts, rollouts, trafficFolder, chainHead, unlocks, budget, restraints],
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
    accountStop: openAccountStop(
      createGitRegister(git, buildStopPath(key.address, account), 'Stop'),
      'git',
    ),
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
