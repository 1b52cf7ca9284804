import { join } from 'node:path'
import { append } from '../../model/append.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { FolderRegister } from './folder-register.ts'
import type { Disk, Fence } from './disk.ts'
import { DurableFolders } from './durable-folders.ts'
import { createSerialQueue } from '../serial-queue.ts'
import { explainLockLoss, type FoundLock } from '../lock-loss.ts'
import type { Guard, SharedFiles, StateFiles } from '../state-files.ts'
import { writeFilesDurably, type FileChanges } from './write-file.ts'

/**
 * Creates the state files of a folder, which all processes share.
 *
 * @param lock nothing is written after this process has lost it: others may have written since
 */
export function createFolderFiles(
  disk: Disk,
  folder: string,
  temporary: string,
  lock: Pick<FolderRegister, 'behindFence' | 'location' | 'read'>,
): StateFiles {
  const queue = createSerialQueue()
  const folders = new DurableFolders(disk, folder)
  const shared: SharedFiles = {
    describePath: (path) => join(folder, path),
    listTopFolders: async () => (await disk.list(folder)).filter((name) => !name.includes('.')),
    listPaths: (path) => listFiles(disk, folder, path),
    load: async (path) => {
      const found = new Map<string, string>()
      for (const file of await listFiles(disk, folder, path)) {
        const text = await disk.read(join(folder, file))
        // A command that holds the lock may remove the file after it was listed.
        if (text !== null) found.set(file, text)
      }
      return found
    },
  }
  const locate = (files: FileChanges) =>
    new Map([...files].map(([path, text]) => [join(folder, path), text]))
  const refuse = async () => {
    throw createLockLostError(folder, await disk.exists(folder), await lock.read(), lock.location)
  }
  const isIntact = (fence?: Fence) =>
    fence === undefined ? true : disk.list(fence.folder).then(fence.isIntact)
  const writeSteps = async (steps: FileChanges[]) => {
    if (!(await lock.behindFence(async (fence) => isIntact(fence)))) await refuse()
    for (const step of steps) {
      const files = locate(step)
      if (!(await writeFilesDurably(disk, folders, files, temporary, lock.behindFence)))
        await refuse()
    }
  }
  const loadTexts = async (step: FileChanges): Promise<FileChanges> => {
    const texts = new Map<string, string | null>()
    for (const path of step.keys()) texts.set(path, await disk.read(join(folder, path)))
    return texts
  }
  const write = (steps: FileChanges[]) => queue(() => writeSteps(steps))
  const writeGuarded = (steps: FileChanges[], guard: Guard) =>
    queue(async () => {
      await guard(shared)
      const before: FileChanges[] = []
      for (const step of steps) before.unshift(await loadTexts(step))
      await writeSteps(steps)
      try {
        // A process with the lock of another account may have written at the same time. Each of the
        // two sees the other's files, so at most one continues.
        await guard(shared)
      } catch (error) {
        await writeSteps(before)
        throw error
      }
    })
  return {
    ...shared,
    location: folder,
    refresh: () => undefined,
    listDropped: async () => ({ paths: [], commit: null }),
    listUnshared: async () => ({ paths: [], commit: null }),
    write,
    record: write,
    publish: (steps, _message, guard) =>
      guard === undefined ? write(steps) : writeGuarded(steps, guard),
    saveLocally: (path, text) => write([new Map([[path, text]])]),
    loadLocalAndShared: async (path) => {
      const text = await disk.read(join(folder, path))
      return { here: text, shared: text }
    },
    add: (path, text) =>
      queue(async () => {
        await writeFilesDurably(disk, folders, locate(new Map([[path, text]])), temporary)
      }),
    share: null,
  }
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
