import { dirname } from 'node:path'
import type { Disk, Fence } from './disk.ts'

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

/**
 * Creates folders below a root, and the root itself, whose names survive a crash. An existing
 * folder may come from a process that died before its name was durable, so its name is synced too.
 */
export class DurableFolders {
  readonly #disk: Disk
  readonly #root: string
  readonly #durable = new Set<string>()

  constructor(disk: Disk, root: string) {
    this.#disk = disk
    this.#root = root
  }

  async ensure(folder: string): Promise<void> {
    const parent = dirname(folder)
    if (folder === parent || this.#durable.has(folder)) return
    const above = folder.length < this.#root.length
    if (above && (await this.#disk.exists(folder))) return
    await this.ensure(parent)
    if (!(await this.#disk.exists(folder))) await this.#disk.makeFolder(folder)
    await this.#disk.sync(parent)
    this.#durable.add(folder)
  }
}
