import { compareKeys } from '../../core/model/lists.ts'
import type { FileChanges } from './write-file.ts'

/** Adds later changes to earlier ones, which they replace. */
export function addChanges(all: Map<string, string | null>, later: FileChanges): void {
  for (const [path, text] of later) {
    all.delete(path)
    const isFolder = text === null && !path.endsWith('.json')
    if (isFolder) for (const each of all.keys()) if (each.startsWith(`${path}/`)) all.delete(each)
    all.set(path, text)
  }
}

/** Returns the files of a folder, or the file there, by path, as they are after any changes. */
export function changeFiles(
  files: Map<string, string>,
  changes: FileChanges,
  folder: string,
): Map<string, string> {
  const related = [...changes].filter(([path]) => isRelated(path, folder))
  if (related.length === 0) return files
  const all = new Map<string, string | null>(files)
  addChanges(all, new Map(related))
  const kept = [...all].filter(
    (entry): entry is [string, string] =>
      entry[1] !== null && `${entry[0]}/`.startsWith(`${folder}/`),
  )
  return new Map(kept.toSorted(compareKeys))
}

/** Tests whether one of two paths is, or is in, the other. */
function isRelated(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`) || `${folder}/`.startsWith(`${path}/`)
}

/** Finds a path to which changes of another process give another text; null if there is none. */
export function findConflict(steps: FileChanges[], foreign: FileChanges): string | null {
  for (const step of steps)
    for (const [path, text] of step)
      if (foreign.has(path) && foreign.get(path) !== text) return path
  return null
}
