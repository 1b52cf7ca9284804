import {
  closeSync,
  constants,
  fsync,
  linkSync,
  mkdirSync,
  appendFileSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'

// Single steps for stores, whose protocols decide what survives a crash. Each throws what the file
// system throws.

const { O_WRONLY, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants

/** Creates a folder in an existing one, for its owner only. */
export function createFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 })
}

/** Creates a file, for its owner only. */
export function createFile(path: string, text: string): void {
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
}

/** Adds text to the end of an existing file that is no link. */
export function appendToFile(path: string, text: string): void {
  const file = openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK)
  try {
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** Adds text to a file that the environment names, or creates it. */
export function appendToNamed(path: string, text: string): void {
  appendFileSync(path, text)
}

/** Adds a second name to a file. */
export function addName(from: string, to: string): void {
  linkSync(from, to)
}

/** Renames a file; it replaces another one. */
export function renameFile(from: string, to: string): void {
  renameSync(from, to)
}

/** Removes a file or a folder with its contents. `rmSync` alone takes five times as long. */
export function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    rmSync(path, { recursive: true, force: true })
  }
}

/** Opens a file or folder, to make it durable. */
export function openToSync(path: string): number {
  return openSync(path, 'r')
}

/** Adds text to an open file, and returns the number of bytes. */
export function appendTo(file: number, text: string): number {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
  return bytes.length
}

/** Identity and size of a file. */
export interface FileStats {
  ino: number
  size: number
}

/** Reads the stats of what a path leads to; null for nothing. */
export function readStats(path: string): FileStats | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : { ino: stats.ino, size: stats.size }
}

export const closeFile = closeSync

/** Makes the content and the name or mode of an open file durable. */
export const syncFile = promisify(fsync)
