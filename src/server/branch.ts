import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { createSerialQueue } from '../state/serial-queue.ts'
import { findHeadCommit } from '../state/git/open-git.ts'
import type { Machine } from '../state/machine.ts'
import { isCommitId, parseAddress, parseFolder } from './address.ts'
import { checkBranchName, chooseBranch } from './branch-name.ts'
import { CloneGit, type GitContext } from './clone-git.ts'
import { Clone } from './clone.ts'
import { findOrigin } from './find-origin.ts'
import { findWorkspace } from './find-workspace.ts'
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
  /** Removes the folders of all commits that were checked out, except these. */
  keepOnly(commits: string[]): Promise<void>
  /**
   * Whether `ancestor` is an ancestor of `commit`, or the same: false if the branch was forced to
   * an older or unrelated commit.
   */
  isAncestor(ancestor: string, commit: string): Promise<boolean>
  /** Lists a commit that was fetched, and those before it on its branch, newest first. */
  listHistory(commit: string, max: number): Promise<string[]>
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
    return new FollowedBranch({ name, folder, own, clone, git, ...place }, options)
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

/** Attempts to fetch a branch that somebody else moves at the same time. */
const maxMoves = 3

class FollowedBranch implements Branch {
  readonly location: string
  readonly name: string
  readonly #parts: Parts
  readonly #options: BranchOptions
  readonly #queue = createSerialQueue()
  #tip: string | null = null

  constructor(parts: Parts, options: BranchOptions) {
    this.location = parts.location
    this.name = parts.name
    this.#parts = parts
    this.#options = options
  }

  fetch(): Promise<string> {
    return this.#inTurn(async () => {
      const { clone, own } = this.#parts
      await markProcessFolder(own, this.#options.clock.now())
      for (let attempt = 1; attempt <= maxMoves; attempt++) {
        const { tip } = chooseBranch(this.name, await clone.listBranches(), this.location)
        if (await clone.obtain(tip, `refs/heads/${this.name}`)) return (this.#tip = tip)
      }
      throw new EdgewiseError(
        'unavailable',
        `the branch ${this.name} of ${this.location} moved each time that it was fetched`,
        'Fetch it again later.',
      )
    })
  }

  checkOut(commit: string): Promise<string> {
    return this.#inTurn(async () => {
      const { clone, folder, own } = this.#parts
      await this.#obtain(commit)
      const checkout = join(own, commit)
      if (!existsSync(checkout)) await clone.checkOut(commit, checkout)
      const found = findWorkspace(checkout, folder, await clone.listFiles(commit), commit)
      // Plans name this commit as their basis.
      if ((await findHeadCommit(found, this.#options.env)) === commit) return found
      throw new EdgewiseError(
        'unavailable',
        `git does not find the commit ${commit} in ${checkout}`,
        'Check that the data folder belongs to the user of this process: "git status" must work.',
      )
    })
  }

  keepOnly(commits: string[]): Promise<void> {
    return this.#inTurn(async () => {
      const { own, clone } = this.#parts
      const others = (await readdir(own)).filter(
        (name) => name !== 'process.json' && !commits.includes(name),
      )
      for (const name of others) await rm(join(own, name), { recursive: true, force: true })
      await clone.keepOnly(this.#tip === null ? commits : [...commits, this.#tip])
    })
  }

  isAncestor(ancestor: string, commit: string): Promise<boolean> {
    return this.#inTurn(async () => {
      if (!isCommitId(ancestor)) throw this.#parts.git.createAbsentError('of that id')
      await this.#obtain(commit)
      return this.#parts.clone.isAncestor(ancestor, commit)
    })
  }

  listHistory(commit: string, max: number): Promise<string[]> {
    return this.#inTurn(async () => {
      await this.#obtain(commit)
      return this.#parts.clone.listHistory(commit, max)
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue(() => explainDisk(this.#parts.own, work))
  }

  close(): Promise<void> {
    return this.#inTurn(() => rm(this.#parts.own, { recursive: true, force: true }))
  }

  async #obtain(commit: string): Promise<void> {
    const { clone, git } = this.#parts
    if (!isCommitId(commit)) throw git.createAbsentError('of that id')
    if (!(await clone.obtain(commit, commit))) throw git.createAbsentError(commit)
  }
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
