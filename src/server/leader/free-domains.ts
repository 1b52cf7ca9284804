import type { Domain } from '../../core/model/item.ts'
import { hasPassed, isUnfinished, type Rollout } from '../../core/model/rollout.ts'
import { pluralize } from '../../core/model/text/words.ts'

/** The domains outside of unfinished rollouts. */
export interface FreeDomains {
  /** Ids of these rollouts, and the number of their domains. */
  rollouts: string[]
  taken: number
  /** Domains to select; empty for all. */
  target: Domain[]
  areAllTaken: boolean
}

/** Selects the domains outside of unfinished rollouts. */
export function selectFree(domains: Iterable<Domain>, rollouts: Rollout[]): FreeDomains {
  const open = rollouts.filter((each) => isUnfinished(each) && !hasPassed(each))
  const taken = new Set(open.flatMap(({ desiredHashes }) => Object.keys(desiredHashes)))
  const free = [...new Set(domains)].filter((domain) => !taken.has(domain))
  return {
    rollouts: open.map(({ id }) => id),
    taken: taken.size,
    target: taken.size === 0 ? [] : free,
    areAllTaken: taken.size > 0 && free.length === 0,
  }
}

/** Describes the domains that are left out. */
export function describeTaken({ taken, rollouts }: FreeDomains): string {
  return `${pluralize(taken, 'domain')} left out until the end of rollout ${rollouts.join(', ')}`
}
