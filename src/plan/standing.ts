import type { Domain } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'

/** How a plan stands to the rollouts that are open. */
export interface Standing {
  /** The rollout that the plan goes on with: it asks for the same, and for nothing else. */
  continued: Rollout | null
  /** Open rollouts that the plan would interfere with. */
  against: Rollout[]
}

/**
 * How changes of some domains stand to the rollouts that are open. A plan without changes goes on with one that only waits
 * for a verdict.
 *
 * @param asked hash of what the manifests ask for of a domain now
 */
export function standingOf(domains: Iterable<Domain>, rollouts: Rollout[], asked: (domain: Domain) => string): Standing {
  const open = rollouts.filter(({ state }) => state === 'open')
  const changed = [...domains]
  const same = (rollout: Rollout, names: Domain[]) => names.every((domain) => rollout.asked[domain] === asked(domain))
  if (changed.length === 0) return { continued: open.find((rollout) => same(rollout, Object.keys(rollout.asked))) ?? null, against: [] }
  const touched = open.filter((rollout) => changed.some((domain) => rollout.asked[domain] !== undefined))
  const [only, ...others] = touched
  if (only !== undefined && others.length === 0 && same(only, changed)) return { continued: only, against: [] }
  return { continued: null, against: touched }
}

/** The domains whose state as it is asked for is held, each with the rollout that holds it. */
export function heldDomains(rollouts: Rollout[], asked: (domain: Domain) => string): Map<Domain, Rollout> {
  return new Map(
    rollouts.flatMap((rollout) =>
      rollout.held.flatMap((domain): [Domain, Rollout][] => (rollout.asked[domain] === asked(domain) ? [[domain, rollout]] : [])),
    ),
  )
}

/** Each domain of a rollout with its wave, from 1. */
export function wavesOf({ waves }: Rollout): Map<Domain, number> {
  return new Map(waves.flatMap(({ domains }, i) => domains.map((domain): [Domain, number] => [domain, i + 1])))
}
