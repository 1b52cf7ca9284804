import { dirname } from 'node:path'
import type { Disk, Fence } from './disk.ts'
import type { DurableFolders } from './durable-folders.ts'

/** Files by path: their new texts, or null to remove them; also a folder, with all its files. */
export type FileChanges = ReadonlyMap<string, string | null>

/** Makes a change of a file, perhaps behind a fence; false if the fence is broken. */
export type ChangeFile = (make: (fence?: Fence) => Promise<boolean>) => Promise<boolean>

/**
 * Replaces files so that a crash at any moment leaves the old or the new text of each, never a
 * part: temporary file, sync, rename, sync of the folder. Each file may survive without the others.
 * Creates folders as needed.
 *
 * @param made creates the folders of the files
 * @param temporary identifies this process among those that may write here
 * @param change makes each change of a file, perhaps behind a fence
 * @returns false if a fence was broken: the files from there on are unchanged
 */
export async function writeFilesDurably(
  disk: Disk,
  made: DurableFolders,
  files: FileChanges,
  temporary: string,
  change: ChangeFile = (make) => make(),
): Promise<boolean> {
  const folders = new Set<string>()
  for (const [path, text] of files) {
    const folder = dirname(path)
    if (text === null) {
      if (!(await disk.exists(path))) continue
      if (!(await change((fence) => disk.remove(path, fence)))) return false
    } else {
      if (!folders.has(folder)) await made.ensure(folder)
      const draft = `${path}.${temporary}.tmp`
      // Left over from a killed process of the same name.
      await disk.remove(draft)
      await disk.create(draft, text)
      await disk.sync(draft)
      if (!(await change((fence) => disk.rename(draft, path, fence)))) {
        await disk.remove(draft)
        return false
      }
    }
    folders.add(folder)
  }
  for (const folder of folders) await disk.sync(folder)
  return true
}
