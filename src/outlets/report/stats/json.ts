import type { JsonObject } from '../../../core/model/json.ts'
import { sumRequests, countByClass } from '../../../core/model/statistics.ts'
import type { Statistics } from './text.ts'
import {
  countPrefetches,
  type PrefetchQuery,
  type PrefetchRecord,
} from '../../../core/model/prefetch.ts'

/** Builds the JSON of statistics, `edgewise.stats/1`. Times are in UTC. */
export function buildStatsJson(stats: Statistics): JsonObject {
  const { from, to, grain, zone, sum, area, labels, tallies } = stats
  const time = (ms: number) => new Date(ms).toISOString()
  return {
    format: 'edgewise.stats/1',
    from: time(from),
    to: time(to),
    grain,
    timezone: zone.name,
    sum,
    area,
    labels,
    series: tallies.map(({ domain, counts, points }) => ({
      domain,
      requests: sumRequests(counts),
      classes: countByClass(counts),
      statuses: counts,
      points: points
        .toSorted((a, b) => a.time - b.time)
        .map((point) => ({ time: time(point.time), statuses: point.counts })),
    })),
  }
}

/** Builds the JSON of prefetch records, `edgewise.prefetch/1`. Times are in UTC. */
export function buildPrefetchJson(
  query: PrefetchQuery,
  records: PrefetchRecord[],
  complete: boolean,
): JsonObject {
  return {
    format: 'edgewise.prefetch/1',
    query:
      'task' in query
        ? { task: query.task }
        : { from: query.from, to: query.to, url: query.url ?? null },
    complete,
    summary: { total: records.length, ...countPrefetches(records) },
    records: records.map(({ id, url, status, createdAt, completedAt }) => ({
      id,
      url,
      status,
      createdAt: new Date(createdAt).toISOString(),
      completedAt: completedAt === null ? null : new Date(completedAt).toISOString(),
    })),
  }
}
