import { randomUUID } from 'node:crypto'
import { hostname, uptime, userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFault, loadBounded } from '../files/load-bounded.ts'
import { readLink } from '../files/look.ts'
import type { Clock } from '../model/clock.ts'
import { realDisk } from '../state/folder/real-disk.ts'
import type { Machine } from '../state/machine.ts'
import type { Outside } from './outside.ts'
import { createUserCache } from './user-cache.ts'
import { countSpareThreads, createWorkerPool } from './worker-pool.ts'

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
