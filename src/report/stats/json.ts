import type { JsonObject } from '../../model/json.ts'
import { sumRequests } from '../../model/statistics.ts'
import { countByClass } from '../../model/tally.ts'
import type { Statistics } from './text.ts'

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
