import { hostname } from 'node:os'
import { randomUUID } from 'node:crypto'
import { openRecord, type LoadedWorkspace, type Moment } from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { acquire, leaseMs, type Holder, type Lease } from '../state/lock.ts'
import type { OpenRecord } from '../state/open-state.ts'
import type { CommandContext, Io } from './io.ts'
import { userName } from './this-machine.ts'

/** A record whose lock is held. */
export interface Locked extends OpenRecord {
  /** The holding as it is now. */
  readonly lease: Lease
  /** When it was taken. */
  readonly lockedAt: Moment
  /**
   * Gives the lock back, does some work, and takes it again; not after an interruption.
   *
   * @throws EdgewiseError `locked` when others do not give it back
   */
  whileFree<T>(work: () => Promise<T>): Promise<T>
}

/** How long an apply waits to go on after others had the lock: longer than they take, and shorter than a job may run. */
const returnMs = 30 * 60_000
const lookAgainMs = 10_000

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
  const take = async (timeoutMs: number) => {
    const lease = await acquire(record.lock, holderHere(io, reason), io.machine, timeoutMs, io.clock, io.signal)
    return { lease, lockedAt: { at: io.clock.now(), up: io.clock.monotonic() } }
  }
  let held: Awaited<ReturnType<typeof take>> | null = await take(timeoutSeconds * 1000)
  const now = () => {
    if (held === null) throw new TypeError('expected the lock to be held')
    return held
  }
  const locked: Locked = {
    ...record,
    get lease() {
      return now().lease
    },
    get lockedAt() {
      return now().lockedAt
    },
    whileFree: async (aside) => {
      const { lease } = now()
      held = null
      await released(lease, note)
      const result = await aside()
      // Who was interrupted only leaves.
      if (!io.signal.aborted) held = await takeAgain(take, io)
      return result
    },
  }
  try {
    return await work(locked)
  } finally {
    if (held !== null) await released((held as { lease: Lease }).lease, note)
  }
}

/** Takes the lock again. That a remote can't be reached for a while ends nothing that has waited for an hour. */
async function takeAgain<T>(take: (timeoutMs: number) => Promise<T>, { clock, signal }: Io): Promise<T> {
  const until = clock.monotonic() + returnMs
  for (;;) {
    try {
      return await take(until - clock.monotonic())
    } catch (error) {
      const isPassing = error instanceof EdgewiseError && error.code === 'record-unreachable'
      if (!isPassing || signal.aborted || clock.monotonic() >= until) throw error
      await clock.sleep(lookAgainMs, signal)
    }
  }
}

function holderHere({ clock, machine }: Io, reason: string): Holder {
  const { boot, namespace, pid } = machine
  const since = new Date(clock.now()).toISOString()
  return { token: randomUUID(), who: `${userName()}@${hostname()}`, reason, since, boot, namespace, pid }
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
