import { dirname } from 'node:path'
import type { Disk } from './disk.ts'
import type { DurableFolders } from './durable-folders.ts'

/** Files by path: their texts, or null for one that is to go. */
export type FileChanges = ReadonlyMap<string, string | null>

/**
 * Replaces files so that a crash at any moment leaves the old or the new text of each, never a
 * part: temporary file, sync, rename, sync of the folder. Any of them may survive without the
 * others. Folders are made as needed.
 *
 * @param made makes the folders that they lie in
 * @param temporary names this process among those that may write here
 */
export async function writeFilesDurably(
  disk: Disk,
  made: DurableFolders,
  files: FileChanges,
  temporary: string,
): Promise<void> {
  const folders = new Set<string>()
  for (const [path, text] of files) {
    const folder = dirname(path)
    if (text === null) {
      if (!(await disk.exists(path))) continue
      await disk.remove(path)
    } else {
      if (!folders.has(folder)) await made.ensure(folder)
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
