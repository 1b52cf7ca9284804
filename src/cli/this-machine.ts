import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, uptime, userInfo } from 'node:os'
import type { Machine } from '../state/lock.ts'

/** This machine, and this process on it. */
export function thisMachine(): Machine {
  const namespace = firstLine(() => readlinkSync('/proc/self/ns/pid'))
  return {
    boot: firstLine(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    namespace,
    pid: process.pid,
    uptime: () => 1000 * uptime(),
    process: `${hostname()}-${process.pid}`.replace(/[^A-Za-z0-9-]/g, '_'),
    runs: (pid) => {
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

/** Name of the user that this process runs as. */
export function userName(): string {
  try {
    return userInfo().username
  } catch (error) {
    // A process may run under a number that has no name.
    if (error instanceof Error && 'code' in error) return String(process.getuid?.() ?? 'somebody')
    throw error
  }
}
