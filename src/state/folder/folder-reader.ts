import { join } from 'node:path'
import { append } from '../../core/model/lists.ts'
import type { SharedFiles } from '../store/state-files.ts'
import type { Disk } from './disk.ts'
import { changeFiles } from './file-changes.ts'
import type { FileChanges } from './write-file.ts'

/** Files of a folder, as they are after the changes that are only in logs. */
export interface FolderReader extends SharedFiles {
  /** Loads the texts of some files; null for one that does not exist. */
  loadTexts(paths: Iterable<string>): Promise<FileChanges>
}

/**
 * Creates the reader of a folder.
 *
 * @param loadPending loads the changes that are only in logs. It is called first: what leaves them
 *   meanwhile is in the files
 */
export function createFolderReader(
  disk: Disk,
  root: string,
  loadPending: () => Promise<FileChanges>,
): FolderReader {
  return {
    describePath: (path) => join(root, path),
    listTopFolders: async () => {
      const pending = [...(await loadPending())].flatMap(([path, text]) =>
        text === null ? [] : path.slice(0, path.indexOf('/')),
      )
      const names = (await disk.list(root)).filter((name) => !name.includes('.'))
      return [...new Set([...names, ...pending])]
    },
    listPaths: async (folder) => {
      const pending = await loadPending()
      const paths = await listFiles(disk, root, folder)
      return [...changeFiles(new Map(paths.map((path) => [path, ''])), pending, folder).keys()]
    },
    load: async (...folders) => {
      const pending = await loadPending()
      const all: [string, string][] = []
      for (const folder of folders)
        append(all, [...changeFiles(await loadFiles(disk, root, folder), pending, folder)])
      return new Map(all)
    },
    loadTexts: async (paths) => {
      const pending = await loadPending()
      const texts = new Map<string, string | null>()
      for (const path of paths) {
        const text = pending.get(path)
        texts.set(path, text === undefined ? await disk.read(join(root, path)) : text)
      }
      return texts
    },
  }
}

async function loadFiles(disk: Disk, root: string, folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const path of await listFiles(disk, root, folder)) {
    const text = await disk.read(join(root, path))
    // A command that holds the lock may remove the file after it was listed.
    if (text !== null) found.set(path, text)
  }
  return found
}

/** Lists the files in a folder, at any depth; a file lists itself. */
async function listFiles(disk: Disk, root: string, folder: string): Promise<string[]> {
  if (isStateFile(folder)) return [folder]
  const found: string[] = []
  for (const name of (await disk.list(join(root, folder))).toSorted()) {
    const path = `${folder}/${name}`
    if (isStateFile(name)) found.push(path)
    else if (!name.includes('.')) append(found, await listFiles(disk, root, path))
  }
  return found
}

/**
 * Returns whether a path is that of a file of state: files left by a killed process or an editor
 * have another ending, folders have none.
 */
function isStateFile(path: string): boolean {
  return path.endsWith('.json') || path.endsWith('.sig')
}
