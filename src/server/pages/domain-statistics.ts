import type { Settings, Desired, Outside } from '../../operations/runtime/parts.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { countByClass, grainMs, sumRequests } from '../../core/model/statistics.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import { queryStats } from '../../operations/stats.ts'
import type { DomainStatistics, StatusSeries } from '../../outlets/report/live/status-codes.ts'

/** Age up to which counts are shown again, ms. */
const keepMs = 5 * 60_000
/** Domains that are queried in a minute: the service has other questions to answer. */
const perMinute = 6

/**
 * Creates the source of the status codes of single domains: the service is asked at most once in
 * some minutes for each.
 *
 * @param query counts the requests of a domain
 */
export function createDomainStatistics(
  { monotonic }: Pick<Clock, 'monotonic'>,
  query: (domain: Domain) => Promise<DomainStatistics>,
): (domain: Domain) => Promise<DomainStatistics> {
  const kept = new Map<Domain, { sinceMs: number; made: Promise<DomainStatistics> }>()
  return (domain) => {
    const nowMs = monotonic()
    for (const [name, { sinceMs }] of kept) if (nowMs - sinceMs >= keepMs) kept.delete(name)
    const known = kept.get(domain)
    if (known !== undefined) return known.made
    const recent = [...kept.values()].filter(({ sinceMs }) => nowMs - sinceMs < 60_000)
    if (recent.length >= perMinute)
      return Promise.resolve({
        fault: 'many domains were asked for. Load this page again in a minute.',
      })
    const made = query(domain)
    kept.set(domain, { sinceMs: nowMs, made })
    return made
  }
}

/** Counts the requests of a domain in the last day and week, by two queries. */
export async function queryDomain(
  domain: Domain,
  workspace: LoadedWorkspace,
  outside: Outside,
): Promise<DomainStatistics> {
  const now = outside.clock.now()
  const ask = (grain: 'minute5' | 'hour', lengthMs: number) =>
    querySeries(domain, grain, [now - lengthMs, now], workspace, outside)
  try {
    const day = await ask('minute5', grainMs.day)
    const week = await ask('hour', 7 * grainMs.day)
    return { at: new Date(now).toISOString(), day, week }
  } catch (error) {
    throwDefect(error)
    return { fault: workspace.redact(`${error.message}. ${error.hint}`.trim()) }
  }
}

async function querySeries(
  domain: Domain,
  grain: 'minute5' | 'hour',
  [from, to]: [from: number, to: number],
  workspace: Settings & Desired,
  outside: Outside,
): Promise<StatusSeries> {
  const request = { from, to, grain, sum: false, keepPoints: true }
  const silent = { report: () => undefined, end: () => undefined }
  const ports = { outside, onWait: () => undefined, startProgress: () => silent }
  const found = await queryStats(
    workspace,
    { ...request, domains: [domain], area: 'all', labels: 'start' },
    ports,
  )
  const points = found.tallies.flatMap((tally) => tally.points)
  return {
    span: [Math.floor(found.from / 1000), Math.ceil(found.to / 1000)],
    seconds: grainMs[grain] / 1000,
    points: points.map(({ time, counts }) => {
      const by = countByClass(counts)
      const all = sumRequests(counts)
      return [time / 1000, all, by['5xx'], by['2xx'], by['3xx'], by['4xx'], by['5xx'], by.other]
    }),
  }
}
