import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Replaces a file so that a crash at any moment leaves the old or the new text, never a part: temporary file, fsync,
 * rename, fsync of the folder. Folders are made as needed. The file is readable by its owner only.
 */
export function writeFileDurably(path: string, text: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.tmp`
  // Left over from a process of the same number that was killed here.
  rmSync(temporary, { force: true })
  const file = openSync(temporary, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
  syncFolder(folder)
}

/** Deletes a file durably; one that is not there is as good as deleted. */
export function removeFileDurably(path: string): void {
  rmSync(path, { force: true })
  syncFolder(dirname(path))
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
