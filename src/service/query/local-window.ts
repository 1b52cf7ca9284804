import { formatLocalTime, type TimeZone } from '../../model/time-zone.ts'

/** A window of time in the service's local time, and the moments it may stand for. */
export interface LocalWindow {
  /** `YYYY-MM-DD HH:ii`, both within the window. */
  start: string
  end: string
  /** The first and the last moment that the two may stand for, ms since 1970. */
  earliest: number
  latest: number
  /** How long it is by the clock on the wall or by true time, whichever is more, ms. */
  lengthMs: number
}

const minuteMs = 60_000

/**
 * Converts [from, to) to the zone's local time, to the minute (specification, "GET
 * /stat/httpcode/eachDomain": start_time, end_time). Where clocks change, a local time may stand
 * for two moments, and the specification does not say for which: the window is then widened until
 * it covers all labels in either case. Labels outside [from, to) are dropped from the answer.
 */
export function buildLocalWindow(from: number, to: number, zone: TimeZone): LocalWindow {
  const lastMinute = to - minuteMs
  let start = floorMinute(zone.toLocal(from))
  for (let over = last(start, zone) - from; over > 0; over = last(start, zone) - from)
    start = floorMinute(start - over)
  let end = floorMinute(zone.toLocal(to - 1))
  for (let short = lastMinute - first(end, zone); short > 0; short = lastMinute - first(end, zone))
    end = floorMinute(end + short + minuteMs - 1)
  const [earliest, latest] = [first(start, zone), last(end, zone)]
  return {
    start: minuteText(start),
    end: minuteText(end),
    earliest,
    latest,
    lengthMs: Math.max(end - start, latest - earliest),
  }
}

function first(local: number, zone: TimeZone): number {
  return Math.min(...zone.listUtcCandidates(local))
}

function last(local: number, zone: TimeZone): number {
  return Math.max(...zone.listUtcCandidates(local))
}

function floorMinute(local: number): number {
  return Math.floor(local / minuteMs) * minuteMs
}

function minuteText(local: number): string {
  return formatLocalTime(local).slice(0, 16)
}
