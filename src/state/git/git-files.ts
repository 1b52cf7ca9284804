import { join } from 'node:path'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Disk } from '../folder/disk.ts'
import { DurableFolders } from '../folder/durable-folders.ts'
import type { Changes, GitRepository } from './git-repository.ts'
import {
  loadView,
  buildBranchRef,
  readmePath,
  readmeText,
  type GitLocation,
  type BranchView,
} from './git-view.ts'
import { createSerialQueue } from '../serial-queue.ts'
import type { StateFiles } from '../state-files.ts'
import { writeFilesDurably, type FileChanges } from '../folder/write-file.ts'

const mostRaces = 8

/**
 * Records on a branch. What is written is committed here; what is published or shared is on the
 * remote as well.
 */
export function createGitFiles(
  repository: GitRepository,
  place: GitLocation,
  disk: Disk,
  temporary: string,
): StateFiles {
  const files = new GitFiles(repository, place, disk, temporary)
  return {
    location: files.location,
    describePath: (path) => `${place.branch}:${path}`,
    refresh: () => files.lookAgain(),
    load: (path) => files.read(path),
    write: (steps, message) => files.write(steps, message),
    publish: (steps, message) => files.publish(steps, message),
    saveLocally: (path, text) => files.jot(path, text),
    loadLocalAndShared: (path) => files.jotted(path),
    share: repository.remote === null ? null : () => files.share(),
  }
}

class GitFiles {
  readonly location: string
  readonly #git: GitRepository
  readonly #place: GitLocation
  readonly #ref: string
  readonly #disk: Disk
  readonly #temporary: string
  readonly #turn = createSerialQueue()
  readonly #made: DurableFolders
  readonly #jots = new Map<string, string>()
  #view: Promise<BranchView> | null = null

  constructor(git: GitRepository, place: GitLocation, disk: Disk, temporary: string) {
    this.#git = git
    this.#place = place
    this.#ref = buildBranchRef(place)
    this.#disk = disk
    this.#made = new DurableFolders(disk, git.commonFolder)
    this.#temporary = temporary
    this.location = `branch ${place.branch}${git.remote === null ? '' : ` of ${git.remote}`}`
  }

  /**
   * What was jotted down before may be older than what others have told since; this machine has it
   * in a file of its own.
   */
  lookAgain(): void {
    this.#view = null
    this.#jots.clear()
  }

  async read(path: string): Promise<Map<string, string>> {
    const { tip } = await this.#looked()
    return tip === null ? new Map() : this.#git.loadFiles(tip, path)
  }

  write(steps: FileChanges[], message: string): Promise<void> {
    return this.#turn(async () => {
      const view = await this.#looked()
      view.tip = await this.#git.commit(view.tip, this.#changes(view.tip, steps), message)
      await this.#moveLocal(view)
    })
  }

  publish(steps: FileChanges[], message: string): Promise<void> {
    if (this.#git.remote === null) return this.write(steps, message)
    return this.#turn(async () => {
      const view = await this.#looked()
      const before = view.tip
      await this.#refuseImmovable(view)
      try {
        view.tip = await this.#git.commit(view.tip, this.#changes(view.tip, steps), message)
        await this.#push(view, message)
      } catch (error) {
        view.tip = before
        throw error
      }
      await this.#moveLocal(view)
    })
  }

  share(): Promise<void> {
    return this.#turn(async () => {
      const view = await this.#looked()
      if (view.tip === view.shared) return
      await this.#push(view, 'Outcomes recorded before')
      await this.#moveLocal(view)
    })
  }

  async jot(path: string, text: string): Promise<void> {
    this.#jots.set(path, text)
    await this.#turn(() =>
      writeFilesDurably(
        this.#disk,
        this.#made,
        new Map([[this.#jotPath(path), text]]),
        this.#temporary,
      ),
    )
  }

  async jotted(path: string): Promise<{ here: string | null; shared: string | null }> {
    const here = await this.#disk.read(this.#jotPath(path))
    return { here, shared: (await this.read(path)).get(path) ?? null }
  }

  #jotPath(path: string): string {
    return join(this.#git.commonFolder, 'edgewise', path)
  }

  /** All steps in one commit, and the latest of what changes all the time. */
  #changes(tip: string | null, steps: FileChanges[]): Changes {
    const first = new Map(tip === null ? [[readmePath, readmeText]] : [])
    return new Map([...first, ...this.#jots, ...steps.flatMap((step) => [...step])])
  }

  #looked(): Promise<BranchView> {
    this.#view ??= loadView(this.#git, this.#place)
    return this.#view
  }

  /** Pushes the tip; when others were faster, on top of what they wrote. */
  async #push(view: BranchView, message: string): Promise<void> {
    const git = this.#git
    for (let race = 0; race < mostRaces; race++) {
      if (await git.push(this.#ref, view.shared, view.tip)) {
        view.shared = view.tip
        return
      }
      const winner = await git.fetch(this.#ref)
      await this.#refuseForeign(view.shared, winner)
      view.tip = await git.commit(winner, await this.#own(view.tip), message)
      view.shared = winner
    }
    throw new EdgewiseError(
      'record-unreachable',
      `the branch ${this.#place.branch} of ${git.remote} moved ${mostRaces} times while it was written to`,
      'Run the same command again when fewer others write to it.',
    )
  }

  /**
   * What can't be recorded here is not announced to others: a branch that is checked out, say, or a
   * full disk.
   */
  async #refuseImmovable({ local }: BranchView): Promise<void> {
    if (local !== null) await this.#git.move(this.#ref, local, local)
  }

  /**
   * Moves the branch of this repository to the tip. With a remote it is a copy; without one it is
   * the record itself.
   */
  async #moveLocal(view: BranchView): Promise<void> {
    const git = this.#git
    for (let race = 0; race < mostRaces; race++) {
      if (await git.move(this.#ref, view.local, view.tip)) {
        view.local = view.tip
        return
      }
      const winner = await git.findTip(this.#ref)
      if (git.remote === null) {
        await this.#refuseForeign(view.local, winner)
        view.tip = await git.commit(
          winner,
          await this.#own(view.tip),
          'Record on top of another one',
        )
      }
      view.local = winner
    }
    throw new EdgewiseError(
      'record-moved',
      `the branch ${this.#place.branch} moves faster than it can be written to`,
    )
  }

  /** What this record has at its own paths. */
  async #own(commit: string | null): Promise<Changes> {
    const own = new Map<string, { id: string } | null>()
    for (const path of [readmePath, this.#place.home, ...this.#place.others]) {
      const id = commit === null ? null : await this.#git.findId(commit, path)
      own.set(path, id === null ? null : { id })
    }
    return own
  }

  async #refuseForeign(before: string | null, now: string | null): Promise<void> {
    const { home, branch } = this.#place
    const was = before === null ? null : await this.#git.findId(before, home)
    const is = now === null ? null : await this.#git.findId(now, home)
    if (was === is) return
    throw new EdgewiseError(
      'record-moved',
      `somebody else has written to this record (${home} on the branch ${branch}) meanwhile, though its lock was held here`,
      'Look who holds the lock now ("edgewise state unlock" says so), and run the same command again.',
    )
  }
}
