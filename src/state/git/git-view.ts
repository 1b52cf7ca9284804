import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { FileChanges } from '../folder/write-file.ts'
import type { SharedFiles } from '../state-files.ts'
import type { GitRepository } from './git-repository.ts'
import { fetchTips } from './shared-tip.ts'

/** Explains the branch to people, and identifies it as state of Edgewise by its first line. */
export const readmePath = 'README.md'
export const readmeText = `# A record of Edgewise

The state that Edgewise recorded of its own confirmed writes, one file for each domain.
Do not edit it by hand: see "edgewise state --help".
The commit messages of this branch describe every apply.
`

/** Location of the state in a repository. */
export interface GitLocation {
  branch: string
  /** Folder of this state, which no other process may change while its lock is in use. */
  home: string
  /** Other paths that only this state writes. */
  others: string[]
  /** Paths that most commands load: they are loaded at once. */
  early: string[]
}

/** Commits that this process works with. */
export interface BranchView {
  /** Commit to read, and to write on top of. */
  tip: string | null
  /** Last seen commit of the branch in this repository. */
  local: string | null
  /** Last seen commit of the branch on the remote; the tip has it in its history. */
  shared: string | null
  /** Outcomes of this repository that can't be kept, since another process has written; or null. */
  dropped: Dropped | null
}

/** Commits that only this repository has: those of `tip` after `base`. */
interface Dropped {
  base: string
  tip: string
}

/** Builds the ref of the branch. */
export function buildBranchRef({ branch }: GitLocation): string {
  return `refs/heads/${branch}`
}

/** Reads the files of all workspaces in a commit; none without a commit. */
export function readCommit(
  git: GitRepository,
  { branch }: GitLocation,
  commit: string | null,
): SharedFiles {
  return {
    describePath: (path) => `${branch}:${path}`,
    listTopFolders: async () => (commit === null ? [] : git.listTopFolders(commit)),
    listPaths: async (path) => (commit === null ? [] : git.listPaths(commit, path)),
    load: async (path) => (commit === null ? new Map() : git.loadFiles(commit, path)),
  }
}

/** Finds the changed paths of another state. */
export function findForeignPaths({ home, others }: GitLocation, steps: FileChanges[]): string[] {
  const paths = steps.flatMap((step) => [...step.keys()])
  return paths.filter((path) => !path.startsWith(`${home}/`) && !others.includes(path))
}

/**
 * Finds the commits of the branch. Commits that exist only here are outcomes that a process could
 * not push. They count unless another process has written since: it then treats these writes as
 * in-doubt.
 *
 * @throws EdgewiseError `record-moved` if it is unclear which commit is right, `state-rewound` if
 *   the remote lost commits, `usage` if the branch contains something else
 */
export async function loadView(git: GitRepository, place: GitLocation): Promise<BranchView> {
  const ref = buildBranchRef(place)
  const { local, shared } =
    git.remote === null
      ? { local: await git.findTip(ref), shared: null }
      : await fetchTips(git, ref)
  const view = { ...(await chooseTip(git, place, local, shared)), local, shared }
  if (view.tip !== null) await refuseOther(git, place, view.tip)
  return view
}

async function chooseTip(
  git: GitRepository,
  { branch }: GitLocation,
  local: string | null,
  shared: string | null,
): Promise<Pick<BranchView, 'tip' | 'dropped'>> {
  if (local === null || shared === null || local === shared)
    return { tip: shared ?? local, dropped: null }
  const base = await git.findMergeBase(local, shared)
  if (base === null) {
    throw new EdgewiseError(
      'record-moved',
      `the branch ${branch} of this clone and that of ${git.remote} have no common history: ` +
        'each has its own state',
      `Decide which one is right. "git branch -m ${branch} old-${branch}" sets aside the one ` +
        'of this clone.',
    )
  }
  if (base === shared) return { tip: local, dropped: null }
  return { tip: shared, dropped: base === local ? null : { base, tip: local } }
}

/** Lists the files of a folder that differ from the tip because commits were dropped. */
export async function listDropped(
  git: GitRepository,
  place: GitLocation,
  { dropped, tip }: BranchView,
  folder: string,
): Promise<string[]> {
  if (dropped === null) return []
  const load = (commit: string | null) => readCommit(git, place, commit).load(folder)
  const [before, here, kept] = [await load(dropped.base), await load(dropped.tip), await load(tip)]
  const paths = [...here.keys()]
  return paths.filter(
    (path) => here.get(path) !== before.get(path) && here.get(path) !== kept.get(path),
  )
}

/**
 * Refuses a branch with other contents: it was configured by mistake and has the work of other
 * people.
 */
async function refuseOther(
  git: GitRepository,
  { branch, early }: GitLocation,
  tip: string,
): Promise<void> {
  const text = (await git.loadFiles(tip, readmePath, ...early)).get(readmePath)
  if (text?.split('\n')[0] === readmeText.split('\n')[0]) return
  throw new EdgewiseError(
    'usage',
    `the branch ${branch} does not contain Edgewise state`,
    'Set another branch in edgewise.yaml under "state.branch"; the default is edgewise-state.',
  )
}

/**
 * Finds the last commit that the tip and a faster push have in common. Another process of this
 * clone may have pushed commits of this one.
 */
export async function findCommon(
  git: GitRepository,
  { tip, shared }: BranchView,
  winner: string | null,
): Promise<string | null> {
  return tip === null || winner === null ? shared : git.findMergeBase(tip, winner)
}

/**
 * Refuses a commit in which another process has changed this state.
 *
 * @throws EdgewiseError `record-moved`
 */
export async function refuseForeign(
  git: GitRepository,
  { home, branch }: GitLocation,
  before: string | null,
  now: string | null,
): Promise<void> {
  const was = before === null ? null : await git.findId(before, home)
  const is = now === null ? null : await git.findId(now, home)
  if (was === is) return
  throw new EdgewiseError(
    'record-moved',
    `another process has written this state (${home} on the branch ${branch}) during the command`,
    'If its lock was removed ("edgewise state unlock"), that is expected. Run the same command ' +
      'again when no other command changes the state.',
  )
}
