import { attempt } from './look.ts'
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { isInAnyWorkTree } from './work-tree.ts'

/** Maximum size of a file that is loaded, bytes. */
const maxBytes = 256 * 1024 * 1024
/** Age of a temporary file whose process died, ms. */
const abandonedMs = 3_600_000

type Env = Record<string, string | undefined>

/**
 * Finds a folder of the user: by the XDG specification, on Windows in `%LOCALAPPDATA%`. Null
 * without a home.
 *
 * @param below the usual place below the home
 */
export function findUserFolder(env: Env, variable: string, ...below: string[]): string | null {
  const { [variable]: xdg = '', LOCALAPPDATA: local = '', HOME: home = '' } = env
  const places = [xdg, local, home === '' ? '' : join(home, ...below)]
  const base = places.find((path) => isAbsolute(path))
  return base === undefined ? null : join(base, 'edgewise')
}

/**
 * Finds the folder of the user's cache. Null if there is none, if it is no folder of this user that
 * nobody else can write to, or if a checkout may have brought it. A CI job has none unless
 * `EDGEWISE_CACHE` is `on`: what one job left there could be of another branch.
 */
export function findCacheFolder(env: Env): string | null {
  if (isCiJob(env) && env['EDGEWISE_CACHE'] !== 'on') return null
  const folder = findUserFolder(env, 'XDG_CACHE_HOME', '.cache')
  if (folder === null) return null
  const found = lstatSync(folder, { throwIfNoEntry: false })
  const isUsable = found === undefined || isOwnFolder(found)
  return isUsable && !isInAnyWorkTree(folder) ? folder : null
}

/** Makes the folder of compiled code in the user's cache; null where there is no cache. */
function makeCodeFolder(env: Env): string | null {
  const cache = findCacheFolder(env)
  if (cache === null) return null
  const folder = join(cache, 'code')
  return makeOwn(cache) && makeOwn(folder) ? folder : null
}

/** Makes a folder for this user alone; returns whether it is one. */
function makeOwn(folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return isOwnFolder(lstatSync(folder))
}

/**
 * Lets Node keep the code that it compiles in the user's cache, where Node can (from 22.1). The
 * cache is code, so its folder is one that no checkout can bring.
 */
export function useCompileCache(args: readonly string[], env: Env): void {
  const { enableCompileCache } = createRequire(import.meta.url)('node:module') as {
    enableCompileCache?(folder: string): unknown
  }
  if (enableCompileCache === undefined || args.includes('--no-cache')) return
  const folder = attempt(() => makeCodeFolder(env))
  if (folder !== null) enableCompileCache(folder)
}

/** Tests whether this is a job of a CI service. */
export function isCiJob({ CI: value = '' }: Env): boolean {
  return !['', '0', 'false'].includes(value.toLowerCase())
}

function isOwnFolder(status: Stats): boolean {
  return status.isDirectory() && isOwn(status)
}

/** Tests whether only this user can write. On Windows the folder's permissions ensure it. */
function isOwn({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
}

/** Loads a file that only this user can write; null if it is no such file. */
export function loadOwn(file: string): Buffer | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const status = fstatSync(handle)
    const isUsed = status.isFile() && isOwn(status) && status.size <= maxBytes
    return isUsed ? readFileSync(handle) : null
  } finally {
    closeSync(handle)
  }
}

/**
 * Replaces a file of the cache at once: another process loads the old content or the new one.
 * Removes the oldest files of its kind, and temporary files of processes that died.
 *
 * @param kind pattern of the names of its kind, without start and end
 * @param maxFiles number of files of its kind that are kept
 */
export function replaceOwn(
  folder: string,
  name: string,
  content: string | Uint8Array,
  kind: RegExp,
  maxFiles: number,
): void {
  if (!makeOwn(folder)) return
  const file = join(folder, name)
  const temporary = `${file}.${randomUUID()}.tmp`
  writeFileSync(temporary, content, { flag: 'wx', mode: 0o600 })
  renameSync(temporary, file)
  prune(folder, statSync(file).mtimeMs, kind, maxFiles)
}

function prune(folder: string, nowMs: number, kind: RegExp, maxFiles: number): void {
  const pattern = new RegExp(String.raw`^(?:${kind.source})(\.[0-9a-f-]{36}\.tmp)?$`)
  const files = readdirSync(folder)
    .filter((name) => pattern.test(name))
    .map((name) => ({ path: join(folder, name), atMs: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => b.atMs - a.atMs)
  const old = files.filter(({ path }) => !path.endsWith('.tmp')).slice(maxFiles)
  const abandoned = files.filter(
    ({ path, atMs }) => path.endsWith('.tmp') && nowMs - atMs > abandonedMs,
  )
  for (const { path } of [...old, ...abandoned]) rmSync(path, { force: true })
}
