import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Authors } from '../../core/model/people/approvers.ts'
import { getRoot, inSpan } from '../../core/model/telemetry.ts'
import { createSerialQueue } from '../../state/store/serial-queue.ts'
import { findHeadCommit } from '../../state/git/open-git.ts'
import type { Machine } from '../../state/locks/machine.ts'
import {
  isCommitId,
  parseAddress,
  parseFolder,
  checkBranchName,
  chooseBranch,
} from '../http/address.ts'
import { CloneGit, type GitContext } from './clone-git.ts'
import { Clone } from './clone.ts'
import { findOrigin, findWorkspace } from './find-workspace.ts'
import { createProcessFolder, markProcessFolder } from './process-folder.ts'

/**
 * The followed branch of a repository. Its calls run one after another. Each throws EdgewiseError
 * `unavailable` if git or the remote fails, and after an interrupt.
 */
export interface Branch {
  /** Address without credentials, for logs. */
  readonly location: string
  readonly name: string
  /** Fetches the branch; returns the commit at its tip. */
  fetch(): Promise<string>
  /**
   * Checks a commit out, once until `keepOnly` removes it, and returns the folder of the workspace
   * in it. Fetches a commit that the clone lacks by its id, on any branch or none.
   *
   * @throws EdgewiseError `not-a-workspace` if there is no `edgewise.yaml`, or several
   */
  checkOut(commit: string): Promise<string>
  /** Checks a commit out, and keeps its folder until the work in it has ended. */
  hold<T>(commit: string, work: (root: string) => Promise<T>): Promise<T>
  /** Removes the folders of all commits that were checked out, except these and held ones. */
  keepOnly(commits: string[]): Promise<void>
  /**
   * Whether `ancestor` is an ancestor of `commit`, or the same: false if the branch was forced to
   * an older or unrelated commit.
   */
  isAncestor(ancestor: string, commit: string): Promise<boolean>
  /** Lists a commit that was fetched, and those before it on its branch, newest first. */
  listHistory(commit: string, max: number): Promise<string[]>
  /**
   * Finds the addresses of those who wrote the commits up to one: authors, committers and
   * co-authors. Merges do not count.
   *
   * @param after commits since any of which they count; null among them, or one that is not before
   *   the commit: since the beginning
   */
  findAuthors(after: readonly (string | null)[], commit: string): Promise<Authors>
  /** Removes the folders of this process. The clone is kept for the next one. */
  close(): Promise<void>
}

/** What to follow, and the outside. `env` is that of `buildGitEnvironment`. */
export interface BranchOptions extends GitContext {
  /** Address or path; null for the remote `origin` of the repository that contains `cwd`. */
  repository: string | null
  cwd: string
  /** Name; null for the branch of the remote's HEAD. */
  branch: string | null
  /**
   * Folder of the workspace within the repository. Null for the workspace of `cwd` if the
   * repository is null, too; else for that in the top folder, or the only one.
   */
  folder: string | null
  /** Folder for clones. Processes may share it. */
  dataFolder: string
  clock: { now(): number }
  machine: Machine
  newId(): string
}

/**
 * Opens a branch of a repository, with a clone of its own in the data folder.
 *
 * @throws EdgewiseError `usage` for an invalid address, name or folder, `unavailable` if the remote
 *   can't be read or has no such branch
 */
export async function openBranch(options: BranchOptions): Promise<Branch> {
  const { repository, cwd, env, machine, clock, newId } = options
  if (options.branch !== null) checkBranchName(options.branch)
  const given = options.folder === null ? null : parseFolder(options.folder)
  const origin = repository === null ? await findOrigin(cwd, env) : null
  const place = parseAddress(origin?.address ?? repository ?? '', origin?.top ?? cwd)
  const hash = createHash('sha256').update(place.location).digest('hex').slice(0, 32)
  const shared = join(resolve(cwd, options.dataFolder), hash)
  const own = await explainDisk(shared, async () =>
    realpathSync(await createProcessFolder(shared, newId(), machine, clock.now())),
  )
  const close = () => rm(own, { recursive: true, force: true })
  try {
    const git = await CloneGit.open(place, realpathSync(shared), options)
    const clone = new Clone(git, join(realpathSync(shared), 'clone'), own, newId)
    const { name } = chooseBranch(options.branch, await clone.listBranches(), place.location)
    const folder = given ?? origin?.folder ?? null
    return followBranch({ name, folder, own, clone, git, location: place.location }, options)
  } catch (error) {
    await close()
    throw error
  }
}

interface Parts {
  location: string
  name: string
  folder: string | null
  own: string
  clone: Clone
  git: CloneGit
}

/** Fetches a branch within a span, and adds the commit to its trace. */
export function fetchTraced(branch: Pick<Branch, 'fetch'>): Promise<string> {
  return inSpan('fetch branch', async () => {
    const commit = await branch.fetch()
    getRoot()?.setAttributes({ 'edgewise.commit': commit })
    return commit
  })
}

/** Attempts to fetch a branch that somebody else moves at the same time. */
const maxMoves = 3

/** Creates the branch, which others may copy: none of its methods needs `this`. */
function followBranch(parts: Parts, { clock, env }: BranchOptions): Branch {
  const { location, name, folder, own, clone, git } = parts
  const queue = createSerialQueue()
  const inTurn = <T>(work: () => Promise<T>) => queue(() => explainDisk(own, work))
  /** Folders of the workspace in the commits that are checked out. */
  const folders = new Map<string, string>()
  const tip: { commit: string | null } = { commit: null }
  const obtain = async (commit: string): Promise<void> => {
    if (!isCommitId(commit)) throw git.createAbsentError('of that id')
    if (!(await clone.obtain(commit, commit))) throw git.createAbsentError(commit)
  }
  const checkOut = async (commit: string): Promise<string> => {
    await obtain(commit)
    const checkout = join(own, commit)
    if (!existsSync(checkout)) await clone.checkOut(commit, checkout)
    const found = findWorkspace(checkout, folder, await clone.listFiles(commit), commit)
    // Plans name this commit as their basis.
    if ((await findHeadCommit(found, env)) !== commit) throw createUnfoundError(commit, checkout)
    folders.set(commit, found)
    return found
  }
  return holdCommits({
    location,
    name,
    // Not in turn: a remote that hangs delays nobody who needs what is here.
    fetch: () => explainDisk(own, () => fetchTip(parts, tip, clock)),
    checkOut: async (commit) => {
      const known = folders.get(commit)
      return known !== undefined && existsSync(known) ? known : inTurn(() => checkOut(commit))
    },
    keepOnly: (commits) =>
      inTurn(async () => {
        const kept = tip.commit === null ? commits : [...commits, tip.commit]
        const all = (await readdir(own)).filter(isCommitId)
        for (const other of all.filter((each) => !kept.includes(each))) {
          folders.delete(other)
          await rm(join(own, other), { recursive: true, force: true })
        }
        await clone.keepOnly(kept)
      }),
    isAncestor: (ancestor, commit) =>
      inTurn(async () => {
        if (!isCommitId(ancestor)) throw git.createAbsentError('of that id')
        await obtain(commit)
        return clone.isAncestor(ancestor, commit)
      }),
    listHistory: (commit, max) =>
      inTurn(async () => {
        await obtain(commit)
        return clone.listHistory(commit, max)
      }),
    findAuthors: (after, commit) =>
      inTurn(async () => {
        await obtain(commit)
        return clone.findAuthors(after, commit)
      }),
    close: () => inTurn(() => rm(own, { recursive: true, force: true })),
  })
}

/** Fetches the commit at the tip, which is kept from then on, whatever others remove. */
async function fetchTip(
  { clone, own, name, location }: Parts,
  kept: { commit: string | null },
  clock: BranchOptions['clock'],
): Promise<string> {
  await markProcessFolder(own, clock.now())
  await clone.removeLeftovers(clock.now())
  for (let attempt = 1; attempt <= maxMoves; attempt++) {
    const { tip } = chooseBranch(name, await clone.listBranches(), location)
    const before = kept.commit
    kept.commit = tip
    if (await clone.obtain(tip, `refs/heads/${name}`)) return tip
    kept.commit = before
  }
  throw new EdgewiseError(
    'unavailable',
    `the branch ${name} of ${location} moved each time that it was fetched`,
    'Fetch it again later.',
  )
}

function createUnfoundError(commit: string, checkout: string): EdgewiseError {
  return new EdgewiseError(
    'unavailable',
    `git does not find the commit ${commit} in ${checkout}`,
    'Check that the data folder belongs to the user of this process: "git status" must work.',
  )
}

/** Turns a failure of the file system, such as a full disk, into an error with advice. */
async function explainDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error
    throw new EdgewiseError(
      'unavailable',
      `the data folder ${folder} can't be used: ${String(error.code)}`,
      'Check its owner, its access mode and the free space, or pass another folder with --data.',
    )
  }
}

/** Adds the commits that are held to those that a branch keeps. */
export function holdCommits(branch: Omit<Branch, 'hold'>): Branch {
  const held: string[] = []
  return {
    ...branch,
    keepOnly: (commits) => branch.keepOnly([...commits, ...held]),
    hold: async (commit, work) => {
      held.push(commit)
      try {
        return await work(await branch.checkOut(commit))
      } finally {
        held.splice(held.indexOf(commit), 1)
      }
    },
  }
}
