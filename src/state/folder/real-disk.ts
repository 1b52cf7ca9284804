import {
  closeSync,
  constants,
  existsSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Disk, Fence } from './disk.ts'
import { syncFileSystem } from './sync-file-system.ts'

/** Opens an existing file to add to its end. */
const appendOnly = constants.O_WRONLY | constants.O_APPEND
/** Maximum size of a state file, bytes. */
const maxBytes = 256 * 1024 * 1024
/** Gets the bytes of each small file until they are decoded. */
const scratch = Buffer.allocUnsafeSlow(16 * 1024)

const syncHandle = promisify(fsync)

/**
 * File system of this machine. Its operations are synchronous, which is faster for thousands of
 * small files; only syncs, which wait for the disk, let other work go on. Failures, such as a full
 * disk or a file of another user, are thrown as EdgewiseError `record-unreachable`.
 */
export const realDisk: Disk = {
  read: async (path) => load(path),
  list: async (folder) => attempt(folder, () => readdirSync(folder), { ENOENT: [] }),
  exists: async (path) => existsSync(path),
  makeFolder: async (path) =>
    attempt(path, () => done(mkdirSync(path, { mode: 0o700 })), { EEXIST: false }),
  create: async (path, text) =>
    attempt(path, () => done(writeFileSync(path, text, { flag: 'wx', mode: 0o600 })), {
      EEXIST: false,
    }),
  append: async (path, text, fence) =>
    isIntact(fence) && attempt(path, () => done(append(path, text)), { ENOENT: false }),
  link: async (from, to) => attempt(to, () => done(linkSync(from, to)), { EEXIST: false }),
  sync: (path) =>
    sync(
      path,
      attempt(path, () => openSync(path, 'r'), {}),
    ),
  syncIfThere: async (path) => {
    const handle = attempt(path, () => openSync(path, 'r'), { ENOENT: null })
    if (handle !== null) await sync(path, handle)
    return handle !== null
  },
  syncAll: syncFileSystem,
  rename: async (from, to, fence) =>
    isIntact(fence) && attempt(to, () => done(renameSync(from, to)), {}),
  remove: async (path, fence) => isIntact(fence) && attempt(path, () => done(remove(path)), {}),
}

async function sync(path: string, handle: number): Promise<void> {
  try {
    await syncHandle(handle).catch((error: unknown) => attempt(path, () => fail(error), {}))
  } finally {
    closeSync(handle)
  }
}

function append(path: string, text: string): void {
  const handle = openSync(path, appendOnly)
  try {
    writeFileSync(handle, text)
  } finally {
    closeSync(handle)
  }
}

/** Removes a file or folder. `rmSync` alone takes five times as long for a file. */
function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    rmSync(path, { recursive: true, force: true })
  }
}

function load(path: string): string | null {
  const bytes = loadBounded(path, maxBytes, 'follow', scratch)
  if (!isFault(bytes)) return bytes.toString('utf8')
  if (bytes.code === 'ENOENT') return null
  throw createDiskError(path, bytes.reason)
}

function createDiskError(path: string, message: string): EdgewiseError {
  return new EdgewiseError(
    'record-unreachable',
    `cannot read or write the state at ${path}: ${message}`,
    'Fix the cause, then run the same command again.',
  )
}

function isIntact(fence: Fence | undefined): boolean {
  if (fence === undefined) return true
  const { folder } = fence
  return fence.isIntact(attempt(folder, () => readdirSync(folder), { ENOENT: [] }))
}

function done(_nothing: unknown): boolean {
  return true
}

function fail(error: unknown): never {
  throw error
}

/** Returns the result of `work`, or the value expected for the error code that it throws. */
function attempt<T>(path: string, work: () => T, expected: Record<string, T>): T {
  try {
    return work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const value = Object.hasOwn(expected, code) ? expected[code] : undefined
    if (value !== undefined) return value
    throw createDiskError(path, message)
  }
}
