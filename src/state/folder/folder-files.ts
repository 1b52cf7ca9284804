import { join } from 'node:path'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { FolderRegister } from './folder-register.ts'
import type { Disk } from './disk.ts'
import { DurableFolders } from './durable-folders.ts'
import { createSerialQueue } from '../serial-queue.ts'
import type { Guard, SharedFiles, StateFiles } from '../state-files.ts'
import { writeFilesDurably, type FileChanges } from './write-file.ts'

/**
 * Creates the state files of a folder, which all processes share.
 *
 * @param lock nothing is written after this process has lost it, having been stopped or asleep for
 *   longer than the lease: others may have written since
 */
export function createFolderFiles(
  disk: Disk,
  folder: string,
  temporary: string,
  lock: Pick<FolderRegister, 'hasChanged' | 'location'>,
): StateFiles {
  const queue = createSerialQueue()
  const folders = new DurableFolders(disk, folder)
  const shared: SharedFiles = {
    describePath: (path) => join(folder, path),
    listTopFolders: async () => (await disk.list(folder)).filter((name) => !name.includes('.')),
    listPaths: (path) => listFiles(disk, folder, path),
    load: async (path) => {
      const found = new Map<string, string>()
      for (const file of await listFiles(disk, folder, path))
        found.set(file, (await disk.read(join(folder, file))) ?? '')
      return found
    },
  }
  const writeSteps = async (steps: FileChanges[]) => {
    if (await lock.hasChanged()) throw createLockLostError(folder, lock.location)
    for (const step of steps) {
      await writeFilesDurably(
        disk,
        folders,
        new Map([...step].map(([path, text]) => [join(folder, path), text])),
        temporary,
      )
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
    write,
    publish: (steps, _message, guard) =>
      guard === undefined ? write(steps) : writeGuarded(steps, guard),
    saveLocally: (path, text) => write([new Map([[path, text]])]),
    loadLocalAndShared: async (path) => {
      const text = await disk.read(join(folder, path))
      return { here: text, shared: text }
    },
    share: null,
  }
}

function createLockLostError(folder: string, lock: string): EdgewiseError {
  return new EdgewiseError(
    'record-moved',
    `the lock of the state in ${folder} (${lock}) was lost; another process may have written ` +
      'the state',
    'Check who holds the lock ("edgewise state unlock" shows it), then run the same command again.',
  )
}

async function listFiles(disk: Disk, root: string, folder: string): Promise<string[]> {
  const found: string[] = []
  for (const name of (await disk.list(join(root, folder))).toSorted()) {
    const path = `${folder}/${name}`
    // Only `.json` files are state: files left by a killed process or an editor have another
    // ending, folders have none.
    if (name.endsWith('.json')) found.push(path)
    else if (!name.includes('.')) found.push(...(await listFiles(disk, root, path)))
  }
  return found
}
