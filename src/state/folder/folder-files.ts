import { join } from 'node:path'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { FolderRegister } from './folder-register.ts'
import type { Disk } from './disk.ts'
import { DurableFolders } from './durable-folders.ts'
import { createSerialQueue } from '../serial-queue.ts'
import type { StateFiles } from '../state-files.ts'
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
  const write = (steps: FileChanges[]) =>
    queue(async () => {
      if (await lock.hasChanged()) throw createLockLostError(folder, lock.location)
      for (const step of steps) {
        await writeFilesDurably(
          disk,
          folders,
          new Map([...step].map(([path, text]) => [join(folder, path), text])),
          temporary,
        )
      }
    })
  return {
    location: folder,
    describePath: (path) => join(folder, path),
    refresh: () => undefined,
    load: async (path) => {
      const found = new Map<string, string>()
      await loadInto(found, disk, folder, path)
      return found
    },
    write,
    publish: write,
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

async function loadInto(
  found: Map<string, string>,
  disk: Disk,
  root: string,
  folder: string,
): Promise<void> {
  for (const name of (await disk.list(join(root, folder))).toSorted()) {
    const path = `${folder}/${name}`
    // Only `.json` files are state: files left by a killed process or an editor have another
    // ending, folders have none.
    if (name.endsWith('.json')) found.set(path, (await disk.read(join(root, path))) ?? '')
    else if (!name.includes('.')) await loadInto(found, disk, root, path)
  }
}
