import type { JsonObject } from '../../model/json.ts'
import { requestsIn } from '../../model/statistics.ts'
import { classesOf } from '../../model/tally.ts'
import type { Statistics } from './text.ts'

/** Statistics as machine output, `edgewise.stats/1`. Times in UTC. */
export function statsJson({ from, to, grain, zone, sum, tallies }: Statistics): JsonObject {
  const time = (ms: number) => new Date(ms).toISOString()
  return {
    format: 'edgewise.stats/1',
    from: time(from),
    to: time(to),
    grain,
    timezone: zone.name,
    sum,
    series: tallies.map(({ domain, counts, points }) => ({
      domain,
      requests: requestsIn(counts),
      classes: classesOf(counts),
      statuses: counts,
      points: points
        .toSorted((a, b) => a.time - b.time)
        .map((point) => ({ time: time(point.time), statuses: point.counts })),
    })),
  }
}
