import type { Clock } from '../model/clock.ts'
import type { Domain } from '../model/item.ts'
import type { LockHolder } from './format/lock-file.ts'
import type { Lease } from './lease.ts'
import { acquireLock, findLockHolder, revokeLock } from './lock.ts'
import type { Machine } from './machine.ts'
import type { Register } from './register.ts'

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
    acquire: (_scope, { holder, machine, timeoutMs, clock, signal, onWait }) =>
      acquireLock(register, holder, machine, timeoutMs, clock, signal, onWait),
    listHolders: async () => {
      const holder = await findLockHolder(register)
      return holder === null ? [] : [holder]
    },
    listDomains: () => Promise.resolve(null),
    revoke: (token, machine) => revokeLock(register, token, machine),
  }
}
