import { randomUUID, hash } from 'node:crypto'
import { hostname, uptime, userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCacheFolder, loadOwn, replaceOwn } from '../../files/cache-folder.ts'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { findRealPath, readLink, attempt } from '../../files/look.ts'
import type { CacheFile } from '../../manifest/manifests/cache/manifest-cache.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { Outside, CachePart, UserCache } from './parts.ts'
import { countSpareThreads, createWorkerPool } from './worker-pool.ts'
import { realDisk } from '../../state/folder/real-disk.ts'
import type { Machine } from '../../state/locks/machine.ts'
import { join } from 'node:path'

/** Maximum size of a file of the system. */
const maxBytes = 64 * 1024

/** Creates the outside of a Node process. */
export function createNodeOutside(signal: AbortSignal): Outside {
  return {
    env: process.env,
    clock: realClock,
    random: () => Math.random(),
    newId: () => randomUUID(),
    user: `${findUserName()}@${hostname()}`,
    signal,
    machine: describeMachine(),
    disk: realDisk,
    pool: createWorkerPool(countSpareThreads()),
    cache: createUserCache(process.env),
  }
}

const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: async (ms, signal) => {
    if (signal?.aborted === true) return
    await sleep(ms, undefined, { signal }).catch((error: Error) => {
      if (error.name !== 'AbortError') throw error
    })
  },
}

/** Describes this machine and this process. */
function describeMachine(): Machine {
  // Most commands ask for none of these, and /proc is slow.
  let boot: string | undefined
  let start: string | undefined
  return {
    get boot() {
      return (boot ??= loadOrEmpty('/proc/sys/kernel/random/boot_id'))
    },
    get namespace() {
      return readLink('/proc/self/ns/pid') ?? ''
    },
    pid: process.pid,
    get started() {
      return (start ??= findStart(process.pid))
    },
    uptime: () => 1000 * uptime(),
    processName: `${hostname()}-${process.pid}`.replace(/[^A-Za-z0-9-]/g, '_'),
    isRunning: (pid, started) => {
      try {
        process.kill(pid, 0)
        return started === '' || [started, ''].includes(findStart(pid))
      } catch (error) {
        return (error as NodeJS.ErrnoException).code !== 'ESRCH'
      }
    },
    isStopped: (pid) => ['T', 't'].includes(loadStat(pid)[0] ?? ''),
  }
}

/**
 * Finds the start of a process, in clock ticks since the boot: field 22 of its `stat`. Empty if the
 * system does not report it.
 */
function findStart(pid: number): string {
  return loadStat(pid)[19] ?? ''
}

/**
 * Loads the fields of a process's `stat` from field 3, its state. Field 2, the name of the program,
 * may contain spaces and parentheses.
 */
function loadStat(pid: number): string[] {
  const stat = loadOrEmpty(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function loadOrEmpty(path: string): string {
  const loaded = loadBounded(path, maxBytes)
  return isFault(loaded) ? '' : loaded.toString('utf8').trim()
}

function findUserName(): string {
  try {
    return userInfo().username
  } catch (error) {
    // A process may run under a user id that has no name.
    if (error instanceof Error && 'code' in error) return String(process.getuid?.() ?? 'unknown')
    throw error
  }
}

/** Number of files: one or two of each workspace. */
const maxFiles = 48

/**
 * Creates the cache in the folder of the user, where `findCacheFolder` finds one: a checkout must
 * not be able to bring a cache. Where the file system fails, there is no cache.
 */
export function createUserCache(env: Outside['env']): UserCache {
  return { open: (root, part) => attempt(() => openFile(env, root, part)) }
}

function openFile(env: Outside['env'], root: string, part: CachePart): CacheFile | null {
  const folder = findCacheFolder(env)
  if (folder === null) return null
  const name = `${hash('sha256', `${part} ${findRealPath(root)}`).slice(0, 32)}.json`
  return {
    load: () => attempt(() => loadOwn(join(folder, name))?.toString('utf8') ?? null),
    save: (text) => {
      attempt(() => replaceOwn(folder, name, text, /[0-9a-f]{32}\.json/, maxFiles))
    },
  }
}
