import { dirname, join } from 'node:path'
import {
  buildLogName,
  formatLogLine,
  isOwnLog,
  parseLog,
  type LogOwner,
} from '../format/log-file.ts'
import type { Disk } from './disk.ts'
import type { FolderRegister } from './folder-register.ts'
import type { FileChanges, DurableFolders } from './write-file.ts'

/** Size of a log from which its changes move to their files, characters. */
const maxLength = 8 * 1024 * 1024
/** Number of paths from which one sync of the file system replaces a sync of each. */
const maxSyncs = 64

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
 * Creates the log of a folder: each change is durable by one sync of one file, and moves to its own
 * files later, many at a time. Changes that are only in a log count: every reader adds them to what
 * is in the files. A log belongs to the process with the lock, and ends with it; the next process
 * with the lock ends that of a killed one.
 *
 * @param temporary identifies this process among those that may write here
 */
export function createChangeLog(
  disk: Disk,
  root: string,
  folders: DurableFolders,
  temporary: string,
  owner: LogOwner,
  lock: Pick<FolderRegister, 'behindFence' | 'isIntact' | 'getNumber'>,
) {
  const folder = join(root, 'log')
  let current: OpenLog | null = null
  let created = 0
  const listLogs = async () =>
    (await disk.list(folder)).filter((name) => name.endsWith('.jsonl')).toSorted()
  const load = async (name: string): Promise<FileChanges> => {
    const path = join(folder, name)
    if (path === current?.path) return current.pending
    const pending = new Map<string, string | null>()
    // A log that is gone since it was listed is in its files, which are loaded afterwards.
    const text = (await disk.read(path)) ?? ''
    for (const changes of parseLog(path, text)) addChanges(pending, changes)
    return pending
  }
  const loadAll = async (names: string[]): Promise<FileChanges> => {
    const pending = new Map<string, string | null>()
    for (const name of names) addChanges(pending, await load(name))
    return pending
  }
  const moveToFiles = async (changes: FileChanges): Promise<boolean> => {
    const changed = new Set<string>()
    for (const [name, text] of changes) {
      const path = join(root, name)
      const isDone = await (text === null
        ? lock.behindFence((fence) => disk.remove(path, fence))
        : replaceFile(path, text))
      if (!isDone) return false
      if (text !== null) changed.add(path)
      await addFolders(dirname(path), changed)
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
  const replaceFile = async (path: string, text: string): Promise<boolean> => {
    await makeFolders(dirname(path))
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
  const makeFolders = async (path: string): Promise<void> => {
    if (await disk.exists(path)) return
    await makeFolders(dirname(path))
    await disk.makeFolder(path)
  }
  /**
   * Adds a folder and those above it, up to the root. A killed process may have made them, or
   * removed their files, without a sync.
   */
  const addFolders = async (path: string, changed: Set<string>): Promise<void> => {
    for (let each = path; !changed.has(each) && each.length >= root.length; each = dirname(each))
      if (await disk.exists(each)) changed.add(each)
  }
  const removeLog = async (path: string): Promise<boolean> => {
    if (!(await lock.behindFence((fence) => disk.remove(path, fence)))) return false
    // The log must not be back after a crash: its texts would replace later ones.
    await disk.sync(folder)
    return true
  }
  /**
   * Moves the changes of this process, and of killed ones with the same lock, to their files, and
   * removes their logs; false if the lock is lost.
   */
  const checkpoint = async (): Promise<boolean> => {
    for (const name of (await listLogs()).filter((each) => isOwnLog(owner, each)))
      if (!(await moveToFiles(await load(name))) || !(await removeLog(join(folder, name))))
        return false
    current = null
    return true
  }
  const begin = async (): Promise<OpenLog | null> => {
    if (!(await lock.isIntact()) || !(await checkpoint())) return null
    await folders.ensure(folder)
    const name = buildLogName(owner, [lock.getNumber() ?? 0, ++created])
    const path = join(folder, name)
    await disk.create(path, '')
    await disk.sync(folder)
    return { path, pending: new Map(), length: 0, isWhole: true }
  }
  return {
    /** Loads the changes that are not yet in their files, of all logs. */
    loadPending: async () => loadAll(await listLogs()),
    /** Loads those of processes that have other locks. */
    loadForeign: async () => loadAll((await listLogs()).filter((name) => !isOwnLog(owner, name))),
    /** Records changes, all or none of them, durably; false if the lock is lost. */
    record: async (changes: FileChanges): Promise<boolean> => {
      const isFull = current !== null && (!current.isWhole || current.length >= maxLength)
      if (isFull && !(await checkpoint())) return false
      current ??= await begin()
      if (current === null) return false
      const log = current
      const line = formatLogLine(changes)
      log.isWhole = false
      if (!(await lock.behindFence((fence) => disk.append(log.path, line, fence)))) return false
      // The next process with the lock has moved its changes to their files.
      if (!(await disk.syncIfThere(log.path))) return false
      log.isWhole = true
      log.length += line.length
      addChanges(log.pending, changes)
      return true
    },
    checkpoint,
    /** Forgets the log of this process: the next change begins with the logs that it finds. */
    forget: () => {
      current = null
    },
  }
}

/** Adds later changes to earlier ones, which they replace. */
export function addChanges(all: Map<string, string | null>, later: FileChanges): void {
  for (const [path, text] of later) {
    all.delete(path)
    const isFolder = text === null && !path.endsWith('.json')
    if (isFolder) for (const each of all.keys()) if (each.startsWith(`${path}/`)) all.delete(each)
    all.set(path, text)
  }
}
