import { type LogOwner, isOwnPath } from '../format/log-file.ts'
import {
  noLocalChanges,
  type StateFiles,
  type Guard,
  type SharedFiles,
} from '../store/state-files.ts'
import { ChangeLog } from './change-log.ts'
import type { Disk } from './disk.ts'
import type { FolderRegister } from './folder-register.ts'
import { DurableFolders, writeFilesDurably, type FileChanges } from './write-file.ts'
import { join } from 'node:path'
import { append } from '../../core/model/lists.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { explainLockLoss, type FoundLock } from '../format/lock-file.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import { addChanges, findConflict, changeFiles } from './file-changes.ts'
import type { OwnFolder } from './own-folder.ts'

/**
 * Creates the state files of a folder, which all processes share. Changes are recorded in a log
 * while this process has the lock; without one they are written to their files.
 *
 * @param lock nothing is written after this process has lost it: others may have written since
 */
export function createFolderFiles(
  disk: Disk,
  root: string,
  temporary: string,
  lock: FolderRegister,
  owner: LogOwner,
): StateFiles {
  const folders = new DurableFolders(disk, root)
  const place = { disk, root, folders, temporary, owner, lock }
  const log = new ChangeLog(place)
  const reader = createFolderReader(disk, root, () => log.loadPending())
  const writer = new FolderWriter(place, log)
  return {
    ...reader,
    location: root,
    refresh: () => log.forget(),
    ...noLocalChanges,
    write: (steps) => writer.write(steps),
    record: (steps) => writer.write(steps),
    publish: (steps, _message, guard) =>
      guard === undefined ? writer.write(steps) : writer.writeGuarded(steps, guard, reader),
    saveLocally: (path, text) => writer.write([new Map([[path, text]])]),
    loadLocalAndShared: async (path) => {
      const text = (await reader.loadTexts([path])).get(path) ?? null
      return { here: text, shared: text }
    },
    add: (path, text) => writer.add(path, text),
    share: null,
    checkpoint: () => writer.checkpoint(),
  }
}

/**
 * Writes to a folder, one change after another: to a log while this process has the lock, else to
 * the files. Methods throw EdgewiseError `record-moved` if the lock is lost.
 */
class FolderWriter {
  readonly #place: OwnFolder
  readonly #log: ChangeLog
  readonly #queue = createSerialQueue()
  /** Steps that wait for those before them: all of them are recorded together. */
  #waiting: { steps: FileChanges[]; done: Promise<void> } | null = null

  constructor(place: OwnFolder, log: ChangeLog) {
    this.#place = place
    this.#log = log
  }

  /** Makes the changes of some steps; none of a later step exists without all of the earlier. */
  write(steps: FileChanges[]): Promise<void> {
    this.#waiting ??= this.#wait()
    append(this.#waiting.steps, steps)
    return this.#waiting.done
  }

  /** Makes changes that the guard allows before and after them; else they are undone. */
  writeGuarded(steps: FileChanges[], guard: Guard, reader: FolderReader): Promise<void> {
    this.#waiting = null
    const guardAll = async () => {
      await guard(reader)
      const path = findConflict(steps, await this.#log.loadForeign())
      if (path !== null) throw createConflictError(reader.describePath(path))
    }
    return this.#queue(async () => {
      await guardAll()
      const before: FileChanges[] = []
      for (const step of steps) before.unshift(await reader.loadTexts(step.keys()))
      await this.#writeSteps(steps)
      try {
        // A process with the lock of another account may have written at the same time. Each of the
        // two sees the other's files, so at most one continues.
        await guardAll()
      } catch (error) {
        await this.#writeSteps(before)
        throw error
      }
    })
  }

  /** Writes one file, whoever has the lock. */
  add(path: string, text: string): Promise<void> {
    const { disk, folders, temporary } = this.#place
    const files = this.#locate(new Map([[path, text]]))
    return this.#queue(async () => {
      await writeFilesDurably(disk, folders, files, temporary)
    })
  }

  /** Moves the changes of the log to their files, and forgets it; nothing if the lock is lost. */
  checkpoint(): Promise<void> {
    return this.#queue(async () => {
      if (this.#place.lock.getNumber() !== null) await this.#log.checkpoint()
    }).finally(() => this.#log.forget())
  }

  #wait(): { steps: FileChanges[]; done: Promise<void> } {
    const steps: FileChanges[] = []
    const done = this.#queue(() => {
      this.#waiting = null
      return this.#writeSteps(steps)
    })
    return { steps, done }
  }

  async #writeSteps(steps: FileChanges[]): Promise<void> {
    const { owner, lock } = this.#place
    const changes = new Map<string, string | null>()
    for (const step of steps) addChanges(changes, step)
    const isOwn = [...changes.keys()].every((path) => isOwnPath(owner, path))
    if (lock.getNumber() === null || !isOwn) await this.#writeToFiles(steps)
    else await this.#requireLock(await this.#log.record(changes))
  }

  async #writeToFiles(steps: FileChanges[]): Promise<void> {
    const { disk, folders, temporary, lock } = this.#place
    await this.#requireLock(await lock.isIntact())
    if (lock.getNumber() !== null) await this.#requireLock(await this.#log.checkpoint())
    for (const step of steps) {
      const files = this.#locate(step)
      await this.#requireLock(
        await writeFilesDurably(disk, folders, files, temporary, lock.behindFence),
      )
    }
  }

  async #requireLock(isHeld: boolean): Promise<void> {
    if (isHeld) return
    const { disk, root, lock } = this.#place
    if (!(await disk.exists(root))) throw createFolderLostError(root)
    throw createLockLostError(root, await lock.read(), lock.location)
  }

  #locate(files: FileChanges): FileChanges {
    return new Map([...files].map(([path, text]) => [join(this.#place.root, path), text]))
  }
}

/** The log of the other process would hide the changes of this one. */
function createConflictError(place: string): EdgewiseError {
  return new EdgewiseError(
    'record-moved',
    `another command is changing ${place}, or was killed while it did`,
    'Run the same command again when that command has ended. If it was killed, first run ' +
      '"edgewise apply" in its workspace.',
  )
}

function createFolderLostError(folder: string): EdgewiseError {
  return new EdgewiseError(
    'record-moved',
    `the state folder ${folder} was deleted or moved during the command`,
    'Put it back, for example from a backup, then run the same command again. Without it every ' +
      'item counts as unrecorded and is written again.',
  )
}

function createLockLostError(folder: string, lock: FoundLock, location: string): EdgewiseError {
  return new EdgewiseError(
    'record-moved',
    `the state in ${folder} can't be written: ${explainLockLoss(lock, location)}`,
    'Run the same command again when no other command changes the state.',
  )
}

/** Files of a folder, as they are after the changes that are only in logs. */
interface FolderReader extends SharedFiles {
  /** Loads the texts of some files; null for one that does not exist. */
  loadTexts(paths: Iterable<string>): Promise<FileChanges>
}

/**
 * Creates the reader of a folder.
 *
 * @param loadPending loads the changes that are only in logs. It is called first: what leaves them
 *   meanwhile is in the files
 */
function createFolderReader(
  disk: Disk,
  root: string,
  loadPending: () => Promise<FileChanges>,
): FolderReader {
  return {
    describePath: (path) => join(root, path),
    listTopFolders: async () => {
      const pending = [...(await loadPending())].flatMap(([path, text]) =>
        text === null ? [] : path.slice(0, path.indexOf('/')),
      )
      const names = (await disk.list(root)).filter((name) => !name.includes('.'))
      return [...new Set([...names, ...pending])]
    },
    listPaths: async (folder) => {
      const pending = await loadPending()
      const paths = await listFiles(disk, root, folder)
      return [...changeFiles(new Map(paths.map((path) => [path, ''])), pending, folder).keys()]
    },
    load: async (...folders) => {
      const pending = await loadPending()
      const all: [string, string][] = []
      for (const folder of folders)
        append(all, [...changeFiles(await loadFiles(disk, root, folder), pending, folder)])
      return new Map(all)
    },
    loadTexts: async (paths) => {
      const pending = await loadPending()
      const texts = new Map<string, string | null>()
      for (const path of paths) {
        const text = pending.get(path)
        texts.set(path, text === undefined ? await disk.read(join(root, path)) : text)
      }
      return texts
    },
  }
}

async function loadFiles(disk: Disk, root: string, folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const path of await listFiles(disk, root, folder)) {
    const text = await disk.read(join(root, path))
    // A command that holds the lock may remove the file after it was listed.
    if (text !== null) found.set(path, text)
  }
  return found
}

/** Lists the files in a folder, at any depth; a file lists itself. */
async function listFiles(disk: Disk, root: string, folder: string): Promise<string[]> {
  if (isStateFile(folder)) return [folder]
  const found: string[] = []
  for (const name of (await disk.list(join(root, folder))).toSorted()) {
    const path = `${folder}/${name}`
    if (isStateFile(name)) found.push(path)
    else if (!name.includes('.')) append(found, await listFiles(disk, root, path))
  }
  return found
}

/**
 * Returns whether a path is that of a file of state: files left by a killed process or an editor
 * have another ending, folders have none.
 */
function isStateFile(path: string): boolean {
  return path.endsWith('.json') || path.endsWith('.sig')
}
