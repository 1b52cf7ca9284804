import {
  accessSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'

/** Kind of what a path leads to: a pipe, a device and a socket are a `stream`. */
type Kind = 'file' | 'folder' | 'stream'

/** Tests whether a path leads to anything, with its links followed. */
export function exists(path: string): boolean {
  return existsSync(path)
}

/**
 * Finds the kind of what a path leads to, with its links followed; null for nothing, and for what
 * can't be looked at.
 */
export function findKind(path: string): Kind | null {
  const status = attempt(() => statSync(path))
  return status && (status.isFile() ? 'file' : status.isDirectory() ? 'folder' : 'stream')
}

/**
 * Returns a text that differs after each change of what a path leads to; empty for nothing, and for
 * what can't be looked at.
 */
export function findVersion(path: string): string {
  const { dev, ino, size, mtimeMs, ctimeMs } = attempt(() => statSync(path)) ?? {}
  return dev === undefined ? '' : [dev, ino, size, mtimeMs, ctimeMs].join()
}

/** Tests whether a path itself is a link. */
export function isLink(path: string): boolean {
  return readLink(path) !== null
}

/** Returns the text of a link; null for anything else, and for nothing. */
export function readLink(path: string): string | null {
  return attempt(() => readlinkSync(path))
}

/** Resolves all links of an existing path. Throws what the file system throws. */
export function findRealPath(path: string): string {
  return realpathSync.native(path)
}

/** Finds the user id of the owner of a file, folder or link. Throws what the file system throws. */
export function findOwner(path: string): number {
  return lstatSync(path).uid
}

/** Tests whether this user may execute a file. Throws what the file system throws. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch (error) {
    if (findCode(error) === 'EACCES') return false
    throw error
  }
}

/** Tests whether an open file is a character device, as a terminal is, but not the null device. */
export function mayBeTerminal(descriptor: number): boolean {
  const status = fstatSync(descriptor)
  if (!status.isCharacterDevice()) return false
  return status.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev
}

/** Finds the type of the file system of a folder (`statfs`); null if it does not name one. */
export function findFileSystemType(folder: string): number | null {
  return attempt(() => statfsSync(folder).type)
}

/** Returns null where the file system fails. */
export function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    findCode(error)
    return null
  }
}

/** Returns the code of an error of the file system; throws any other error. */
export function findCode(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code)
  throw error
}
