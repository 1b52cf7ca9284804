import { findMax, findMin } from '../../model/append.ts'
import { formatLocalTime, type TimeZone } from '../../model/time-zone.ts'

/** A window in the local time of the service, and the moments that it may mean. */
export interface LocalWindow {
  /** `YYYY-MM-DD HH:ii`, both inclusive. */
  start: string
  end: string
  /** First and last moment that the two may mean, ms since 1970. */
  earliest: number
  latest: number
  /** Length by the wall clock or by true time, whichever is more, ms. */
  lengthMs: number
}

const minuteMs = 60_000

/**
 * Converts [from, to) to the local time of the zone, to the minute (specification, "GET
 * /stat/httpcode/eachDomain": start_time, end_time). Around a clock change, a local time may mean
 * two moments, and the specification does not define which: the window is then widened to cover all
 * labels in either case. Labels outside [from, to) are dropped from the answer.
 */
export function buildLocalWindow(from: number, to: number, zone: TimeZone): LocalWindow {
  const lastMinute = to - minuteMs
  let start = floorMinute(zone.toLocal(from))
  for (let over = findLatest(start, zone) - from; over > 0; over = findLatest(start, zone) - from)
    start = floorMinute(start - over)
  let end = floorMinute(zone.toLocal(to - 1))
  for (
    let short = lastMinute - findEarliest(end, zone);
    short > 0;
    short = lastMinute - findEarliest(end, zone)
  )
    end = floorMinute(end + short + minuteMs - 1)
  const [earliest, latest] = [findEarliest(start, zone), findLatest(end, zone)]
  return {
    start: formatMinute(start),
    end: formatMinute(end),
    earliest,
    latest,
    lengthMs: Math.max(end - start, latest - earliest),
  }
}

function findEarliest(local: number, zone: TimeZone): number {
  return findMin(zone.listUtcCandidates(local))
}

function findLatest(local: number, zone: TimeZone): number {
  return findMax(zone.listUtcCandidates(local))
}

function floorMinute(local: number): number {
  return Math.floor(local / minuteMs) * minuteMs
}

function formatMinute(local: number): string {
  return formatLocalTime(local).slice(0, 16)
}
