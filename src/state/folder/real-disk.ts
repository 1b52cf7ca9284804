import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Disk } from './disk.ts'

/**
 * The file system of this machine. Its steps are done when they return: thousands of small files go
 * faster so. What it can't do, since a disk is full or a file is another user's, is told as
 * EdgewiseError `record-unreachable`.
 */
export const realDisk: Disk = {
  read: async (path) => attempt(path, () => readFileSync(path, 'utf8'), { ENOENT: null }),
  list: async (folder) => attempt(folder, () => readdirSync(folder), { ENOENT: [] }),
  exists: async (path) => existsSync(path),
  makeFolder: async (path) =>
    attempt(path, () => done(mkdirSync(path, { mode: 0o700 })), { EEXIST: false }),
  create: async (path, text) =>
    attempt(path, () => done(writeFileSync(path, text, { flag: 'wx', mode: 0o600 })), {
      EEXIST: false,
    }),
  link: async (from, to) => attempt(to, () => done(linkSync(from, to)), { EEXIST: false }),
  sync: async (path) => {
    const handle = attempt(path, () => openSync(path, 'r'), {})
    try {
      attempt(path, () => fsyncSync(handle), {})
    } finally {
      closeSync(handle)
    }
  },
  rename: async (from, to) => attempt(to, () => renameSync(from, to), {}),
  remove: async (path) => attempt(path, () => rmSync(path, { recursive: true, force: true }), {}),
}

function done(_nothing: unknown): boolean {
  return true
}

/** What some work gives, or what stands for the code that it fails with. */
function attempt<T>(path: string, work: () => T, expected: Record<string, T>): T {
  try {
    return work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const stands = expected[code]
    if (stands !== undefined) return stands
    throw new EdgewiseError(
      'record-unreachable',
      `the record can't be read or written at ${path}: ${message}`,
      'Make that possible, and run the same command again.',
    )
  }
}
