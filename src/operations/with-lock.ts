import { EdgewiseError } from '../model/edgewise-error.ts'
import { acquireLock, leaseMs, type Lease, type LockHolder } from '../state/lock.ts'
import type { OpenState } from '../state/open-state.ts'
import type { Moment } from '../apply/run.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { openState } from './open-state.ts'
import type { Outside } from './outside.ts'
import type { Ports } from './ports.ts'

/** State whose lock this process holds. */
export interface Locked extends OpenState {
  /** The holding as it is now. */
  readonly lease: Lease
  /** When it was taken. */
  readonly lockedAt: Moment
  /**
   * Gives the lock back, does some work, and takes it again; not after an interruption.
   *
   * @throws EdgewiseError `locked` when others do not give it back
   */
  whileUnlocked<T>(work: () => Promise<T>): Promise<T>
}

/**
 * How long an apply waits to go on after others had the lock: longer than they take, and shorter
 * than a job may run.
 */
const returnMs = 30 * 60_000
const lookAgainMs = 10_000

/**
 * Opens the state of a workspace and does some work while holding the lock of its account.
 *
 * @param reason what the lock is taken for, as others read it
 * @throws EdgewiseError `locked` when another process holds it for longer than the time-out
 */
export async function withLock<T>(
  workspace: LoadedWorkspace,
  reason: string,
  timeoutSeconds: number,
  { outside, dialogue }: Ports,
  work: (locked: Locked) => Promise<T>,
): Promise<T> {
  const state = await openState(workspace, outside)
  for (const sentence of state.notes) dialogue.note(sentence)
  const take = async (timeoutMs: number) => {
    const lease = await acquireLock(
      state.lock,
      holderHere(outside, reason),
      outside.machine,
      timeoutMs,
      outside.clock,
      outside.signal,
    )
    return { lease, lockedAt: { at: outside.clock.now(), up: outside.clock.monotonic() } }
  }
  let held: Awaited<ReturnType<typeof take>> | null = await take(timeoutSeconds * 1000)
  const now = () => {
    if (held === null) throw new TypeError('expected the lock to be held')
    return held
  }
  const giveBack = (lease: Lease) => release(lease, dialogue.note)
  const locked: Locked = {
    ...state,
    get lease() {
      return now().lease
    },
    get lockedAt() {
      return now().lockedAt
    },
    whileUnlocked: async (aside) => {
      const { lease } = now()
      held = null
      await giveBack(lease)
      const result = await aside()
      // After an interruption the process only leaves.
      if (!outside.signal.aborted) held = await takeAgain(take, outside)
      return result
    },
  }
  try {
    return await work(locked)
  } finally {
    if (held !== null) await giveBack((held as { lease: Lease }).lease)
  }
}

/**
 * Takes the lock again. A remote that can't be reached for a while ends nothing that has waited for
 * an hour.
 */
async function takeAgain<T>(
  take: (timeoutMs: number) => Promise<T>,
  { clock, signal }: Outside,
): Promise<T> {
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

function holderHere({ clock, machine, user, newId }: Outside, reason: string): LockHolder {
  const { boot, namespace, pid } = machine
  const since = new Date(clock.now()).toISOString()
  return { token: newId(), who: user, reason, since, boot, namespace, pid }
}

/**
 * The work is done, whether or not the lock can be given back: without a sign of life it ends by
 * itself.
 */
async function release(lease: Lease, note: (text: string) => void): Promise<void> {
  try {
    await lease.release()
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'record-unreachable') throw error
    note(
      `The lock could not be given back (${error.message}); it ends ${leaseMs / 1000} seconds after its last sign of life.`,
    )
  }
}
