import type { Grain } from '../../model/statistics.ts'
import type { TimeZone } from '../../model/time-zone.ts'

/** What one point of a series covers. */
export interface Period {
  /** Its time stamp, in seconds since 1970. */
  label: number
  /** First minute since 1970 that it counts, and the first that it does not count any more. */
  from: number
  to: number
}

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
export const grains: Record<Grain, { ms: number; pointsPerDay: number }> = {
  minute: { ms: minuteMs, pointsPerDay: 1440 },
  minute5: { ms: 5 * minuteMs, pointsPerDay: 288 },
  hour: { ms: 60 * minuteMs, pointsPerDay: 24 },
  day: { ms: dayMs, pointsPerDay: 1 },
}

/**
 * The periods whose labels lie from `start` (aligned backwards) to `end`, both local times. A label
 * stands at the beginning of its period, or with `endLabels` at its end. Minutes that are not over
 * at `now` are not counted, and periods without any that is over are left out.
 */
export function buildPeriods(
  {
    start,
    end,
    grain,
    endLabels,
  }: { start: number; end: number; grain: Grain; endLabels: boolean },
  zone: TimeZone,
  now: number,
): Period[] {
  const marks =
    grain === 'day' ? dayMarks(start, end, zone) : evenMarks(start, end, grains[grain].ms, zone)
  const over = Math.floor(now / minuteMs)
  const periods: Period[] = []
  for (let i = 1; i + 1 < marks.length; i++) {
    const label = marks[i] ?? 0
    const [from, to] = endLabels ? [marks[i - 1] ?? 0, label] : [label, marks[i + 1] ?? 0]
    if (from / minuteMs < over)
      periods.push({
        label: label / 1000,
        from: from / minuteMs,
        to: Math.min(to / minuteMs, over),
      })
  }
  return periods
}

/** The labels, with the one before the first and the one after the last. */
function evenMarks(start: number, end: number, step: number, zone: TimeZone): number[] {
  const last = zone.toUtc(end)
  const marks: number[] = []
  let mark = zone.toUtc(Math.floor(start / step) * step) - step
  for (; mark <= last; mark += step) marks.push(mark)
  return [...marks, mark]
}

/** As `evenMarks`, for days: where clocks change, not all days are equally long. */
function dayMarks(start: number, end: number, zone: TimeZone): number[] {
  const first = Math.floor(start / dayMs) - 1
  const last = Math.floor(end / dayMs) + 1
  return Array.from({ length: last - first + 1 }, (_, i) => zone.toUtc((first + i) * dayMs))
}
