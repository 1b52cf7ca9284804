import type { Plannable, Settings, Outside } from '../../operations/runtime/parts.ts'
import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import type { Domain } from '../../core/model/item.ts'
import { drift, type DriftRequest } from '../../operations/drift.ts'
import type { FoundDrift } from '../../operations/observation/find-drift.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import { observeLive } from '../../operations/observation/observe-live.ts'
import { summarizeDrift } from '../../outlets/report/drift/json.ts'
import type { FleetReader } from './fleet-reader.ts'
import type { Logger } from '../logger.ts'
import { readsBack } from '../branch/workspaces.ts'

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
  logger.info('drift', reads ? { ...summary, oldestRead } : summary)
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
