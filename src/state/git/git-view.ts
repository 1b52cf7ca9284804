import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { GitRepository } from './git-repository.ts'

/** Says to people what the branch is, and to us that it is ours. */
export const readmePath = 'README.md'
export const readmeText = `# A record of Edgewise

What Edgewise recorded of its own confirmed writes, one file a domain. Nothing here is to be edited by hand: see
"edgewise state --help". The messages of this branch tell every apply.
`

/** Where in a repository a record is, and what of it is its own. */
export interface GitLocation {
  branch: string
  /** The record's own folder, which nobody else may change while its lock is held. */
  home: string
  /** Other paths that only it writes. */
  others: string[]
}

/** The commits that this process works with. */
export interface BranchView {
  /** What it reads, and writes on top of. */
  tip: string | null
  /** Where the branch is in this repository, as last seen. */
  local: string | null
  /** Where it is on the remote, as last seen; the tip has it in its history. */
  shared: string | null
}

/** The branch's ref. */
export function buildBranchRef({ branch }: GitLocation): string {
  return `refs/heads/${branch}`
}

/**
 * Where the branch is. What is only here are outcomes that a process could not push any more; they
 * count unless somebody else has written since, who then knows these writes to be in doubt.
 *
 * @throws EdgewiseError `record-moved` when it can't be told which commit is right, `usage` when
 * the branch holds something else
 */
export async function loadView(git: GitRepository, place: GitLocation): Promise<BranchView> {
  const ref = buildBranchRef(place)
  const local = await git.findTip(ref)
  const shared = git.remote === null ? null : await git.fetch(ref)
  if (git.remote !== null && local !== null && shared === null) await refuseGone(git, place)
  const view = { tip: await tipOf(git, place, local, shared), local, shared }
  if (view.tip !== null) await refuseOther(git, place, view.tip)
  return view
}

async function tipOf(
  git: GitRepository,
  { branch }: GitLocation,
  local: string | null,
  shared: string | null,
): Promise<string | null> {
  if (local === null || shared === null) return shared ?? local
  const base = await git.findMergeBase(local, shared)
  if (base === null) {
    throw new EdgewiseError(
      'record-moved',
      `the branch ${branch} here and that of ${git.remote} have nothing in common: both hold a record of their own`,
      `Decide which one is right. "git branch -m ${branch} old-${branch}" puts the one of this clone aside.`,
    )
  }
  return base === shared ? local : shared
}

/**
 * A copy here of what the remote has lost may be older than that was: what it says of the service
 * may long be wrong.
 */
async function refuseGone(git: GitRepository, place: GitLocation): Promise<void> {
  const { branch } = place
  if ((await git.findLastSeen(buildBranchRef(place))) === null) return
  throw new EdgewiseError(
    'record-moved',
    `the branch ${branch} was on the remote ${git.remote} and is gone; the copy in this clone may be older than it was`,
    `Find the newest copy ("git log ${branch}" in each clone) and push it: "git push ${git.remote} ${branch}". To begin a new record, put the copy here aside: "git branch -m ${branch} old-${branch}".`,
  )
}

/** A branch that somebody named by mistake, and that holds their work, is not written to. */
async function refuseOther(
  git: GitRepository,
  { branch }: GitLocation,
  tip: string,
): Promise<void> {
  const text = (await git.loadFiles(tip, readmePath)).get(readmePath)
  if (text?.split('\n')[0] === readmeText.split('\n')[0]) return
  throw new EdgewiseError(
    'usage',
    `the branch ${branch} holds something else than a record`,
    'Name another one in edgewise.yaml under "state.branch"; the default is edgewise-state.',
  )
}
