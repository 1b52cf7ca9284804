import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, uptime, userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../model/clock.ts'
import { realDisk } from '../state/folder/real-disk.ts'
import type { Machine } from '../state/lock.ts'
import type { Outside } from './outside.ts'

/** The world as a Node process has it. */
export function createNodeOutside(signal: AbortSignal): Outside {
  return {
    env: process.env,
    clock: realClock,
    random: () => Math.random(),
    newId: () => randomUUID(),
    user: `${userName()}@${hostname()}`,
    signal,
    machine: thisMachine(),
    disk: realDisk,
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

/** This machine, and this process on it. */
function thisMachine(): Machine {
  const namespace = firstLine(() => readlinkSync('/proc/self/ns/pid'))
  return {
    boot: firstLine(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    namespace,
    pid: process.pid,
    uptime: () => 1000 * uptime(),
    processName: `${hostname()}-${process.pid}`.replace(/[^A-Za-z0-9-]/g, '_'),
    isRunning: (pid) => {
      try {
        process.kill(pid, 0)
        return true
      } catch (error) {
        return (error as NodeJS.ErrnoException).code !== 'ESRCH'
      }
    },
  }
}

function firstLine(read: () => string): string {
  try {
    return read().trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}

function userName(): string {
  try {
    return userInfo().username
  } catch (error) {
    // A process may run under a number that has no name.
    if (error instanceof Error && 'code' in error) return String(process.getuid?.() ?? 'somebody')
    throw error
  }
}
