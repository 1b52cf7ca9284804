import { constants, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { findLinkIn } from './find-link.ts'
import { isInside, isWithin } from './is-inside.ts'
import {
  createFault,
  createReadFault,
  isFault,
  loadBounded,
  type FileFault,
} from './load-bounded.ts'
import { findCode, findKind } from './look.ts'

/**
 * Real paths of folders within a root, by their paths relative to it; null for others. Kept for one
 * run only, since folders may be replaced.
 */
export type RealFolders = Map<string, string | null>

/**
 * Loads a regular file below a root as `loadBounded` does. A link is followed only if its target
 * lies below the root; else the fault is `outside`.
 *
 * @param root a real path
 * @param path relative to the root, with `/`
 * @param folders shared by the files of a run; filled here
 */
export function loadBelow(
  root: string,
  path: string,
  maxBytes: number,
  folders: RealFolders,
  scratch?: Buffer<ArrayBuffer>,
): Buffer | FileFault {
  const direct = loadDirectly(root, path, maxBytes, folders, scratch)
  if (direct !== null) return direct
  let target: string
  try {
    target = realpathSync.native(join(root, path))
  } catch (error) {
    return createReadFault(findCode(error))
  }
  if (!isWithin(root, target)) return createFault('outside', 'it leads outside')
  return loadBounded(target, maxBytes, 'refuse')
}

/**
 * Loads a regular file that the user named, as `loadBounded` does. A link in the checkout is
 * followed only if its target lies in the checkout, too; else the fault is `outside`.
 *
 * @param checkout folder that a commit brings; null if there is none
 */
export function loadNamed(
  path: string,
  maxBytes: number,
  checkout: string | null,
): Buffer | FileFault {
  const leaves =
    checkout !== null && findLinkIn(checkout, path) !== null && !isInside(checkout, path)
  // Of anything but a file, `loadBounded` loads nothing and has the reason.
  if (leaves && findKind(path) === 'file')
    return createFault('outside', 'expected a file, got a link out of the checkout')
  return loadBounded(path, maxBytes)
}

/** Loads a file that is no link. Null for any other, for which `loadBelow` has the reason. */
function loadDirectly(
  root: string,
  path: string,
  maxBytes: number,
  folders: RealFolders,
  scratch?: Buffer<ArrayBuffer>,
): Buffer | null {
  // Windows can't refuse links.
  if (constants.O_NOFOLLOW === undefined) return null
  const start = path.lastIndexOf('/') + 1
  const folder = path.slice(0, start)
  let real = folders.get(folder)
  if (real === undefined) folders.set(folder, (real = resolveFolder(root, folder)))
  if (real === null) return null
  const loaded = loadBounded(real + sep + path.slice(start), maxBytes, 'refuse', scratch)
  return isFault(loaded) ? null : loaded
}

/** Returns the real path of a folder; null if it can't be found or is outside the root. */
function resolveFolder(root: string, folder: string): string | null {
  try {
    const real = realpathSync.native(join(root, folder))
    return isWithin(root, real) ? real : null
  } catch (error) {
    findCode(error)
    return null
  }
}
