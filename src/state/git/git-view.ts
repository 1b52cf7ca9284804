import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { FileChanges } from '../folder/write-file.ts'
import type { LocalChanges, SharedFiles } from '../store/state-files.ts'
import type { Changes, GitRepository } from './git-repository.ts'
import type { OutcomeLog } from './outcome-log.ts'
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

/** Commits that only this repository has: those of `tip` after `base`, or all of them. */
interface Dropped {
  base: string | null
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
    load: async (...paths) =>
      commit === null || paths.length === 0 ? new Map() : git.loadFiles(commit, ...paths),
  }
}

/** Finds the changed paths of another state. */
export function findForeignPaths({ home, others }: GitLocation, steps: FileChanges[]): string[] {
  const paths = steps.flatMap((step) => [...step.keys()])
  return paths.filter((path) => !path.startsWith(`${home}/`) && !others.includes(path))
}

/**
 * Finds the commits of the branch. Commits that exist only here are outcomes that a process could
 * not push. They count unless another process has written this state since: it then treats these
 * writes as in-doubt.
 *
 * @throws EdgewiseError `record-moved` if it is unclear which commit is right, `state-rewound` if
 *   the remote lost commits, `usage` if the branch contains something else
 */
export async function loadView(
  git: GitRepository,
  place: GitLocation,
  log: OutcomeLog,
): Promise<BranchView> {
  const ref = buildBranchRef(place)
  const { local, shared } =
    git.remote === null
      ? { local: await git.findTip(ref), shared: null }
      : await fetchTips(git, ref)
  const view = { ...(await chooseTip(git, place, await log.commit(local), shared)), local, shared }
  if (view.tip !== null) await refuseOther(git, place, view.tip)
  return view
}

async function chooseTip(
  git: GitRepository,
  place: GitLocation,
  local: string | null,
  shared: string | null,
): Promise<Pick<BranchView, 'tip' | 'dropped'>> {
  const { branch } = place
  if (local === null || shared === null || local === shared)
    return { tip: shared ?? local, dropped: null }
  const base = await git.findMergeBase(local, shared)
  if (base === null && !(await hasOnlyHistory(git, local))) {
    throw new EdgewiseError(
      'record-moved',
      `the branch ${branch} of this clone and that of ${git.remote} have no common history: ` +
        'each has its own state',
      `Decide which one is right. "git branch -m ${branch} old-${branch}" sets aside the one ` +
        'of this clone.',
    )
  }
  if (base === shared) return { tip: local, dropped: null }
  if (base === local) return { tip: shared, dropped: null }
  const tip = await addOwnContents(git, place, { base, local, shared })
  return { tip, dropped: { base, tip: local } }
}

/** Adds this state of the clone to the shared commit, unless it has changed there. */
async function addOwnContents(
  git: GitRepository,
  { home, others }: GitLocation,
  { base, local, shared }: { base: string | null; local: string; shared: string },
): Promise<string> {
  const before = base === null ? null : await git.findId(base, home)
  if ((await git.findId(shared, home)) !== before) return shared
  if ((await git.findId(local, home)) === before) return shared
  const own = await findContents(git, local, [readmePath, home, ...others])
  return git.commit(shared, own, 'Outcomes recorded before')
}

/** Finds the contents of a commit at some paths; null where it has none. */
export async function findContents(
  git: GitRepository,
  commit: string | null,
  paths: string[],
): Promise<Changes> {
  const found = new Map<string, { id: string } | null>()
  for (const path of paths) {
    const id = commit === null ? null : await git.findId(commit, path)
    found.set(path, id === null ? null : { id })
  }
  return found
}

/** Files of addresses, traffic, applies and the chained history. */
const historic =
  /^[^/]+\/(?:(?:addresses|traffic|unlocks|[^/]+\/(?:journal|chain-\d+))\/|[^/]+\/chain\.json$)/

/**
 * Tests whether a commit records only traffic, and applies that ended without a write, from before
 * the branch was on the remote.
 */
async function hasOnlyHistory(git: GitRepository, commit: string): Promise<boolean> {
  for (const folder of await git.listTopFolders(commit))
    for (const path of await git.listPaths(commit, folder)) if (!historic.test(path)) return false
  return true
}

/**
 * Lists the journal entries of all workspaces that a commit of this repository changed, and that
 * are different in another commit.
 */
export async function listLocalChanges(
  git: GitRepository,
  base: string | null,
  mine: string,
  other: string | null,
): Promise<LocalChanges> {
  const load = async (commit: string | null, folder: string) =>
    commit === null ? new Map<string, string>() : git.loadFiles(commit, folder)
  const paths: string[] = []
  for (const folder of await listJournals(git, mine)) {
    const [before, after] = [await load(base, folder), await load(other, folder)]
    for (const [path, text] of await load(mine, folder))
      if (text !== before.get(path) && text !== after.get(path)) paths.push(path)
  }
  return { paths, commit: paths.length === 0 ? null : mine }
}

async function listJournals(git: GitRepository, commit: string): Promise<Set<string>> {
  const folders = new Set<string>()
  for (const workspace of await git.listTopFolders(commit))
    for (const path of await git.listPaths(commit, workspace)) {
      const [folder] = /^[^/]+\/[^/]+\/journal\b/.exec(path) ?? []
      if (folder !== undefined) folders.add(folder)
    }
  return folders
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
