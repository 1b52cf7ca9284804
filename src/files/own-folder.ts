import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isInside } from './is-inside.ts'
import { maxListed } from './list-names.ts'
import { findCode, isLink } from './look.ts'
import { replaceBelow } from './replace-file.ts'

/** A folder whose files one command writes, with a file that says so. */
export interface OwnFolder {
  /** Absolute. */
  path: string
  marker: string
  /** Text of the marker. */
  text: string
  /** Folders in it. */
  folders: string[]
  /** Identifies this process among those that may write here. */
  temporary: string
}

/**
 * Claims a folder: makes it with its marker, unless it has files and no marker.
 *
 * @returns the name of a foreign file in it, or a code of the file system; null if it is claimed
 */
export function claimFolder(folder: OwnFolder): { foreign: string } | { code: string } | null {
  const { path, marker, text, folders, temporary } = folder
  try {
    mkdirSync(path, { recursive: true })
    const names = readdirSync(path)
    const [first] = names
    const isOwn = names.includes(marker) && !isLink(join(path, marker))
    if (first !== undefined && !isOwn) return { foreign: first }
    const code = replaceBelow(path, marker, text, temporary)
    if (code !== null) return { code }
    for (const name of folders) mkdirSync(join(path, name), { recursive: true })
    return null
  } catch (error) {
    return { code: findCode(error) }
  }
}

/**
 * Removes the files of a folder of an own folder that match a pattern and are not kept.
 *
 * @returns their number, or a code of the file system, or `OUTSIDE` for a folder that a link leads
 *   out of
 */
export function removeOthers(
  { path }: Pick<OwnFolder, 'path'>,
  folder: string,
  pattern: RegExp,
  kept: ReadonlySet<string>,
): number | { code: string } {
  const target = join(path, folder)
  try {
    if (!isInside(path, target)) return { code: 'OUTSIDE' }
    const names = readdirSync(target)
    if (names.length > maxListed) return { code: 'ETOOMANY' }
    const others = names.filter((name) => pattern.test(name) && !kept.has(name))
    const files = others
      .map((name) => join(target, name))
      .filter((file) => lstatSync(file).isFile())
    for (const file of files) rmSync(file)
    return files.length
  } catch (error) {
    return { code: findCode(error) }
  }
}
