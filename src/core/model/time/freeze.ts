import { createTimeZone } from './time-zone.ts'

/** A period in which nothing may be applied; `to` is exclusive. */
export interface FreezeWindow {
  /**
   * As written: a weekly time (`Fri 16:00`) or a date (`2026-12-20`, `2026-12-20T18:00`,
   * `2026-12-20T18:00Z`).
   */
  from: string
  to: string
  /** IANA time zone of times without an offset. */
  timezone: string
  reason: string
}

/**
 * One end of a freeze window.
 * - `weekly`: minutes since Monday 00:00.
 * - `date`: milliseconds of a wall clock, as if it were UTC.
 * - `instant`: milliseconds since 1970, of a date with `Z` or an offset.
 */
export type FreezeTime =
  | { kind: 'weekly'; at: number }
  | { kind: 'date'; at: number }
  | { kind: 'instant'; at: number }

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const minuteMs = 60_000
const weekMinutes = 7 * 24 * 60

/** Parses one end of a freeze window; null if it is neither a weekly time nor a date. */
export function parseFreezeTime(text: string): FreezeTime | null {
  return parseWeeklyTime(text) ?? parseDateTime(text)
}

function parseWeeklyTime(text: string): FreezeTime | null {
  const match = /^(mon|tue|wed|thu|fri|sat|sun) ([01]\d|2[0-3]):([0-5]\d)$/i.exec(text)
  if (match === null) return null
  return {
    kind: 'weekly',
    at:
      (days.indexOf((match[1] ?? '').toLowerCase()) * 24 + Number(match[2])) * 60 +
      Number(match[3]),
  }
}

function parseDateTime(text: string): FreezeTime | null {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(
    text,
  )
  if (match === null) return null
  const at = Date.parse(`${match[1]}T${match[2] ?? '00:00'}${match[3] ?? 'Z'}`)
  // Date parses 30 February as 2 March.
  const day = new Date(`${match[1]}T00:00Z`)
  if (
    Number.isNaN(at) ||
    Number.isNaN(day.getTime()) ||
    day.toISOString().slice(0, 10) !== match[1]
  )
    return null
  return { kind: match[3] === undefined ? 'date' : 'instant', at }
}

/**
 * Reports whether a window covers a moment. Weekly windows may run past the end of the week.
 *
 * @param now milliseconds since 1970
 * @throws TypeError for a window that `edgewise.yaml` must not contain
 */
export function isFrozen(window: FreezeWindow, now: number): boolean {
  const [from, to] = [parseFreezeTime(window.from), parseFreezeTime(window.to)]
  if (from === null || to === null || from.kind !== to.kind)
    throw new TypeError(
      `expected two weekly times or two dates, got "${window.from}" and "${window.to}"`,
    )
  const at = from.kind === 'instant' ? now : createTimeZone(window.timezone).toLocal(now)
  if (from.kind !== 'weekly') return from.at <= at && at < to.at
  // 1970 began on a Thursday.
  const minute = (Math.floor(at / minuteMs) + 3 * 24 * 60) % weekMinutes
  return from.at < to.at ? from.at <= minute && minute < to.at : minute >= from.at || minute < to.at
}
