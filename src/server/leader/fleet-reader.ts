import type { Change } from '../../core/model/change.ts'
import type { DriftItem } from '../../core/model/drift.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import { isObject, type Json } from '../../core/model/json.ts'
import { countUnread, type DriftRequest } from '../../operations/drift.ts'
import type { FoundDrift } from '../../operations/observation/find-drift.ts'
import type { Managed } from '../../operations/observation/observe-live.ts'

/** What a check has found of a domain that it read. */
interface Read {
  atMs: number
  /** Items that were not simply verified, each with its change at the service, if it has one. */
  items: Map<ItemKey, { drifted: DriftItem; change: Change | undefined }>
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
      const changes = new Map(found.drift.live.map((change) => [formatKey(change), change]))
      for (const [domain, about] of slice) reads.set(domain, { ...about, items: new Map() })
      for (const drifted of found.drift.items) {
        if (!slice.has(drifted.domain) || isVerified(drifted)) continue
        const change = changes.get(formatKey(drifted))
        reads.get(drifted.domain)?.items.set(drifted.item, { drifted, change })
      }
      const added: Change[] = []
      const items = found.drift.items.map((each) => {
        const read = slice.has(each.domain) ? undefined : reads.get(each.domain)
        if (read === undefined || !wasRead(each, read)) return each
        const known = read.items.get(each.item)
        if (known === undefined) return { ...each, confidence: 'verified' as const }
        if (known.change !== undefined) added.push(known.change)
        return takeOver(each, known.drifted)
      })
      const live = [...found.drift.live, ...added]
      const unanswered = [...reads].flatMap(([domain, each]) => (each.isMissing ? [domain] : []))
      const more = unanswered.length === 0 ? {} : { unanswered: unanswered.toSorted() }
      const unread = countUnread(found.drift, (domain) => reads.has(domain))
      return { ...found, drift: { ...found.drift, items, live, ...more, unread } }
    },
    /** Returns the time of the oldest read, ms since 1970; null if a domain was not read yet. */
    findOldest: (domains: Iterable<Domain>): number | null => {
      let oldest = Infinity
      for (const domain of domains) oldest = Math.min(oldest, reads.get(domain)?.atMs ?? 0)
      return oldest === 0 || oldest === Infinity ? null : oldest
    },
  }
}

/** Tests whether an item was observed, with nothing to remember of it. */
function isVerified({ confidence, kinds, notVerifiable, ignored }: DriftItem): boolean {
  const isLive = kinds.includes('live')
  return confidence === 'verified' && !isLive && notVerifiable.length === 0 && ignored === undefined
}

/** Tests whether the state of an item is the one that was compared when its domain was read. */
function wasRead({ confidence, recordedAt }: DriftItem, { atMs }: Read): boolean {
  return confidence !== 'in-doubt' && recordedAt !== null && Date.parse(recordedAt) <= atMs
}

/** Gives an item what an earlier check has found at the service. */
function takeOver(now: DriftItem, earlier: DriftItem): DriftItem {
  const pending = now.kinds.filter((kind) => kind === 'pending')
  const { live, notVerifiable, confidence, unreadable, ignored } = earlier
  return {
    ...now,
    kinds: earlier.kinds.includes('live') ? [...pending, 'live'] : pending,
    live,
    notVerifiable,
    confidence,
    ...(unreadable === undefined ? {} : { unreadable }),
    ...(ignored === undefined ? {} : { ignored }),
  }
}

function formatKey({ domain, item }: { domain: Domain; item: ItemKey }): string {
  return `${domain} ${item}`
}
