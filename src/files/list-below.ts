import { readdirSync, realpathSync, type Dirent } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isWithin } from './is-inside.ts'
import { maxListed } from './list-names.ts'
import { attempt, findCode, findKind } from './look.ts'

/** A file or folder of a folder. Links are shown as what they lead to. */
export type Entry = Pick<Dirent, 'name' | 'isFile' | 'isDirectory' | 'isSymbolicLink'>

/** A file or folder that is not listed, by its path relative to the root, with `/`. */
export interface ListFault {
  path: string
  kind: 'outside' | 'unreadable' | 'too-many'
  /** Code of the file system's error; empty for the other kinds. */
  code: string
}

/**
 * Creates a reader of folders below a root, for one search. Links within the root to folders are
 * listed as folders, each target once; everything else as files, so that loading them reports the
 * reason. Nothing outside of the root is listed, through whatever component of a path it was
 * reached. A missing folder has no entries.
 *
 * Excludes links that exist at the time, not those that another process makes meanwhile.
 *
 * @param root a real path
 */
export function createLister(
  root: string,
  report: (fault: ListFault) => void,
): (folder: string) => Entry[] {
  const followed = new Set<string>()
  let listed = 0
  const fail = (path: string, kind: ListFault['kind'], code = '') => {
    report({ path: relative(root, path).replaceAll(sep, '/'), kind, code })
    return []
  }
  const listLinked = (folder: string, real: string, entry: Dirent): Entry[] => {
    const target = resolveFolder(join(folder, entry.name))
    if (target === null) return [showAs('file', entry)]
    if (!isWithin(root, target)) return fail(join(folder, entry.name), 'outside')
    const isRepeated = followed.has(target) || isWithin(target, real)
    followed.add(target)
    return isRepeated ? [] : [showAs('folder', entry)]
  }
  return (folder) => {
    try {
      if (listed > maxListed) return []
      const real = realpathSync.native(folder)
      if (!isWithin(root, real)) return fail(findExit(root, folder) ?? folder, 'outside')
      const found = readdirSync(real, { withFileTypes: true })
      listed += found.length
      if (listed > maxListed) return fail(root, 'too-many')
      if (found.every((entry) => entry.isFile() || entry.isDirectory())) return found
      return found.flatMap((entry) => {
        if (entry.isSymbolicLink()) return listLinked(folder, real, entry)
        return [entry.isDirectory() || entry.isFile() ? entry : showAs('file', entry)]
      })
    } catch (error) {
      const code = findCode(error)
      if (code !== 'ENOENT' && code !== 'ENOTDIR') return fail(folder, 'unreadable', code)
      // The base folder of a glob need not exist, but nobody learns so about folders outside.
      const exit = findExit(root, folder)
      return exit === null ? [] : fail(exit, 'outside')
    }
  }
}

/** Finds the first component of a path whose target is outside the root; null if none exists. */
function findExit(root: string, path: string): string | null {
  let current = root
  for (const name of relative(root, path).split(sep)) {
    current = join(current, name)
    const real = findReal(current)
    if (real === null) return null
    if (!isWithin(root, real)) return current
  }
  return null
}

/** Resolves all links of a path; null if that fails. */
export function findReal(path: string): string | null {
  return attempt(() => realpathSync.native(path))
}

function resolveFolder(path: string): string | null {
  const target = findReal(path)
  return target !== null && findKind(target) === 'folder' ? target : null
}

function showAs(kind: 'file' | 'folder', entry: Dirent): Entry {
  return {
    name: entry.name,
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'folder',
    isSymbolicLink: () => false,
  }
}
