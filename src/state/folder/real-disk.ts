import { explainFailure } from '../../files/explain-failure.ts'
import {
  addName,
  appendToFile,
  closeFile,
  createFile,
  createFolder,
  openToSync,
  remove,
  renameFile,
  syncFile,
} from '../../files/store-file.ts'
import { findAnyLink } from '../../files/find-link.ts'
import { listNames } from '../../files/list-names.ts'
import { exists } from '../../files/look.ts'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Disk, Fence } from './disk.ts'
import { syncFileSystem } from './sync-file-system.ts'

/** Maximum size of a state file, bytes. */
const maxBytes = 256 * 1024 * 1024

/**
 * File system of this machine. Its operations are synchronous, which is faster for thousands of
 * small files; only syncs, which wait for the disk, let other work go on. Failures, such as a full
 * disk or a file of another user, are thrown as EdgewiseError `record-unreachable`.
 */
export const realDisk: Disk = {
  read: async (path) => load(path),
  list: async (folder) => attempt(folder, () => listNames(folder), { ENOENT: [] }),
  exists: async (path) => exists(path),
  findLink: async (checkout, folder) => attempt(folder, () => findAnyLink(checkout, folder), {}),
  makeFolder: async (path) => attempt(path, () => done(createFolder(path)), { EEXIST: false }),
  create: async (path, text) =>
    attempt(path, () => done(createFile(path, text)), { EEXIST: false }),
  append: async (path, text, fence) =>
    isIntact(fence) && attempt(path, () => done(appendToFile(path, text)), { ENOENT: false }),
  link: async (from, to) => attempt(to, () => done(addName(from, to)), { EEXIST: false }),
  sync: (path) =>
    sync(
      path,
      attempt(path, () => openToSync(path), {}),
    ),
  syncIfThere: async (path) => {
    const handle = attempt(path, () => openToSync(path), { ENOENT: null })
    if (handle !== null) await sync(path, handle)
    return handle !== null
  },
  syncAll: syncFileSystem,
  rename: async (from, to, fence) =>
    isIntact(fence) && attempt(to, () => done(renameFile(from, to)), {}),
  remove: async (path, fence) => isIntact(fence) && attempt(path, () => done(remove(path)), {}),
}

async function sync(path: string, handle: number): Promise<void> {
  try {
    await syncFile(handle).catch((error: unknown) => attempt(path, () => fail(error), {}))
  } finally {
    closeFile(handle)
  }
}

function load(path: string): string | null {
  const bytes = loadBounded(path, maxBytes)
  if (!isFault(bytes)) return bytes.toString('utf8')
  if (bytes.code === 'ENOENT') return null
  throw createDiskError(path, bytes.reason)
}

function createDiskError(path: string, message: string): EdgewiseError {
  return new EdgewiseError(
    'record-unreachable',
    `cannot read or write the state at ${path}: ${explainFailure(message) ?? message}`,
    'Fix the cause, then run the same command again.',
  )
}

function isIntact(fence: Fence | undefined): boolean {
  if (fence === undefined) return true
  const { folder } = fence
  return fence.isIntact(attempt(folder, () => listNames(folder), { ENOENT: [] }))
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
