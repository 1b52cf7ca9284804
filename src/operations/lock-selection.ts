import type { Domain } from '../model/item.ts'
import { parseJson } from '../model/json.ts'
import { parseSavedPlan } from '../plan/saved-plan.ts'
import { narrowDomains } from '../plan/selection.ts'
import type { Store } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * What a command locks, in stores that lock domains: the account, the workspace, or these domains
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
  { desired, config }: Pick<LoadedWorkspace, 'desired' | 'config'>,
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
