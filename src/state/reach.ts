import type { Domain } from '../model/item.ts'
import type { Wave } from './store.ts'

/** Lists the domains that waves may have changed. */
export function listReach(waves: Pick<Wave, 'before'>[]): Set<Domain> {
  return new Set(waves.flatMap(({ before }) => [...before.keys()]))
}

/** Tests whether a set has a domain of another one. */
export function overlaps(all: ReadonlySet<Domain>, domains: Iterable<Domain>): boolean {
  return [...domains].some((domain) => all.has(domain))
}

/** Tests whether a set has all domains of another one. */
export function covers(all: ReadonlySet<Domain>, domains: Iterable<Domain>): boolean {
  return [...domains].every((domain) => all.has(domain))
}
