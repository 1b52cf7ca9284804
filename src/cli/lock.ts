import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { randomUUID } from 'node:crypto'
import { openLock, type LoadedWorkspace } from '../index.ts'
import { acquire, type Holder, type Lease, type Machine } from '../state/lock.ts'
import type { Io } from './io.ts'

/** Does some work while holding the lock of the workspace's account. */
export async function withLock<T>(
  workspace: LoadedWorkspace,
  io: Io,
  reason: string,
  timeoutSeconds: number,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const machine = thisMachine()
  const holder: Holder = {
    token: randomUUID(),
    who: `${userName()}@${hostname()}`,
    reason,
    since: new Date(io.clock.now()).toISOString(),
    boot: machine.boot,
    namespace: machine.namespace,
    pid: process.pid,
  }
  const lease = await acquire(openLock(workspace), holder, machine, timeoutSeconds * 1000, io.clock, io.signal)
  try {
    return await work(lease)
  } finally {
    await lease.release()
  }
}

/** What tells this machine's processes from others'; empty where the system does not say, so that nobody is taken for dead. */
function thisMachine(): Machine {
  return {
    boot: firstLine(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    namespace: firstLine(() => readlinkSync('/proc/self/ns/pid')),
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

function userName(): string {
  try {
    return userInfo().username
  } catch (error) {
    // A process may run under a number that has no name.
    if (error instanceof Error && 'code' in error) return String(process.getuid?.() ?? 'somebody')
    throw error
  }
}
