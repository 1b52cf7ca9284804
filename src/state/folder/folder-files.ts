import type { LogOwner } from '../format/log-file.ts'
import { noLocalChanges, type StateFiles } from '../store/state-files.ts'
import { ChangeLog } from './change-log.ts'
import type { Disk } from './disk.ts'
import { createFolderReader } from './folder-reader.ts'
import type { FolderRegister } from './folder-register.ts'
import { FolderWriter } from './folder-writer.ts'
import { DurableFolders } from './write-file.ts'

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
