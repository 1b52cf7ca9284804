import type { LockHolder } from '../../src/state/format/lock-file.ts'
import { accountScope, type AccountLock, type Contender } from '../../src/state/locks/locks.ts'
import type { Lease } from '../../src/state/locks/lease.ts'
import type { Machine } from '../../src/state/locks/machine.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import type { Register } from '../../src/state/store/register.ts'
import { context } from './test-schema.ts'

/** A machine on which all processes run. */
export const machine: Machine = {
  boot: 'boot',
  namespace: '',
  pid: 1,
  started: '',
  uptime: () => performance.now(),
  processName: 'me',
  isRunning: () => true,
}

export function buildHolder(token: string, more: Partial<LockHolder> = {}): LockHolder {
  return {
    token,
    who: `${token}@host`,
    reason: 'apply',
    since: '2026-11-20T00:00:00.000Z',
    boot: 'boot',
    namespace: '',
    pid: 1,
    started: '',
    lateMs: 40_000,
    ...more,
  }
}

/** Builds a process that wants a lock, and does not wait for it. */
export function buildContender(token: string, more: Partial<Contender> = {}): Contender {
  return { holder: buildHolder(token), machine, timeoutMs: 0, ...context, ...more }
}

/** Acquires the lock of the account. */
export function acquireAccount({ locks }: Pick<OpenState, 'locks'>, token: string): Promise<Lease> {
  return locks.acquire(accountScope, buildContender(token))
}

/** Returns the register of the account's lock; fails in a store that has none. */
export function getRegister({ locks }: Pick<OpenState, 'locks'>): Register {
  if (locks.isByDomain) throw new TypeError('expected a store with one lock for an account')
  return (locks as AccountLock).register
}
