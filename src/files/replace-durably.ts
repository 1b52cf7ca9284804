import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { appendTo } from './store-file.ts'

/**
 * Replaces a file (mode 0600): a crash leaves the old text or the new one, and once this returns
 * the new one survives a power cut. Creates missing folders. Throws what the file system throws;
 * the old file is untouched then.
 */
export function replaceDurably(path: string, text: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  rmSync(temporary, { force: true })
  try {
    writeWhole(temporary, text)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(folder)
}

function writeWhole(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    appendTo(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Makes the new name of a file durable. Windows cannot open folders and does this itself. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
