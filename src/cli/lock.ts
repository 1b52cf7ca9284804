import { hostname } from 'node:os'
import { randomUUID } from 'node:crypto'
import { openRecord, type LoadedWorkspace } from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { acquire, leaseMs, type Holder, type Lease } from '../state/lock.ts'
import type { OpenRecord } from '../state/open-record.ts'
import type { CommandContext, Io } from './io.ts'
import { userName } from './this-machine.ts'

/** What is done while the lock is held. */
export interface Locked extends OpenRecord {
  lease: Lease
  /** When it was taken, wall clock, ms. */
  lockedAt: number
}

/** Opens the record of a workspace and does some work while holding the lock of its account. */
export async function withLock<T>(
  { io, note }: CommandContext,
  workspace: LoadedWorkspace,
  reason: string,
  timeoutSeconds: number,
  work: (locked: Locked) => Promise<T>,
): Promise<T> {
  const record = await openRecord(workspace, io)
  for (const sentence of record.notes) note(sentence)
  const { boot, namespace, pid } = io.machine
  const holder: Holder = {
    token: randomUUID(),
    who: `${userName()}@${hostname()}`,
    reason,
    since: new Date(io.clock.now()).toISOString(),
    boot,
    namespace,
    pid,
  }
  const lease = await acquire(record.lock, holder, io.machine, timeoutSeconds * 1000, io.clock, io.signal)
  try {
    return await work({ ...record, lease, lockedAt: io.clock.now() })
  } finally {
    await released(lease, note)
  }
}

/** The work is done, whether or not the lock can be given back: without a sign of life it ends by itself. */
async function released(lease: Lease, note: (text: string) => void): Promise<void> {
  try {
    await lease.release()
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'record-unreachable') throw error
    note(`The lock could not be given back (${error.message}); it ends ${leaseMs / 1000} seconds after its last sign of life.`)
  }
}

/** Who starts an apply: the person whom the CI service names, else the user of this machine. */
export function authorOf(env: Io['env']): string {
  return env['GITHUB_ACTOR'] ?? env['GITLAB_USER_LOGIN'] ?? `${userName()}@${hostname()}`
}
