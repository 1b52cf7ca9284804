import { chmodSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInside } from './is-inside.ts'
import { exists, findCode, isLink } from './look.ts'

/**
 * Replaces the text of a file below a root, completely or not at all, or creates it. A link is
 * followed if its target lies below the root.
 *
 * @param path relative to the root
 * @param temporary identifies this process among those that may write here
 * @returns why it can't be written: a code of the file system, or `OUTSIDE` for a path that leads
 *   out of the root; null if it was
 */
export function replaceBelow(
  root: string,
  path: string,
  text: string,
  temporary: string,
): string | null {
  try {
    const target = join(root, path)
    if (!isInside(root, target)) return 'OUTSIDE'
    replaceFile(resolveTarget(target), text, temporary)
    return null
  } catch (error) {
    return findCode(error)
  }
}

/** Returns the real path of what exists; throws for a link that leads nowhere. */
export function resolveTarget(path: string): string {
  return exists(path) || isLink(path) ? realpathSync.native(path) : path
}

/** Creates the error for a folder or a stream in place of a file. */
export function createKindError(isFolder: boolean): Error {
  return Object.assign(new Error('no regular file'), { code: isFolder ? 'EISDIR' : 'ENOTSUP' })
}

/**
 * Replaces a file, completely or not at all: a draft beside it takes its place, with its mode.
 * Throws what the file system throws; the old file is untouched then.
 *
 * @param path of a regular file or of nothing, without links
 */
export function replaceFile(path: string, text: string, temporary: string): void {
  const draft = `${path}.${temporary}.tmp`
  const status = statSync(path, { throwIfNoEntry: false })
  if (status?.isFile() === false) throw createKindError(status.isDirectory())
  writeFileSync(draft, '', { flag: 'wx' })
  try {
    if (status !== undefined) chmodSync(draft, status.mode)
    writeFileSync(draft, text)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
