import {
  addEarlierReads,
  collectReads,
  type EarlierRead,
} from '../../operations/observation/earlier-reads.ts'
import type { Domain } from '../../core/model/item.ts'
import { isObject, type Json } from '../../core/model/json.ts'
import { countUnread, type DriftRequest } from '../../operations/drift.ts'
import type { FoundDrift } from '../../operations/observation/find-drift.ts'
import type { Managed } from '../../operations/observation/observe-live.ts'

/** What a check has found of a domain that it read. */
interface Read extends EarlierRead {
  /** Whether the service did not have the domain. */
  isMissing: boolean
}

/** Reads the stored configuration of domains back from the service. */
export type ReadDomains = (managed: Managed) => Promise<Json>

export type FleetReader = ReturnType<typeof createFleetReader>

/**
 * Creates the reader that reads round the fleet: each check reads as many domains as a minute
 * allows, those first that were read longest ago. What it does not read counts as found by the last
 * read of the domain, unless the item was recorded since. Only findings are kept, no configuration.
 *
 * @param now ms since 1970
 */
export function createFleetReader(now: () => number) {
  const reads = new Map<Domain, Read>()
  let slice = new Map<Domain, { atMs: number; isMissing: boolean }>()
  return {
    /** Builds the request of the next check; `domainsPerCheck` are read. */
    buildRequest: (read: ReadDomains, domainsPerCheck: number): DriftRequest => ({
      observe: async (managed) => {
        const age = (domain: Domain) => reads.get(domain)?.atMs ?? 0
        const domains = [...managed.keys()].toSorted((a, b) => age(a) - age(b))
        const atMs = now()
        slice = new Map()
        const chosen = domains.slice(0, domainsPerCheck)
        const data = await read(new Map(chosen.map((name) => [name, managed.get(name) ?? []])))
        const has = (name: Domain) => isObject(data) && Object.hasOwn(data, name)
        slice = new Map(chosen.map((name) => [name, { atMs, isMissing: !has(name) }]))
        for (const domain of reads.keys()) if (!managed.has(domain)) reads.delete(domain)
        return data
      },
    }),
    /** Adds what earlier checks have found of the domains that the last one did not read. */
    merge: (found: FoundDrift): FoundDrift => {
      const seen = collectReads(found.drift, (domain) => slice.has(domain), now())
      for (const [domain, about] of slice)
        reads.set(domain, { items: new Map(), ...seen.get(domain), ...about })
      const all = addEarlierReads(found.drift, (domain) =>
        slice.has(domain) ? undefined : reads.get(domain),
      )
      const unanswered = [...reads].flatMap(([domain, each]) => (each.isMissing ? [domain] : []))
      const more = unanswered.length === 0 ? {} : { unanswered: unanswered.toSorted() }
      const unread = countUnread(found.drift, (domain) => reads.has(domain))
      return { ...found, drift: { ...all, ...more, unread } }
    },
    /** Returns the time of the oldest read, ms since 1970; null if a domain was not read yet. */
    findOldest: (domains: Iterable<Domain>): number | null => {
      let oldest = Infinity
      for (const domain of domains) oldest = Math.min(oldest, reads.get(domain)?.atMs ?? 0)
      return oldest === 0 || oldest === Infinity ? null : oldest
    },
  }
}
