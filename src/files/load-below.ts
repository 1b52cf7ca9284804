import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { findLinkIn } from './find-link.ts'
import { isInside, isWithin } from './is-inside.ts'
import { createFault, createReadFault, loadBounded, type FileFault } from './load-bounded.ts'
import { findCode, findKind } from './look.ts'

/**
 * Loads a regular file below a root as `loadBounded` does. A link is followed only if its target
 * lies below the root; else the fault is `outside`.
 *
 * @param root a real path
 * @param path relative to the root, with `/`
 */
export function loadBelow(root: string, path: string, maxBytes: number): Buffer | FileFault {
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
