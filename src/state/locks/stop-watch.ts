import { throwDefect } from '../../core/model/edgewise-error.ts'
import { describeStop } from '../../core/model/listed-rollout.ts'
import { stores } from '../../core/model/stores.ts'
import type { AccountStop } from '../store/account-stop.ts'
import { type Clearance, type Lease, type LockClock, measureAge, readMoment } from './lease.ts'
import type { Machine } from './machine.ts'

/** The checks before a call: the lock is in use, and the account is not stopped. */
export interface StopWatch extends Pick<Lease, 'check' | 'look'> {
  /** Returns whether the account was stopped at the last look. */
  isStopped(): boolean
}

/** Adds the stop of the account to the checks of a lease, which may be another one later. */
export function watchStop(
  locked: { readonly lease: Pick<Lease, 'check' | 'look'>; accountStop: AccountStop },
  { machine, clock }: { machine: Machine; clock: LockClock },
): StopWatch {
  const { accountStop } = locked
  let last = { at: { monotonicMs: -Infinity, uptimeMs: -Infinity }, refused: '' }
  let looking: Promise<void> | null = null
  const look = async () => {
    const at = readMoment(machine, clock)
    try {
      const found = await accountStop.load()
      last = { at, refused: found === null ? '' : describeStop(found) }
    } catch (error) {
      // The last look only gets older.
      throwDefect(error)
    }
  }
  const check = (): Clearance => {
    if (measureAge(last.at, readMoment(machine, clock)) >= stores[accountStop.store].maxStopAgeMs)
      return 'look'
    return last.refused === '' ? 'clear' : { refused: last.refused, isStop: true }
  }
  return {
    isStopped: () => last.refused !== '',
    check: (callMs) => {
      const clearance = locked.lease.check(callMs)
      return clearance === 'clear' ? check() : clearance
    },
    look: async () => {
      looking ??= look().finally(() => (looking = null))
      await Promise.all([looking, locked.lease.check(0) === 'look' ? locked.lease.look() : null])
    },
  }
}
