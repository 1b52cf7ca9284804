import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { findCode } from './look.ts'

/** Reason why a file could not be loaded: an error of the file system, its kind or its size. */
export interface FileFault {
  kind: 'unreadable' | 'no-file' | 'too-large' | 'outside'
  /** Code of the file system's error; empty for the other kinds. */
  code: string
  /** A clause: what was expected, and what was found. */
  reason: string
}

const chunkBytes = 64 * 1024

/**
 * Loads a regular file of at most `maxBytes` bytes. Never blocks on a pipe or device, and never
 * loads more, whatever size the file claims to have.
 *
 * @param links whether a path that is a link is followed, or a fault
 */
export function loadBounded(
  path: string,
  maxBytes: number,
  links: 'follow' | 'refuse' = 'follow',
): Buffer | FileFault {
  let file: number | undefined
  try {
    const extra = links === 'refuse' ? constants.O_NOFOLLOW : 0
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | extra)
    const status = fstatSync(file)
    if (!status.isFile())
      return createFault(
        'no-file',
        `expected a file, got a ${status.isDirectory() ? 'folder' : 'pipe, socket or device'}`,
      )
    if (status.size > maxBytes) return createSizeFault(maxBytes, toMegabytes(status.size, 1))
    const bytes = readAll(file, status.size, maxBytes)
    return bytes ?? createSizeFault(maxBytes, 'more')
  } catch (error) {
    return createReadFault(findCode(error))
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Loads the text of a regular file.
 *
 * @throws Error with the reason if it can't be loaded
 */
export function loadText(path: string, maxBytes: number): string {
  const loaded = loadBounded(path, maxBytes)
  if (isFault(loaded)) throw new Error(`${path}: ${loaded.reason}`)
  return loaded.toString('utf8')
}

/** Creates the fault of a file that can't be opened, by the code of the file system. */
export function createReadFault(code: string): FileFault {
  // A socket can't be opened.
  return code === 'ENXIO'
    ? createFault('no-file', 'expected a file, got a pipe, socket or device')
    : { kind: 'unreadable', code, reason: `it can't be read (${code})` }
}

/** Tests whether a file could not be loaded. */
export function isFault(loaded: Buffer | FileFault): loaded is FileFault {
  return !Buffer.isBuffer(loaded)
}

/** Reads to the end of a file; null if it has more than `maxBytes` bytes. */
function readAll(file: number, size: number, maxBytes: number): Buffer | null {
  const chunks: Buffer[] = []
  let total = 0
  for (;;) {
    // One byte more than the size shows whether the file has more, or claims no size.
    const rest = size > 0 && total <= size ? size + 1 - total : chunkBytes
    const chunk = Buffer.allocUnsafe(rest)
    const read = readSync(file, chunk, 0, rest, null)
    total += read
    if (total > maxBytes) return null
    chunks.push(chunk.subarray(0, read))
    // A regular file of a known size ends where less is read than was asked for.
    if (read === 0 || (total === size && read < rest)) break
  }
  return chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks, total)
}

function createSizeFault(maxBytes: number, got: string): FileFault {
  return createFault('too-large', `expected at most ${toMegabytes(maxBytes, 0)}, got ${got}`)
}

export function createFault(kind: FileFault['kind'], reason: string): FileFault {
  return { kind, code: '', reason }
}

function toMegabytes(bytes: number, digits: number): string {
  return `${(bytes / 1024 / 1024).toFixed(digits)} MB`
}
