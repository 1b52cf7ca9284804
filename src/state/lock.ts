import { findMax } from '../model/append.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { formatLock, formatLockHolder, parseLock, type LockHolder } from './format/lock-file.ts'
import { heartbeatMs, leaseMs, LockLease, readMoment, type Lease, type LockClock } from './lease.ts'
import { isAliveHere, isDead, type Machine } from './machine.ts'
import type { Register } from './register.ts'

/** Interval of looking for a lock that another process holds, ms. */
export const pollMs = 1000

/**
 * Acquires the lock, waiting for it up to `timeoutMs`. A stale lock of a dead process on this
 * machine is taken over immediately. Any other lock is taken over only after the contender has seen
 * no heartbeat for the whole lease, by its own clock.
 *
 * @param onWait called once if the lock is not free at once
 * @throws EdgewiseError `locked`, naming the holder
 */
export async function acquireLock(
  register: Register,
  holder: LockHolder,
  machine: Machine,
  timeoutMs: number,
  clock: LockClock,
  signal: AbortSignal,
  onWait?: (other: LockHolder | null, timeoutMs: number) => void,
): Promise<Lease> {
  const start = clock.monotonic()
  let isReported = false
  let [sign, since]: [string | null, number] = [null, start]
  for (;;) {
    const { version, text } = await register.read()
    const { holder: other, revoked } = parseLock(text)
    if (version !== sign) [sign, since] = [version, clock.monotonic()]
    if (other === null || isDead(other, machine) || clock.monotonic() - since >= leaseMs) {
      const at = readMoment(machine, clock)
      const own = await register.compareAndSwap(version, formatLock({ holder, revoked }, 0))
      if (own !== null)
        return new LockLease(register, holder, { version: own, revoked, at }, machine, clock)
    }
    if (signal.aborted || clock.monotonic() - start >= timeoutMs)
      throw createLockedError(other, register.location, { timeoutMs, machine, holder })
    if (!isReported) onWait?.(other, timeoutMs)
    isReported = true
    await clock.sleep(Math.min(pollMs, timeoutMs - (clock.monotonic() - start)), signal)
  }
}

/** Returns the lock holder, or null. */
export async function findLockHolder(register: Register): Promise<LockHolder | null> {
  return parseLock((await register.read()).text).holder
}

/**
 * Removes the lock from the holder that `token` identifies; false if it has released the lock
 * already. Unless its process has certainly ended, a mark remains that the next holder waits for.
 */
export async function revokeLock(
  register: Register,
  token: string,
  machine: Machine,
): Promise<boolean> {
  for (;;) {
    const { version, text } = await register.read()
    const { holder, revoked } = parseLock(text)
    if (holder === null || holder.token !== token) return false
    const marks = isDead(holder, machine) ? revoked : [...revoked, holder]
    // A heartbeat of the holder may come between.
    const next = formatLock({ holder: null, revoked: marks }, 0)
    if ((await register.compareAndSwap(version, next)) !== null) return true
  }
}

/**
 * Computes the time until the former holders have noticed the removal of their lock, if they run,
 * and their calls can no longer take effect, ms.
 *
 * @param lateMs time within which a call of a holder of version 1 may take effect, ms
 */
export function computeRevokedWait(
  revoked: LockHolder[],
  machine: Machine,
  lateMs: number,
): number {
  const alive = revoked.filter((holder) => !isDead(holder, machine))
  const waits = alive.map((holder) => heartbeatMs + (holder.lateMs ?? lateMs))
  return findMax(waits, 0)
}

/**
 * Describes how the process of a holder on this machine comes to release the lock.
 *
 * @param wait how to wait for it
 */
export function describeEnd({ pid }: LockHolder, machine: Machine, wait: string): string {
  return machine.isStopped?.(pid) === true
    ? `Its process is stopped: "kill -CONT ${pid}" continues it. To end it, run "kill ${pid}" ` +
        'before that: it then releases the lock.'
    : `${wait}, or end it with "kill ${pid}": it then releases the lock.`
}

/**
 * Creates the error of a lock that another process holds.
 *
 * @param other null if it is unknown
 */
export function createLockedError(
  other: LockHolder | null,
  location: string,
  own: { timeoutMs: number; machine: Machine; holder: LockHolder },
): EdgewiseError {
  const { timeoutMs, machine, holder } = own
  const who = other === null ? `another process (${location})` : formatLockHolder(other)
  const wait = `Wait ${timeoutMs === 0 ? 'for it' : 'longer'} with --lock-timeout SECONDS`
  return new EdgewiseError(
    'locked',
    `the state is locked by ${who}`,
    other !== null && isAliveHere(other, machine, holder.who)
      ? `It runs on this machine. ${describeEnd(other, machine, wait)}`
      : `${wait}; if that process has ended, remove the lock with "edgewise state unlock".`,
  )
}

/**
 * Creates the error of a lock that nobody holds, but that another process waits for. There is no
 * lock to remove: it leaves the queue soon after its end.
 */
export function createQueuedError(
  other: LockHolder | null,
  { timeoutMs }: { timeoutMs: number },
): EdgewiseError {
  const who = other === null ? 'another process' : formatLockHolder(other)
  return new EdgewiseError(
    'locked',
    `the lock of the state is next for ${who}, which still waits for others`,
    `Wait ${timeoutMs === 0 ? 'for it' : 'longer'} with --lock-timeout SECONDS.`,
  )
}
