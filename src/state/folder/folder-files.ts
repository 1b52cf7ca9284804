import { join } from 'node:path'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { FolderRegister } from './folder-register.ts'
import type { Disk } from './disk.ts'
import { DurableFolders } from './durable-folders.ts'
import { createSerialQueue } from '../serial-queue.ts'
import type { StateFiles } from '../state-files.ts'
import { writeFilesDurably, type FileChanges } from './write-file.ts'

/**
 * Records in a folder. All who work on them see the same folder.
 *
 * @param lock who lost it, having been stopped or asleep for longer than it holds, writes nothing
 * over what others have written since
 */
export function createFolderFiles(
  disk: Disk,
  folder: string,
  temporary: string,
  lock: Pick<FolderRegister, 'hasChanged' | 'location'>,
): StateFiles {
  const turn = createSerialQueue()
  const made = new DurableFolders(disk, folder)
  const write = (steps: FileChanges[]) =>
    turn(async () => {
      if (await lock.hasChanged()) throw lost(folder, lock.location)
      for (const step of steps) {
        await writeFilesDurably(
          disk,
          made,
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
      await readInto(found, disk, folder, path)
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

function lost(folder: string, lock: string): EdgewiseError {
  return new EdgewiseError(
    'record-moved',
    `the lock of the record in ${folder} (${lock}) was lost meanwhile, and somebody else may have written to it`,
    'Look who holds the lock now ("edgewise state unlock" says so), and run the same command again.',
  )
}

async function readInto(
  found: Map<string, string>,
  disk: Disk,
  root: string,
  folder: string,
): Promise<void> {
  for (const name of (await disk.list(join(root, folder))).toSorted()) {
    const path = `${folder}/${name}`
    // Only these are ours: what a killed process or an editor left has another ending, a folder has
    // none.
    if (name.endsWith('.json')) found.set(path, (await disk.read(join(root, path))) ?? '')
    else if (!name.includes('.')) await readInto(found, disk, root, path)
  }
}
