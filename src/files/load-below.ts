import { getOrAdd } from '../core/model/lists.ts'
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findLinkIn } from './find-link.ts'
import { isInside, isWithin } from './is-inside.ts'
import {
  createFault,
  createReadFault,
  isFault,
  loadBounded,
  type FileFault,
} from './load-bounded.ts'
import { findReal } from './list-below.ts'
import { findCode, findKind } from './look.ts'

/**
 * Loads a regular file below a root as `loadBounded` does. A link is followed only if its target
 * lies below the root; else the fault is `outside`.
 *
 * @param root a real path
 * @param path relative to the root, with `/`
 * @param folders remembers which folders are reached without a link, for many files
 */
export function loadBelow(
  root: string,
  path: string,
  maxBytes: number,
  folders?: Map<string, boolean>,
): Buffer | FileFault {
  if (folders !== undefined && isDirect(root, dirname(path), folders)) {
    const loaded = loadBounded(join(root, path), maxBytes, 'refuse')
    if (!isFault(loaded) || loaded.code !== 'ELOOP') return loaded
  }
  let target: string
  try {
    target = realpathSync.native(join(root, path))
  } catch (error) {
    return createReadFault(findCode(error))
  }
  if (!isWithin(root, target)) return createFault('outside', 'it leads outside')
  return loadBounded(target, maxBytes, 'refuse')
}

/** Tests whether a folder lies below a root and is reached without a link. */
function isDirect(root: string, folder: string, folders: Map<string, boolean>): boolean {
  const path = join(root, folder)
  return getOrAdd(folders, folder, () => isWithin(root, path) && findReal(path) === path)
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
