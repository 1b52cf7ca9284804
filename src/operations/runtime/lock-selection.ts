import type { Configured, Desired } from './parts.ts'
import type { Domain } from '../../core/model/item.ts'
import { parseJson } from '../../core/model/json.ts'
import { parseSavedPlan } from '../../core/plan/saved-plan.ts'
import { narrowDomains } from '../../core/plan/selection.ts'
import type { Store } from '../../state/store/store.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { accountScope, type LockScope } from '../../state/locks/locks.ts'
import type { OpenState } from '../../state/store/store-opener.ts'
import { covers } from '../../state/store/load-journal.ts'

/**
 * Scope of a lock in stores that lock domains: the account, the workspace, or these domains
 * of it. They are chosen again under the lock; null for the whole workspace.
 */
export type LockSelection =
  | 'account'
  | 'workspace'
  | ((store: Store) => Promise<Iterable<Domain> | null>)

/**
 * Selects the domains of a request to lock: those of its globs, or of its plan file. A request for
 * all domains locks the workspace.
 *
 * @param listMore lists domains that may have neither a manifest nor state
 */
export function lockTargets(
  { desired, config }: Configured & Desired,
  { target = [], planFile }: { target?: string[]; planFile?: string },
  listMore: (store: Store) => Promise<Iterable<Domain>> = () => Promise.resolve([]),
): LockSelection {
  return async (store) => {
    const globs =
      planFile === undefined ? target : parseSavedPlan(parseJson(planFile)).selection.target
    if (globs.length === 0) return null
    const known = [...desired.keys(), ...(await store.listDomains()), ...(await listMore(store))]
    const chosen = narrowDomains(new Map(known.map((domain) => [domain, null])), globs)
    // The state of a renamed domain goes from one name to the other.
    const both = config.moved.map(({ from, to }) => [from, to])
    const moved = both.filter((names) => names.some((name) => chosen.has(name)))
    return [...chosen.keys(), ...moved.flat()]
  }
}

/** Selects domains by name to lock. */
export function lockDomains(names: string[]): LockSelection {
  return () => Promise.resolve(names.map((name) => name.toLowerCase()))
}

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
  { store, locks }: OpenState,
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
