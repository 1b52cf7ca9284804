import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isInside } from '../files/is-inside.ts'
import type { CacheFile } from '../manifest/cache/cache-file.ts'
import { findRepositoryFolder } from '../state/git/find-repository-folder.ts'
import type { CachePart, Outside, UserCache } from './outside.ts'

/** Maximum size of a file that is loaded, bytes. */
const maxBytes = 256 * 1024 * 1024
/** Number of files: two of each workspace. */
const maxFiles = 32
/** Age of a temporary file whose process died, ms. */
const abandonedMs = 3_600_000

/**
 * Creates the cache in the folder of the user: by the XDG specification, on Windows in
 * `%LOCALAPPDATA%`. A folder counts only if it belongs to this user, nobody else can write to it,
 * and it is outside of the workspace and of the repository around it: a checkout must not be able
 * to bring a cache. Where the file system fails, there is no cache.
 */
export function createUserCache(env: Outside['env']): UserCache {
  return { open: (root, part) => attempt(() => openFile(env, root, part)) }
}

function openFile(env: Outside['env'], root: string, part: CachePart): CacheFile | null {
  const folder = findFolder(env)
  if (folder === null || isInside(findRepositoryFolder(root) ?? root, folder)) return null
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found !== undefined && !isOwnFolder(found)) return null
  const file = join(folder, `${hash('sha256', `${part} ${realpathSync(root)}`).slice(0, 32)}.json`)
  return {
    load: () => attempt(() => loadOwn(file)),
    save: (text) => {
      attempt(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        if (!isOwnFolder(lstatSync(folder))) return
        replace(file, text)
        prune(folder, file)
      })
    },
  }
}

function isOwnFolder(status: Stats): boolean {
  return status.isDirectory() && isOwn(status)
}

function findFolder(env: Outside['env']): string | null {
  const { XDG_CACHE_HOME: xdg = '', LOCALAPPDATA: local = '', HOME: home = '' } = env
  const base = [xdg, local, home === '' ? '' : join(home, '.cache')].find((path) =>
    isAbsolute(path),
  )
  return base === undefined ? null : join(base, 'edgewise')
}

/** Tests whether only this user can write. On Windows the folder's permissions ensure it. */
function isOwn({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
}

function loadOwn(file: string): string | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const status = fstatSync(handle)
    const isUsed = status.isFile() && isOwn(status) && status.size <= maxBytes
    return isUsed ? readFileSync(handle, 'utf8') : null
  } finally {
    closeSync(handle)
  }
}

/** Replaces a file at once: another process loads the old text or the new one. */
function replace(file: string, text: string): void {
  const temporary = `${file}.${randomUUID()}.tmp`
  writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
  renameSync(temporary, file)
}

/** Removes the oldest files, and temporary files of processes that died. */
function prune(folder: string, newest: string): void {
  const nowMs = statSync(newest).mtimeMs
  const files = readdirSync(folder)
    .filter((name) => /^[0-9a-f]{32}\.json(\.[0-9a-f-]{36}\.tmp)?$/.test(name))
    .map((name) => ({ path: join(folder, name), atMs: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => b.atMs - a.atMs)
  const old = files.filter(({ path }) => path.endsWith('.json')).slice(maxFiles)
  const abandoned = files.filter(
    ({ path, atMs }) => path.endsWith('.tmp') && nowMs - atMs > abandonedMs,
  )
  for (const { path } of [...old, ...abandoned]) rmSync(path, { force: true })
}

/** Returns null where the file system fails: the result is the same without a cache. */
function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}
