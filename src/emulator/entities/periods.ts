import type { Grain } from '../../core/model/statistics.ts'
import type { TimeZone } from '../../core/model/time/time-zone.ts'

/** Period of one point of a series. */
export interface Period {
  /** Time stamp, seconds since 1970. */
  label: number
  /** First minute since 1970 in the period, and first minute after it. */
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
 * Builds the periods whose labels are from `start` (aligned backwards) to `end`, both local times.
 * A label is the start of its period, or with `endLabels` its end. Minutes that are not over at
 * `now` do not count, and periods without a minute that is over are omitted.
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
    grain === 'day'
      ? listDayMarks(start, end, zone)
      : listEvenMarks(start, end, grains[grain].ms, zone)
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

/** Lists the labels, with one before the first and one after the last. */
function listEvenMarks(start: number, end: number, step: number, zone: TimeZone): number[] {
  const last = zone.toUtc(end)
  const marks: number[] = []
  let mark = zone.toUtc(Math.floor(start / step) * step) - step
  for (; mark <= last; mark += step) marks.push(mark)
  return [...marks, mark]
}

/**
 * Lists the labels of days like `listEvenMarks`: around clock changes, days have different lengths.
 */
function listDayMarks(start: number, end: number, zone: TimeZone): number[] {
  const first = Math.floor(start / dayMs) - 1
  const last = Math.floor(end / dayMs) + 1
  return Array.from({ length: last - first + 1 }, (_, i) => zone.toUtc((first + i) * dayMs))
}
