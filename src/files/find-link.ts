import { lstatSync, readdirSync, readlinkSync, realpathSync, type Dirent } from 'node:fs'
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path'
import { isInside, isWithin } from './is-inside.ts'
import { findCode } from './look.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'

/** Maximum number of links of a path, as in Linux. */
const maxLinks = 40

/**
 * Finds the first link on a path that lies in a folder, for example one that a commit has brought
 * into the checkout; null if there is none. Links that lie elsewhere are followed. A component that
 * does not exist or can't be looked at ends the search: opening the path then fails.
 *
 * Excludes links that exist when it is called, not those that another process makes meanwhile.
 */
export function findLinkIn(folder: string, path: string): string | null {
  const top = realpathSync.native(folder)
  let links = 0
  let current = parse(resolve(path)).root
  let rest = split(resolve(path))
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '..') {
      current = dirname(current)
      continue
    }
    const next = join(current, name)
    const target = readTarget(next)
    if (target === undefined) return null
    if (target === null) {
      current = next
      continue
    }
    // The spelling of a name counts on no file system: only that on the disk does.
    if (isWithin(top, join(realpathSync.native(current), name))) return next
    if (++links > maxLinks) return null
    if (isAbsolute(target)) current = parse(target).root
    rest = [...split(target), ...rest]
  }
  return null
}

/**
 * Finds a link on the way to a folder as `findLinkIn` does, and below the folder if that lies in
 * the first one. Throws what the file system throws.
 */
export function findAnyLink(folder: string, path: string): string | null {
  const link = findLinkIn(folder, path)
  return link !== null || !isInside(folder, path) ? link : findLinkBelow(path)
}

function findLinkBelow(path: string): string | null {
  for (const entry of listEntries(path)) {
    const found = entry.isSymbolicLink()
      ? join(path, entry.name)
      : entry.isDirectory()
        ? findLinkBelow(join(path, entry.name))
        : null
    if (found !== null) return found
  }
  return null
}

/** Lists a folder; nothing for what is none, or what another process has removed. */
function listEntries(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(findCode(error))) return []
    throw error
  }
}

/** Returns the text of a link, null for anything else, undefined for what can't be looked at. */
function readTarget(path: string): string | null | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null
  } catch (error) {
    findCode(error)
    return undefined
  }
}

function split(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((name) => name !== '' && name !== '.')
}

/**
 * Refuses a path to write to that leads through a link in the checkout.
 *
 * @throws EdgewiseError `usage`
 */
export function refuseLinkIn(checkout: string, path: string): void {
  const link = findLinkIn(checkout, path)
  if (link !== null) throw createLinkError(path, link)
}

/** Creates the error of a path to write to that leads through a link in the checkout. */
export function createLinkError(path: string, link: string): EdgewiseError {
  return new EdgewiseError(
    'usage',
    `${path} is not written: ${link} is a symbolic link in the checkout, and a commit can ` +
      'bring one',
    'Remove the link, or choose a path outside of the checkout.',
  )
}
