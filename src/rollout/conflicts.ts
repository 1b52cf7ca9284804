import type { Domain, ItemKey } from '../model/item.ts'
import { getOwn } from '../model/json.ts'
import { findCurrentWave, type Rollout } from '../model/rollout.ts'
import { narrowSnapshot, type Selection } from '../plan/selection.ts'

/** Open rollouts that affect a plan. */
export interface RolloutConflicts {
  /** Rollout that the plan resumes: the same desired state, and no other changes. */
  continued: Rollout | null
  /** Open rollouts that the plan would interfere with. */
  conflicting: Rollout[]
}

/** Selection of a plan. */
export interface PlanSelection extends Selection {
  /** The plan has only a part of the changes of its selection, so it resumes no rollout. */
  isPart?: boolean | undefined
}

/**
 * Finds the open rollouts that affect changes of some domains. A plan without changes resumes a
 * rollout that only waits for a verdict. A plan for a part of a rollout never resumes it: the rest
 * would be missing from its waves.
 *
 * @param hashDomain current hash of a domain's desired state
 */
export function findConflicts(
  domains: Iterable<Domain>,
  chosen: PlanSelection,
  rollouts: Rollout[],
  hashDomain: (domain: Domain) => string,
): RolloutConflicts {
  const open = rollouts.filter(({ state }) => state === 'open')
  const changed = [...domains]
  const isUnchanged = (rollout: Rollout, names: Domain[]) =>
    names.every((domain) => getOwn(rollout.asked, domain) === hashDomain(domain))
  if (changed.length === 0) {
    const waiting = open.find(
      (rollout) => selectsAll(chosen, rollout) && isUnchanged(rollout, Object.keys(rollout.asked)),
    )
    return { continued: waiting ?? null, conflicting: [] }
  }
  const touched = open.filter((rollout) =>
    changed.some((domain) => getOwn(rollout.asked, domain) !== undefined),
  )
  const [only, ...others] = touched
  if (
    only !== undefined &&
    others.length === 0 &&
    selectsAll(chosen, only) &&
    isUnchanged(only, changed)
  )
    return { continued: only, conflicting: [] }
  return { continued: null, conflicting: touched }
}

function selectsAll(chosen: PlanSelection, { asked, items }: Rollout): boolean {
  if (chosen.isPart === true) return false
  const wanted = new Set(chosen.items)
  if (wanted.size > 0 && (items.length === 0 || items.some((item) => !wanted.has(item))))
    return false
  const all = new Map(Object.keys(asked).map((domain) => [domain, new Map<ItemKey, null>()]))
  return narrowSnapshot(all, { target: chosen.target, items: [] }).size === all.size
}

/**
 * Finds the domains on hold, each with its rollout. A domain is on hold until its desired state
 * changes.
 */
export function findDomainsOnHold(
  rollouts: Rollout[],
  hashDomain: (domain: Domain) => string,
): Map<Domain, Rollout> {
  return new Map(
    rollouts.flatMap((rollout) =>
      rollout.held.flatMap((domain): [Domain, Rollout][] =>
        getOwn(rollout.asked, domain) === hashDomain(domain) ? [[domain, rollout]] : [],
      ),
    ),
  )
}

/**
 * Maps each domain of a rollout to the number of the wave that sends it from now on, from 1.
 * Domains of passed waves join the current wave.
 */
export function mapDomainsToWaves(rollout: Rollout): Map<Domain, number> {
  const first = (findCurrentWave(rollout) ?? 0) + 1
  const waves = rollout.waves.flatMap(({ domains }, i) =>
    domains.map((domain): [Domain, number] => [domain, Math.max(i + 1, first)]),
  )
  return new Map([...waves, ...rollout.released.map((domain): [Domain, number] => [domain, first])])
}
