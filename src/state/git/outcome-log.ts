import { join } from 'node:path'
import { append } from '../../core/model/lists.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Disk } from '../folder/disk.ts'
import { formatOutcomes, parseOutcomes, type UncommittedChanges } from '../format/log-file.ts'
import type { GitRepository } from './git-repository.ts'
import { joinMessages } from './messages.ts'
import type { DurableFolders } from '../folder/write-file.ts'

/**
 * Changes of a state that this clone has recorded and not committed yet: lines of a file, of which
 * one sync makes each durable. A commit has many of them, since git syncs some twenty objects for
 * each.
 *
 * Names of files begin with the id of the state's folder in the commit that they follow. They count
 * only while the branch of this clone has that id: a commit that has them changes it. A process
 * adds to no file of another, whose last line may be cut off: it begins the one with the next
 * number.
 */
export class OutcomeLog {
  readonly #git: GitRepository
  readonly #disk: Disk
  readonly #folders: DurableFolders
  readonly #home: string
  readonly #folder: string
  /** Files of the folder, also those that count no more. */
  #names = new Set<string>()
  /** Id of the state's folder in the commit of the branch; null if not known yet. */
  #base: string | null = null
  /** Number of changes on top of the commit of the branch, and of the last file with some. */
  #count = 0
  #last = 0
  /** File of this process, whose last line is whole; null without one. */
  #open: string | null = null

  constructor(git: GitRepository, home: string, disk: Disk, folders: DurableFolders) {
    this.#git = git
    this.#disk = disk
    this.#folders = folders
    this.#home = home
    this.#folder = join(git.commonFolder, 'edgewise', 'outcomes', home)
  }

  /** Whether no changes were recorded on top of the commit of the branch. */
  get isEmpty(): boolean {
    return this.#count === 0
  }

  /**
   * Creates a commit of the changes that follow the commit of this clone's branch, without moving
   * the branch. Returns that commit if there are none.
   *
   * @throws EdgewiseError `record-damaged`
   */
  async commit(tip: string | null): Promise<string | null> {
    const changes = await this.#load(tip)
    if (changes.length === 0) return tip
    const { files, message } = joinChanges(changes)
    return this.#git.commit(tip, files, message)
  }

  async #load(commit: string | null): Promise<UncommittedChanges[]> {
    this.#forget()
    const found = await this.#disk.list(this.#folder)
    this.#names = new Set(found.filter((name) => name.endsWith('.jsonl')).toSorted())
    if (commit === null || this.#names.size === 0) return []
    const base = await this.#findBase(commit)
    const loaded: UncommittedChanges[] = []
    for (;;) {
      const name = `${base}-${this.#last + 1}.jsonl`
      if (!this.#names.has(name)) break
      const path = join(this.#folder, name)
      append(loaded, parseOutcomes(path, this.#home, (await this.#disk.read(path)) ?? ''))
      this.#last++
    }
    this.#count = loaded.length
    return loaded
  }

  /**
   * Records changes durably. They follow the commit of this clone's branch.
   *
   * @throws EdgewiseError `record-moved` if another process has removed them, which had the lock
   */
  async add(commit: string, changes: UncommittedChanges): Promise<void> {
    const path = this.#open ?? (await this.#begin(commit))
    // After a failure the line may be cut off.
    this.#open = null
    const isThere =
      (await this.#disk.append(path, formatOutcomes(changes))) &&
      (await this.#disk.syncIfThere(path))
    if (!isThere)
      throw new EdgewiseError(
        'record-moved',
        `the outcomes in ${path} were removed: another process has written to the state since`,
        'Run the same command again when no other command changes the state.',
      )
    this.#open = path
    this.#count++
  }

  /** Begins a file, whose name is durable. */
  async #begin(commit: string): Promise<string> {
    const name = `${await this.#findBase(commit)}-${++this.#last}.jsonl`
    const path = join(this.#folder, name)
    await this.#folders.ensure(this.#folder)
    this.#names.add(name)
    if (!(await this.#disk.create(path, ''))) {
      // Left over from a process that has lost the lock.
      await this.#disk.remove(path)
      await this.#disk.create(path, '')
    }
    await this.#disk.sync(this.#folder)
    return path
  }

  /** Removes all changes, once the branch of this clone has them. */
  async clear(): Promise<void> {
    const names = this.#names
    this.#forget()
    for (const name of names) await this.#disk.remove(join(this.#folder, name))
  }

  #forget(): void {
    this.#names = new Set()
    this.#base = null
    this.#open = null
    this.#count = this.#last = 0
  }

  async #findBase(commit: string): Promise<string> {
    this.#base ??= (await this.#git.findId(commit, this.#home))?.split(' ').at(-1) ?? 'none'
    return this.#base
  }
}

/** Joins changes, in their order, and their messages. */
export function joinChanges(changes: UncommittedChanges[]): UncommittedChanges {
  return {
    message: joinMessages(changes.map(({ message }) => message)),
    files: new Map(changes.flatMap(({ files }) => [...files])),
  }
}
