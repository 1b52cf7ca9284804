import type { Clock } from '../model/clock.ts'
import { accountScope, type LockScope } from '../state/locks.ts'
import type { OpenState } from '../state/open-state.ts'
import { covers } from '../state/reach.ts'
import type { LockSelection } from './lock-selection.ts'

/** Part of the account that a command locks, and the maximum wait for it. */
interface Wanted {
  /** Id of the workspace. */
  workspace: string
  selection: LockSelection
  timeoutMs: number
  clock: Pick<Clock, 'monotonic'>
}

/**
 * Acquires the lock of a selection. Domains that others are entangled with, in an unfinished apply
 * or a rollout, need the lock of those, too. Which they are is only certain under the lock, so it
 * is released and acquired again if there are more.
 *
 * @returns what `acquire` returned, and whether no other process can change the workspace
 */
export async function acquireSelection<T extends { lease: Lease }, Lease>(
  { workspace, selection, timeoutMs, clock }: Wanted,
  { store, locks }: Pick<OpenState, 'store' | 'locks'>,
  acquire: (scope: LockScope, timeoutMs: number) => Promise<T>,
  release: (lease: Lease) => Promise<void>,
): Promise<T & { isWhole: boolean }> {
  const deadlineMs = clock.monotonic() + timeoutMs
  const isAccount = !locks.isByDomain || selection === 'account'
  const choose = async () => {
    const chosen = isAccount || selection === 'workspace' ? null : await selection(store)
    return chosen === null ? null : store.findEntangled(chosen)
  }
  store.lockOnly(null)
  let domains = await choose()
  for (;;) {
    const scope = isAccount ? accountScope : { workspace, domains }
    const acquired = await acquire(scope, Math.max(0, deadlineMs - clock.monotonic()))
    try {
      const needed = domains === null ? null : await choose()
      if (domains === null || (needed !== null && covers(domains, needed))) {
        store.lockOnly(domains)
        return { ...acquired, isWhole: domains === null }
      }
      domains = needed === null ? null : new Set([...domains, ...needed])
    } catch (error) {
      await release(acquired.lease)
      throw error
    }
    await release(acquired.lease)
  }
}
