import type { Plannable, Settings, Outside } from '../../operations/runtime/parts.ts'
import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import type { Domain } from '../../core/model/item.ts'
import { drift, type DriftRequest, countUnread } from '../../operations/drift.ts'
import type { FoundDrift } from '../../operations/observation/find-drift.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import { observeLive, type Managed } from '../../operations/observation/observe-live.ts'
import { summarizeDrift } from '../../outlets/report/drift/json.ts'
import type { Logger } from '../logger.ts'
import { readsBack } from '../branch/workspaces.ts'
import {
  addEarlierReads,
  collectReads,
  type EarlierRead,
} from '../../operations/observation/earlier-reads.ts'
import { isObject, type Json } from '../../core/model/json.ts'

/** Domains of a read. */
const domainsPerRead = 10

/** Listens to what drift checks find. */
export type DriftListener = (workspace: Plannable, found: FoundDrift) => Promise<void>

/** What a drift check works with. */
export interface Comparing {
  outside: Outside
  fleet: FleetReader
  metrics: Pick<ServerMetrics, 'setDrift'>
  logger: Pick<Logger, 'info'>
  /** Get what was found, one after another. */
  listeners: readonly DriftListener[]
  buildDriftRequest(workspace: Settings, outside: Outside): DriftRequest
}

/** Compares the state with what is observed, and reports it. */
export async function compareDrift(
  workspace: LoadedWorkspace,
  { outside, fleet, metrics, logger, listeners, buildDriftRequest }: Comparing,
): Promise<FoundDrift> {
  const reads = readsBack(workspace)
  const perCheck = domainsPerRead * workspace.config.limits.readsPerMinute
  const request = reads
    ? fleet.buildRequest((managed) => observeLive(workspace, managed, outside), perCheck)
    : buildDriftRequest(workspace, outside)
  const compared = await drift(workspace, request, outside)
  const found = reads ? fleet.merge(compared) : compared
  metrics.setDrift(found.drift)
  const domains = new Set(found.drift.items.map(({ domain }) => domain))
  const oldestMs = reads ? fleet.findOldest(domains) : null
  const oldestRead = oldestMs === null ? null : formatTime(oldestMs)
  const summary = { ...summarizeDrift(found.drift) }
  logger.info('drift checked', reads ? { ...summary, oldestRead } : summary)
  for (const listener of listeners) await listener(workspace, found)
  return found
}

/**
 * Builds the request of a repair of these domains.
 *
 * @param free domains that may be repaired; empty for all
 * @returns null if none of the domains that differ may be
 */
export function buildRepairRequest(
  workspace: Settings,
  { drift: { items } }: FoundDrift,
  free: Domain[],
  { outside, buildDriftRequest }: Pick<Comparing, 'outside' | 'buildDriftRequest'>,
): DriftRequest | null {
  if (!readsBack(workspace)) return { ...buildDriftRequest(workspace, outside), target: free }
  const allowed = new Set(free)
  const differing = items.filter(({ kinds }) => kinds.includes('live')).map(({ domain }) => domain)
  const target = [...new Set(differing)].filter((name) => free.length === 0 || allowed.has(name))
  if (target.length === 0) return null
  return {
    target,
    observe: (managed) => observeLive(workspace, managed, outside),
    observesAll: true,
  }
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** What a check has found of a domain that it read. */
interface Read extends EarlierRead {
  /** Whether the service did not have the domain. */
  isMissing: boolean
}

/** Reads the stored configuration of domains back from the service. */
type ReadDomains = (managed: Managed) => Promise<Json>

type FleetReader = ReturnType<typeof createFleetReader>

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
