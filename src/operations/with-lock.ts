import { EdgewiseError } from '../model/edgewise-error.ts'
import { acquireLock, leaseMs, type Lease, type LockHolder } from '../state/lock.ts'
import type { OpenState } from '../state/open-state.ts'
import type { Moment } from '../apply/run.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { openState } from './open-state.ts'
import type { Outside } from './outside.ts'
import type { Ports } from './ports.ts'

/** State with the lock that this process holds. */
export interface Locked extends OpenState {
  /** Current lease. */
  readonly lease: Lease
  /** Instant of acquiring the lease. */
  readonly lockedAt: Moment
  /**
   * Releases the lock, does some work, and acquires the lock again, except after an interrupt.
   *
   * @throws EdgewiseError `locked` when another process does not release it in time
   */
  whileUnlocked<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Timeout for acquiring the lock again, ms: longer than another apply, and shorter than a CI job.
 */
const returnMs = 30 * 60_000
const lookAgainMs = 10_000

/**
 * Opens the state of a workspace and does some work under the lock of its account.
 *
 * @param reason purpose of the lock, shown to other processes
 * @throws EdgewiseError `locked` when another process holds it for longer than the timeout
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
    if (held === null) throw new TypeError('expected to hold the lock')
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
      // After an interrupt, don't acquire the lock again.
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

/** Acquires the lock again. A temporarily unreachable remote must not end a rollout. */
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
 * Releases the lock. A failure is only noted: the work is done, and the lease expires without
 * heartbeats.
 */
async function release(lease: Lease, note: (text: string) => void): Promise<void> {
  try {
    await lease.release()
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'record-unreachable') throw error
    note(
      `The lock could not be released (${error.message}); ` +
        `it expires ${leaseMs / 1000} seconds after its last heartbeat.`,
    )
  }
}
