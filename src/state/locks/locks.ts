import type { Clock } from '../../core/model/time/clock.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { findMax } from '../../core/model/lists.ts'
import { type LockHolder, formatLock, formatLockHolder, parseLock } from '../format/lock-file.ts'
import { Lease, heartbeatMs, leaseMs, readMoment } from './lease.ts'
import { type Machine, isAliveHere, isDead } from './machine.ts'
import type { Register } from '../store/register.ts'

/** What a lock covers: an account, one of its workspaces, or domains of that workspace. */
export interface LockScope {
  /** Null for all workspaces. */
  workspace: string | null
  /** Null for all domains, also those without state. */
  domains: ReadonlySet<Domain> | null
}

/** A process that wants a lock, and for how long it waits. */
export interface Contender {
  holder: LockHolder
  machine: Machine
  timeoutMs: number
  clock: Pick<Clock, 'monotonic' | 'sleep'>
  signal: AbortSignal
  /** Called once if the lock is not free at once. */
  onWait?(other: LockHolder | null, timeoutMs: number): void
}

/** The locks of an account. Two locks whose scopes have a domain in common exclude each other. */
export interface Locks {
  /** Whether a lock covers only its scope; otherwise each covers the account. */
  readonly isByDomain: boolean
  /**
   * Acquires the lock of a scope, waiting for it.
   *
   * @throws EdgewiseError `locked`, naming the holder
   */
  acquire(scope: LockScope, contender: Contender): Promise<Lease>
  /** Lists the holders of locks that exclude one of this scope, first to last. */
  listHolders(scope: LockScope): Promise<LockHolder[]>
  /** Lists the domains of the lock that `token` identifies; null if it covers more than some. */
  listDomains(token: string): Promise<Domain[] | null>
  /**
   * Removes the lock of the holder that `token` identifies; false if it has released the lock
   * already. Unless its process has certainly ended, the next holder waits until it has noticed.
   */
  revoke(token: string, machine: Machine): Promise<boolean>
}

/** The scope of a whole account. */
export const accountScope: LockScope = { workspace: null, domains: null }

/** The lock of an account that has only one. */
export interface AccountLock extends Locks {
  readonly register: Register
}

/** Creates the lock of an account that has only one, in a register. */
export function createAccountLock(register: Register): AccountLock {
  return {
    register,
    isByDomain: false,
    acquire: (_scope, contender) => acquire(register, contender),
    listHolders: async () => {
      const { holder } = parseLock((await register.read()).text)
      return holder === null ? [] : [holder]
    },
    listDomains: () => Promise.resolve(null),
    revoke: (token, machine) => revoke(register, token, machine),
  }
}

/** Interval of looking for a lock that another process holds, ms. */
export const pollMs = 1000

/**
 * Acquires the lock, waiting for it. A stale lock of a dead process on this machine is taken over
 * immediately. Any other lock is taken over only after the contender has seen no heartbeat for the
 * whole lease, by its own clock.
 */
async function acquire(register: Register, contender: Contender): Promise<Lease> {
  const { holder, machine, timeoutMs, clock, signal, onWait } = contender
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
        return new Lease(register, holder, { version: own, revoked, at }, machine, clock)
    }
    if (signal.aborted || clock.monotonic() - start >= timeoutMs)
      throw createLockedError(other, register.location, contender)
    if (!isReported) onWait?.(other, timeoutMs)
    isReported = true
    await clock.sleep(Math.min(pollMs, timeoutMs - (clock.monotonic() - start)), signal)
  }
}

/** Removes the lock, with a mark that the next holder waits for. */
async function revoke(register: Register, token: string, machine: Machine): Promise<boolean> {
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
 */
export function computeRevokedWait(revoked: LockHolder[], machine: Machine): number {
  const alive = revoked.filter((holder) => !isDead(holder, machine))
  const waits = alive.map((holder) => heartbeatMs + holder.lateMs)
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
  { timeoutMs, machine, holder }: Contender,
): EdgewiseError {
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
  { timeoutMs }: Contender,
): EdgewiseError {
  const who = other === null ? 'another process' : formatLockHolder(other)
  return new EdgewiseError(
    'locked',
    `the lock of the state is next for ${who}, which still waits for others`,
    `Wait ${timeoutMs === 0 ? 'for it' : 'longer'} with --lock-timeout SECONDS.`,
  )
}
