import { dirname } from 'node:path'
import type { Disk } from './disk.ts'

/** Files by path: their texts, or null for one that is to go. */
export type Files = ReadonlyMap<string, string | null>

/**
 * Replaces files so that a crash at any moment leaves the old or the new text of each, never a part: temporary file, sync,
 * rename, sync of the folder. Any of them may survive without the others. Folders are made as needed.
 *
 * @param temporary names this process among those that may write here
 */
export async function writeFilesDurably(disk: Disk, files: Files, temporary: string): Promise<void> {
  const folders = new Set<string>()
  for (const [path, text] of files) {
    const folder = dirname(path)
    if (text === null) {
      if (!(await disk.exists(path))) continue
      await disk.remove(path)
    } else {
      if (!folders.has(folder)) await ensureFolder(disk, folder)
      const draft = `${path}.${temporary}.tmp`
      // Left over from a process of the same name that was killed here.
      await disk.remove(draft)
      await disk.create(draft, text)
      await disk.sync(draft)
      await disk.rename(draft, path)
    }
    folders.add(folder)
  }
  for (const folder of folders) await disk.sync(folder)
}

/** Makes a folder and those that it lies in, each with a name that a crash does not take away. */
export async function ensureFolder(disk: Disk, folder: string): Promise<void> {
  const parent = dirname(folder)
  if (folder === parent || (await disk.exists(folder))) return
  await ensureFolder(disk, parent)
  if (await disk.makeFolder(folder)) await disk.sync(parent)
}
