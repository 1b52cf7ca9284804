import type { HealthRule, Window } from '../model/health.ts'
import { addCounts, grainMs, type Counts, type Point } from '../model/statistics.ts'

const dayMs = 86_400_000
/** Time before a change whose windows show the variation: several days have the same hours. */
const minSpanMs = 3 * dayMs
/** Minimum number of windows in it, and the limit of the service's statistics. */
const minSpanWindows = 8
const maxSpanMs = 30 * dayMs

/** Computes the time before a change whose windows show the variation of a baseline. */
export function computeSpan(end: number, { window, grain }: HealthRule): Window {
  const windowMs = Math.max(window * 1000, grainMs[grain])
  return {
    from: end - Math.min(maxSpanMs, Math.max(minSpanMs, minSpanWindows * windowMs)),
    to: end,
  }
}

/**
 * Sums the points of a span in windows, latest first. Windows without any point are left out.
 *
 * @param lengthMs length of each window
 */
function sumEarlierWindows(points: Point[], { from, to }: Window, lengthMs: number): Counts[] {
  const sums = new Map<number, Counts>()
  for (const { time, counts } of points) {
    const index = Math.floor((to - 1 - time) / lengthMs)
    if (time < from || time >= to || to - (index + 1) * lengthMs < from) continue
    const sum = sums.get(index) ?? {}
    addCounts(sum, counts)
    sums.set(index, sum)
  }
  return [...sums].toSorted(([a], [b]) => a - b).map(([, counts]) => counts)
}

/** Sums the points of each domain in windows, latest first. */
export function sumEachDomain(
  series: ReadonlyMap<string, Point[]>,
  span: Window,
  lengthMs: number,
): Map<string, Counts[]> {
  return new Map(
    [...series].map(([domain, points]) => [domain, sumEarlierWindows(points, span, lengthMs)]),
  )
}
