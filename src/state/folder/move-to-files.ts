import { dirname, join } from 'node:path'
import type { Disk } from './disk.ts'
import type { OwnFolder } from './own-folder.ts'
import type { FileChanges } from './write-file.ts'

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
export async function moveToFiles(place: Place, changes: FileChanges): Promise<boolean> {
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
