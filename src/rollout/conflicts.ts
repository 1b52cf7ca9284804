import type { Domain, ItemKey } from '../model/item.ts'
import { getOwn } from '../model/json.ts'
import { findCurrentWave, type Rollout } from '../model/rollout.ts'
import { narrowSnapshot, type Selection } from '../plan/selection.ts'

/** How a plan stands to the rollouts that are open. */
export interface RolloutConflicts {
  /** The rollout that the plan goes on with: it asks for the same, and for nothing else. */
  continued: Rollout | null
  /** Open rollouts that the plan would interfere with. */
  conflicting: Rollout[]
}

/**
 * How changes of some domains stand to the rollouts that are open. A plan without changes goes on
 * with one that only waits for a verdict. None goes on with a rollout of which only a part was
 * chosen: the rest would be left out of its waves.
 *
 * @param chosen what the plan was made for
 * @param asked hash of what the manifests ask for of a domain now
 */
export function findConflicts(
  domains: Iterable<Domain>,
  chosen: Selection,
  rollouts: Rollout[],
  asked: (domain: Domain) => string,
): RolloutConflicts {
  const open = rollouts.filter(({ state }) => state === 'open')
  const changed = [...domains]
  const same = (rollout: Rollout, names: Domain[]) =>
    names.every((domain) => getOwn(rollout.asked, domain) === asked(domain))
  if (changed.length === 0) {
    const waiting = open.find(
      (rollout) => choosesAll(chosen, rollout) && same(rollout, Object.keys(rollout.asked)),
    )
    return { continued: waiting ?? null, conflicting: [] }
  }
  const touched = open.filter((rollout) =>
    changed.some((domain) => getOwn(rollout.asked, domain) !== undefined),
  )
  const [only, ...others] = touched
  if (only !== undefined && others.length === 0 && choosesAll(chosen, only) && same(only, changed))
    return { continued: only, conflicting: [] }
  return { continued: null, conflicting: touched }
}

function choosesAll(chosen: Selection, { asked, items }: Rollout): boolean {
  const wanted = new Set(chosen.items)
  if (wanted.size > 0 && (items.length === 0 || items.some((item) => !wanted.has(item))))
    return false
  const all = new Map(Object.keys(asked).map((domain) => [domain, new Map<ItemKey, null>()]))
  return narrowSnapshot(all, { target: chosen.target, items: [] }).size === all.size
}

/** The domains whose state as it is asked for is held, each with the rollout that holds it. */
export function findDomainsOnHold(
  rollouts: Rollout[],
  asked: (domain: Domain) => string,
): Map<Domain, Rollout> {
  return new Map(
    rollouts.flatMap((rollout) =>
      rollout.held.flatMap((domain): [Domain, Rollout][] =>
        getOwn(rollout.asked, domain) === asked(domain) ? [[domain, rollout]] : [],
      ),
    ),
  )
}

/**
 * Each domain of a rollout with the wave, from 1, in which it is sent from now on: what has passed
 * goes with the current one.
 */
export function mapDomainsToWaves(rollout: Rollout): Map<Domain, number> {
  const first = (findCurrentWave(rollout) ?? 0) + 1
  const waves = rollout.waves.flatMap(({ domains }, i) =>
    domains.map((domain): [Domain, number] => [domain, Math.max(i + 1, first)]),
  )
  return new Map([...waves, ...rollout.released.map((domain): [Domain, number] => [domain, first])])
}
