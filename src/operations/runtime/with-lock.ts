import { type Note, formatEnd, listSome } from '../../core/model/text/words.ts'
import type { Configured, Settings, Outside } from './parts.ts'
import type { Moment } from '../../engine/apply/run.ts'
import type { Actor } from '../../core/model/people/identity.ts'
import { findActor } from '../people/command-line.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { inSpan } from '../../core/model/telemetry.ts'
import { type LockSelection, acquireSelection } from './lock-selection.ts'
import { openState, refuseLocalState } from './open-state.ts'
import type { Ports } from './ports.ts'
import { type LockHolder, formatLockHolder } from '../../state/format/lock-file.ts'
import { HangingRemoteError } from '../../state/git/remote-calls.ts'
import { type Lease, leaseMs } from '../../state/locks/lease.ts'
import { type LockScope, computeRevokedWait } from '../../state/locks/locks.ts'
import type { OpenState } from '../../state/store/store-opener.ts'
import type { Recorder } from '../../state/store/store.ts'

/** Options of operations that change state. */
export interface LockRequest {
  /** Seconds to wait while another process holds the lock. */
  lockTimeout?: number
}

/** State with the lock that this process holds. */
export interface Locked extends OpenState {
  /** Who acts, for the history. */
  readonly by: Actor
  /** Current lease. */
  readonly lease: Lease
  /** Instant of acquiring the lease. */
  readonly lockedAt: Moment
  /** Whether no other process can change the workspace now. */
  readonly isWhole: boolean
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
const reacquireTimeoutMs = 30 * 60_000
const retryMs = 10_000

/**
 * Opens the state of a workspace and does some work under the lock of its account, or of a part.
 *
 * @param reason purpose of the lock, shown to other processes
 * @throws EdgewiseError `locked` when another process holds it for longer than the timeout,
 * `local-state` when the state would be lost with the checkout of a CI job, `not-allowed` for a
 * token that is refused
 */
export async function withLock<T>(
  workspace: Settings,
  reason: string,
  selection: LockSelection,
  { lockTimeout = 0 }: LockRequest,
  { outside, dialogue }: Ports,
  work: (locked: Locked) => Promise<T>,
): Promise<T> {
  outside.onPhase?.({ name: 'locking' })
  const state = await openState(workspace, outside)
  refuseLocalState(workspace.config, state, outside.env)
  const by = await findActor(workspace, state, outside, reason)
  for (const sentence of state.notes) dialogue.note(sentence)
  const { note } = dialogue
  const acquire = createAcquire(workspace, reason, selection, state, outside, note)
  let current: Held | null = await acquire(lockTimeout * 1000)
  const getCurrent = () => {
    if (current === null) throw new TypeError('expected to hold the lock')
    return current
  }
  const locked: Locked = {
    ...state,
    by,
    get lease() {
      return getCurrent().lease
    },
    get lockedAt() {
      return getCurrent().lockedAt
    },
    get isWhole() {
      return current?.isWhole === true
    },
    whileUnlocked: async (task) => {
      const { lease } = getCurrent()
      current = null
      await leave(state.store, lease, note)
      const result = await task()
      // After an interrupt, don't acquire the lock again.
      if (!outside.signal.aborted) current = await reacquire(acquire, outside)
      return result
    },
  }
  try {
    outside.onPhase?.({ name: 'loading-state' })
    return await work(locked)
  } finally {
    if (current !== null) await leave(state.store, current.lease, note)
  }
}

/** The lock that this process holds. */
type Held = Pick<Locked, 'lease' | 'lockedAt' | 'isWhole'>

/** Creates the function that acquires the lock of a selection, within a timeout in ms. */
function createAcquire(
  { config }: Configured,
  reason: string,
  selection: LockSelection,
  state: OpenState,
  outside: Outside,
  note: Note,
): (timeoutMs: number) => Promise<Held> {
  const { clock, machine, signal } = outside
  const { timeoutSeconds, settleSeconds } = config.service
  const lateMs = (timeoutSeconds + settleSeconds) * 1000
  const releaseLease = (lease: Lease) => release(lease, note)
  const acquireOne = async (scope: LockScope, timeoutMs: number) => {
    const lease = await state.locks.acquire(scope, {
      holder: describeHolder(outside, reason, lateMs),
      machine,
      timeoutMs,
      clock,
      signal,
      onWait: (other, waitMs) => outside.note?.(formatLockWait(other, waitMs, clock.now())),
    })
    const lockedAt = { atMs: clock.now(), upMs: clock.monotonic(), uptimeMs: machine.uptime() }
    try {
      await waitForRevoked(lease, outside, note)
    } catch (error) {
      await releaseLease(lease)
      throw error
    }
    return { lease, lockedAt }
  }
  return (timeoutMs) => {
    const request = { workspace: config.id, selection, timeoutMs, clock }
    return inSpan('wait for lock', () => acquireSelection(request, state, acquireOne, releaseLease))
  }
}

/** Moves what is recorded to its files, and releases the lock. */
async function leave(store: Recorder, lease: Lease, note: Note): Promise<void> {
  try {
    await checkpoint(store, note)
  } finally {
    await release(lease, note)
  }
}

function formatLockWait(other: LockHolder | null, waitMs: number, now: number): string {
  const who = other === null ? 'another process' : formatLockHolder(other)
  return `waiting for the lock of ${who}, until ${formatEnd(now, waitMs)} at the latest`
}

/**
 * Acquires the lock again. A temporarily unreachable remote must not end a rollout; one that hangs
 * ends it, and the next apply continues it.
 */
async function reacquire<T>(
  acquire: (timeoutMs: number) => Promise<T>,
  { clock, signal, note }: Outside,
): Promise<T> {
  const deadlineMs = clock.monotonic() + reacquireTimeoutMs
  let isReported = false
  for (;;) {
    try {
      return await acquire(deadlineMs - clock.monotonic())
    } catch (error) {
      const isTransient =
        error instanceof EdgewiseError &&
        error.code === 'record-unreachable' &&
        !(error instanceof HangingRemoteError)
      if (!isTransient || signal.aborted || clock.monotonic() >= deadlineMs) throw error
      const end = formatEnd(clock.now(), deadlineMs - clock.monotonic())
      if (!isReported) note?.(`waiting for the lock, until ${end} at the latest: ${error.message}`)
      isReported = true
      await clock.sleep(retryMs, signal)
    }
  }
}

function describeHolder(
  { clock, machine, user, newId }: Outside,
  reason: string,
  lateMs: number,
): LockHolder {
  const { boot, namespace, pid, started } = machine
  const since = new Date(clock.now()).toISOString()
  return { token: newId(), who: user, reason, since, boot, namespace, pid, started, lateMs }
}

/** Moves what is recorded to its files. A failure is only noted: everything recorded counts. */
function checkpoint(store: Recorder, note: Note): Promise<void> {
  return noteUnreachable(
    async () => store.checkpoint?.(),
    (why) =>
      note(
        `The state is recorded, but its files could not be updated (${why}); ` +
          'the next command that changes state updates them.',
      ),
  )
}

/**
 * Releases the lock. A failure is only noted: the work is done, and the lease expires without
 * heartbeats.
 */
function release(lease: Lease, note: Note): Promise<void> {
  return noteUnreachable(
    () => lease.release(),
    (why) =>
      note(
        `The lock could not be released (${why}); ` +
          `it expires ${leaseMs / 1000} seconds after its last heartbeat.`,
      ),
  )
}

async function noteUnreachable(work: () => Promise<void>, note: Note): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'record-unreachable') throw error
    note(error.message)
  }
}

/**
 * Waits until the former holders of a removed lock have noticed it, if they run, and their calls
 * have ended. Waits once: the marks of the removal are dropped then.
 *
 * @throws EdgewiseError `locked` after an interrupt
 */
async function waitForRevoked(
  lease: Lease,
  { clock, machine, signal }: Outside,
  note: Note,
): Promise<void> {
  const { revoked } = lease
  if (revoked.length === 0) return
  const waitMs = computeRevokedWait(revoked, machine)
  if (waitMs > 0) {
    const who = listSome(revoked.map(formatLockHolder))
    const end = new Date(clock.now() + waitMs).toISOString()
    note(
      `The lock of ${who} was removed, and that process may still run: waiting ` +
        `${Math.ceil(waitMs / 1000)} s, until ${end}, so that it notices and its calls end.`,
    )
    await clock.sleep(waitMs, signal, 'revoked')
    if (signal.aborted)
      throw new EdgewiseError(
        'locked',
        `interrupted while waiting for ${who}, whose lock was removed`,
        'Run the same command again.',
      )
  }
  await lease.dropRevoked()
}
