import { getOrAdd } from '../model/lists.ts'
import type { CurvePoint, HealthRule, Window } from '../model/health.ts'
import {
  findPeriodEnd,
  grainMs,
  type Grain,
  type Point,
  classifyStatus,
  statusClasses,
} from '../model/statistics.ts'
import type { TimeZone } from '../model/time/time-zone.ts'
import { createSampleCount } from './count-sample.ts'

/** Maximum number of points of the baseline; its periods are joined beyond. */
const maxPoints = 120

type Rule = Pick<HealthRule, 'grain' | 'statuses'>

/** Computes how many neighbouring periods are one point, so that the curves of a wave are small. */
export function computePeriodsPerPoint({ from, to }: Window, grain: Grain): number {
  return Math.max(1, Math.ceil((to - from) / grainMs[grain] / maxPoints))
}

/**
 * Creates the sum of the requests of all domains of a wave by period: eight numbers for each,
 * however many domains add.
 *
 * @param periodsPerPoint number of neighbouring periods that are one point
 */
export function createCurve(
  { from, to }: Window,
  periodsPerPoint: number,
  rule: Rule,
  zone: TimeZone,
) {
  const countSample = createSampleCount(rule.statuses)
  const periods = new Map<number, CurvePoint>()
  const find = (time: number) =>
    getOrAdd(periods, time, () => ({
      time,
      requests: 0,
      bad: 0,
      '2xx': 0,
      '3xx': 0,
      '4xx': 0,
      '5xx': 0,
      other: 0,
    }))
  for (let time = from; time < to; time = findPeriodEnd(time, rule.grain, zone)) find(time)
  return {
    /** Adds points of a domain. */
    add: (points: Point[]): void => {
      for (const { time, counts } of points) {
        const point = find(time)
        const { requests, bad } = countSample(counts)
        point.requests += requests
        point.bad += bad
        for (const status of Object.keys(counts))
          point[classifyStatus(status)] += counts[status] ?? 0
      }
    },
    /** Lists all periods of the window, ascending; those without requests too. */
    list: (): CurvePoint[] =>
      joinPoints(
        [...periods.values()].toSorted((a, b) => a.time - b.time),
        periodsPerPoint,
      ),
  }
}

/** Joins each so many neighbours into one. */
function joinPoints(points: CurvePoint[], count: number): CurvePoint[] {
  if (count === 1) return points
  const joined: CurvePoint[] = []
  for (const [i, point] of points.entries()) {
    const last = joined.at(-1)
    if (last === undefined || i % count === 0) joined.push({ ...point })
    else for (const key of ['requests', 'bad', ...statusClasses] as const) last[key] += point[key]
  }
  return joined
}
