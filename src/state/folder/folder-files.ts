import { join } from 'node:path'
import { append } from '../../core/model/lists.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isOwnPath, type LogOwner } from '../format/log-file.ts'
import { addChanges, createChangeLog } from './change-log.ts'
import type { FolderRegister } from './folder-register.ts'
import type { Disk } from './disk.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import type { Guard, SharedFiles, StateFiles } from '../store/state-files.ts'
import { writeFilesDurably, type FileChanges, DurableFolders } from './write-file.ts'
import { explainLockLoss, type FoundLock } from '../format/lock-file.ts'

/**
 * Creates the state files of a folder, which all processes share. Changes are recorded in a log
 * while this process has the lock; without one they are written to their files.
 *
 * @param lock nothing is written after this process has lost it: others may have written since
 */
export function createFolderFiles(
  disk: Disk,
  folder: string,
  temporary: string,
  lock: FolderRegister,
  owner: LogOwner,
): StateFiles {
  const queue = createSerialQueue()
  const folders = new DurableFolders(disk, folder)
  const log = createChangeLog(disk, folder, folders, temporary, owner, lock)
  // Logs are loaded first: what leaves them meanwhile is in the files.
  const shared: SharedFiles = {
    describePath: (path) => join(folder, path),
    listTopFolders: async () => {
      const pending = [...(await log.loadPending())].flatMap(([path, text]) =>
        text === null ? [] : path.slice(0, path.indexOf('/')),
      )
      const names = (await disk.list(folder)).filter((name) => !name.includes('.'))
      return [...new Set([...names, ...pending])]
    },
    listPaths: async (path) => {
      const pending = await log.loadPending()
      const paths = await listFiles(disk, folder, path)
      return [...addPending(new Map(paths.map((each) => [each, ''])), pending, path).keys()]
    },
    load: async (...paths) => {
      const pending = await log.loadPending()
      const all: [string, string][] = []
      for (const path of paths) {
        const found = new Map<string, string>()
        for (const file of await listFiles(disk, folder, path)) {
          const text = await disk.read(join(folder, file))
          // A command that holds the lock may remove the file after it was listed.
          if (text !== null) found.set(file, text)
        }
        append(all, [...addPending(found, pending, path)])
      }
      return new Map(all)
    },
  }
  const loadTexts = async (paths: Iterable<string>): Promise<FileChanges> => {
    const pending = await log.loadPending()
    const texts = new Map<string, string | null>()
    for (const path of paths)
      texts.set(
        path,
        pending.get(path) ?? (pending.has(path) ? null : await disk.read(join(folder, path))),
      )
    return texts
  }
  const locate = (files: FileChanges) =>
    new Map([...files].map(([path, text]) => [join(folder, path), text]))
  const requireLock = async (isHeld: boolean) => {
    if (isHeld) return
    throw createLockLostError(folder, await disk.exists(folder), await lock.read(), lock.location)
  }
  const writeToFiles = async (steps: FileChanges[]) => {
    await requireLock(await lock.isIntact())
    if (lock.getNumber() !== null) await requireLock(await log.checkpoint())
    for (const step of steps)
      await requireLock(
        await writeFilesDurably(disk, folders, locate(step), temporary, lock.behindFence),
      )
  }
  const writeSteps = async (steps: FileChanges[]) => {
    const changes = new Map<string, string | null>()
    for (const step of steps) addChanges(changes, step)
    const isOwn = [...changes.keys()].every((path) => isOwnPath(owner, path))
    if (lock.getNumber() === null || !isOwn) await writeToFiles(steps)
    else await requireLock(await log.record(changes))
  }
  /** Steps that wait for those before them: all of them are recorded together. */
  let waiting: { steps: FileChanges[]; done: Promise<void> } | null = null
  const write = (steps: FileChanges[]): Promise<void> => {
    if (waiting === null) {
      const all: FileChanges[] = []
      const done = queue(() => {
        waiting = null
        return writeSteps(all)
      })
      waiting = { steps: all, done }
    }
    append(waiting.steps, steps)
    return waiting.done
  }
  const writeGuarded = (steps: FileChanges[], guard: Guard) => {
    waiting = null
    const guardAll = async () => {
      await guard(shared)
      refusePending(steps, await log.loadForeign(), shared.describePath)
    }
    return queue(async () => {
      await guardAll()
      const before: FileChanges[] = []
      for (const step of steps) before.unshift(await loadTexts(step.keys()))
      await writeSteps(steps)
      try {
        // A process with the lock of another account may have written at the same time. Each of the
        // two sees the other's files, so at most one continues.
        await guardAll()
      } catch (error) {
        await writeSteps(before)
        throw error
      }
    })
  }
  return {
    ...shared,
    location: folder,
    refresh: () => log.forget(),
    listDropped: async () => ({ paths: [], commit: null }),
    listUnshared: async () => ({ paths: [], commit: null }),
    write,
    record: write,
    publish: (steps, _message, guard) =>
      guard === undefined ? write(steps) : writeGuarded(steps, guard),
    saveLocally: (path, text) => write([new Map([[path, text]])]),
    loadLocalAndShared: async (path) => {
      const text = (await loadTexts([path])).get(path) ?? null
      return { here: text, shared: text }
    },
    add: (path, text) =>
      queue(async () => {
        await writeFilesDurably(disk, folders, locate(new Map([[path, text]])), temporary)
      }),
    share: null,
    checkpoint: () =>
      queue(async () => {
        if (lock.getNumber() !== null) await log.checkpoint()
      }).finally(() => log.forget()),
  }
}

/** Adds the changes of logs to the files of a folder. */
function addPending(
  files: Map<string, string>,
  pending: FileChanges,
  folder: string,
): Map<string, string> {
  const all = new Map<string, string | null>(files)
  const changes = [...pending].filter(([path]) => isRelated(path, folder))
  if (changes.length === 0) return files
  addChanges(all, new Map(changes))
  const kept = [...all].filter(
    (entry): entry is [string, string] => entry[1] !== null && entry[0].startsWith(`${folder}/`),
  )
  return new Map(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Tests whether one of two paths is, or is in, the other. */
function isRelated(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`) || `${folder}/`.startsWith(`${path}/`)
}

/**
 * Refuses changes of files that a process with another lock is changing: the log of that process
 * would hide them.
 */
function refusePending(
  steps: FileChanges[],
  foreign: FileChanges,
  describePath: SharedFiles['describePath'],
): void {
  const path = steps
    .flatMap((step) => [...step])
    .find(([name, text]) => foreign.has(name) && foreign.get(name) !== text)?.[0]
  if (path === undefined) return
  throw new EdgewiseError(
    'record-moved',
    `another command is changing ${describePath(path)}, or was killed while it did`,
    'Run the same command again when that command has ended. If it was killed, first run ' +
      '"edgewise apply" in its workspace.',
  )
}

function createLockLostError(
  folder: string,
  exists: boolean,
  lock: FoundLock,
  location: string,
): EdgewiseError {
  if (!exists) {
    return new EdgewiseError(
      'record-moved',
      `the state folder ${folder} was deleted or moved during the command`,
      'Put it back, for example from a backup, then run the same command again. Without it every ' +
        'item counts as unrecorded and is written again.',
    )
  }
  return new EdgewiseError(
    'record-moved',
    `the state in ${folder} can't be written: ${explainLockLoss(lock, location)}`,
    'Run the same command again when no other command changes the state.',
  )
}

async function listFiles(disk: Disk, root: string, folder: string): Promise<string[]> {
  const found: string[] = []
  for (const name of (await disk.list(join(root, folder))).toSorted()) {
    const path = `${folder}/${name}`
    // Only `.json` files are state: files left by a killed process or an editor have another
    // ending, folders have none.
    if (name.endsWith('.json')) found.push(path)
    else if (!name.includes('.')) append(found, await listFiles(disk, root, path))
  }
  return found
}
