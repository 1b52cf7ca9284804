import { join, dirname } from 'node:path'
import { buildLogName, formatLogLine, isOwnLog, parseLog } from '../format/log-file.ts'
import { addChanges } from './file-changes.ts'
import type { OwnFolder } from './own-folder.ts'
import type { FileChanges } from './write-file.ts'
import type { Disk } from './disk.ts'

/** Size of a log from which its changes move to their files, characters. */
const maxLength = 8 * 1024 * 1024

/** A log that this process writes. */
interface OpenLog {
  path: string
  /** Changes that are recorded, in their order. */
  pending: Map<string, string | null>
  length: number
  /** Whether the last line is known to be durable, and complete. */
  isWhole: boolean
}

/**
 * The log of a folder: each change is durable by one sync of one file, and moves to its own files
 * later, many at a time. Changes that are only in a log count: every reader adds them to what is in
 * the files. A log belongs to the process with the lock, and ends with it; the next process with
 * the lock ends that of a killed one.
 */
export class ChangeLog {
  readonly #place: OwnFolder
  /** Folder of the logs of all processes. */
  readonly #folder: string
  #current: OpenLog | null = null
  #created = 0

  constructor(place: OwnFolder) {
    this.#place = place
    this.#folder = join(place.root, 'log')
  }

  /** Loads the changes that are not yet in their files, of all logs. */
  async loadPending(): Promise<FileChanges> {
    return this.#loadAll(await this.#list())
  }

  /** Loads those of processes that have other locks. */
  async loadForeign(): Promise<FileChanges> {
    const names = await this.#list()
    return this.#loadAll(names.filter((name) => !isOwnLog(this.#place.owner, name)))
  }

  /** Records changes, all or none of them, durably; false if the lock is lost. */
  async record(changes: FileChanges): Promise<boolean> {
    const { isWhole = true, length = 0 } = this.#current ?? {}
    const isEnded = !isWhole || length >= maxLength
    if (isEnded && !(await this.checkpoint())) return false
    this.#current ??= await this.#begin()
    return this.#current !== null && (await this.#append(this.#current, changes))
  }

  /**
   * Moves the changes of this process, and of killed ones with the same lock, to their files, and
   * removes their logs; false if the lock is lost.
   */
  async checkpoint(): Promise<boolean> {
    const names = (await this.#list()).filter((name) => isOwnLog(this.#place.owner, name))
    for (const name of names)
      if (!(await moveToFiles(this.#place, await this.#load(name))) || !(await this.#remove(name)))
        return false
    this.#current = null
    return true
  }

  /** Forgets the log of this process: the next change begins with the logs that it finds. */
  forget(): void {
    this.#current = null
  }

  async #list(): Promise<string[]> {
    const names = await this.#place.disk.list(this.#folder)
    return names.filter((name) => name.endsWith('.jsonl')).toSorted()
  }

  async #loadAll(names: string[]): Promise<FileChanges> {
    const pending = new Map<string, string | null>()
    for (const name of names) addChanges(pending, await this.#load(name))
    return pending
  }

  async #load(name: string): Promise<FileChanges> {
    const path = join(this.#folder, name)
    if (path === this.#current?.path) return this.#current.pending
    const pending = new Map<string, string | null>()
    // A log that is gone since it was listed is in its files, which are loaded afterwards.
    const text = (await this.#place.disk.read(path)) ?? ''
    for (const changes of parseLog(path, text)) addChanges(pending, changes)
    return pending
  }

  async #remove(name: string): Promise<boolean> {
    const { disk, lock } = this.#place
    const path = join(this.#folder, name)
    if (!(await lock.behindFence((fence) => disk.remove(path, fence)))) return false
    // The log must not be back after a crash: its texts would replace later ones.
    await disk.sync(this.#folder)
    return true
  }

  async #begin(): Promise<OpenLog | null> {
    const { disk, folders, owner, lock } = this.#place
    if (!(await lock.isIntact()) || !(await this.checkpoint())) return null
    await folders.ensure(this.#folder)
    const name = buildLogName(owner, [lock.getNumber() ?? 0, ++this.#created])
    const path = join(this.#folder, name)
    await disk.create(path, '')
    await disk.sync(this.#folder)
    return { path, pending: new Map(), length: 0, isWhole: true }
  }

  async #append(log: OpenLog, changes: FileChanges): Promise<boolean> {
    const { disk, lock } = this.#place
    const line = formatLogLine(changes)
    log.isWhole = false
    if (!(await lock.behindFence((fence) => disk.append(log.path, line, fence)))) return false
    // The next process with the lock has moved its changes to their files.
    if (!(await disk.syncIfThere(log.path))) return false
    log.isWhole = true
    log.length += line.length
    addChanges(log.pending, changes)
    return true
  }
}

/** Number of paths from which one sync of the file system replaces a sync of each. */
const maxSyncs = 64

/** What moving changes to files needs of a folder. */
type Place = Pick<OwnFolder, 'disk' | 'root' | 'temporary'> & {
  lock: Pick<OwnFolder['lock'], 'behindFence'>
}

/**
 * Moves changes from a log to their files, durably and many at a time; the log must stay until
 * then.
 *
 * @returns false if the lock is lost: some of the changes may be in their files
 */
async function moveToFiles(place: Place, changes: FileChanges): Promise<boolean> {
  const { disk, root, lock } = place
  const changed = new Set<string>()
  for (const [name, text] of changes) {
    const path = join(root, name)
    const isDone = await (text === null
      ? lock.behindFence((fence) => disk.remove(path, fence))
      : replaceFile(place, path, text))
    if (!isDone) return false
    if (text !== null) changed.add(path)
    await addFolders(place, dirname(path), changed)
  }
  const isMany = changed.size > maxSyncs
  if (isMany && (await disk.syncAll(root))) return true
  for (const path of changed) {
    // A file that is gone was removed by the next process with the lock.
    if (!(await disk.syncIfThere(path))) return false
  }
  return true
}

/** Replaces a file without a sync: if it is torn by a crash, the log still has its text. */
async function replaceFile(
  { disk, temporary, lock }: Place,
  path: string,
  text: string,
): Promise<boolean> {
  await makeFolders(disk, dirname(path))
  const draft = `${path}.${temporary}.tmp`
  if (!(await disk.create(draft, text))) {
    // Left over from a killed process of the same name.
    await disk.remove(draft)
    await disk.create(draft, text)
  }
  if (await lock.behindFence((fence) => disk.rename(draft, path, fence))) return true
  await disk.remove(draft)
  return false
}

async function makeFolders(disk: Disk, path: string): Promise<void> {
  if (await disk.exists(path)) return
  await makeFolders(disk, dirname(path))
  await disk.makeFolder(path)
}

/**
 * Adds a folder and those above it, up to the root. A killed process may have made them, or removed
 * their files, without a sync.
 */
async function addFolders(
  { disk, root }: Place,
  path: string,
  changed: Set<string>,
): Promise<void> {
  for (let each = path; !changed.has(each) && each.length >= root.length; each = dirname(each))
    if (await disk.exists(each)) changed.add(each)
}
