/**
 * Local times are milliseconds like those since 1970, read off a clock in the zone instead of one
 * in UTC.
 */
export interface TimeZone {
  name: string
  toLocal(utc: number): number
  /**
   * A local time that comes twice counts as the first; one that is skipped as if the clock had not
   * been put forward yet.
   */
  toUtc(local: number): number
  /**
   * Every moment that a local time may be taken for, ascending: one; two where it comes twice; and
   * where it is skipped, the two that the clock before and the clock after the change make of it.
   */
  listUtcCandidates(local: number): number[]
}

const dayMs = 86_400_000

/** The time zone of an IANA name. Throws a RangeError for a name that there is not. */
export function createTimeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const toLocal = (utc: number): number => {
    const part = Object.fromEntries(
      format.formatToParts(utc).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
    return buildLocalTime(year, month, day, hour, minute, second) + (((utc % 1000) + 1000) % 1000)
  }
  /** What the clocks of the day before and of the day after make of a local time. */
  const around = (local: number): [number, number] => {
    const [before, after] = [local - dayMs, local + dayMs]
    return [local - (toLocal(before) - before), local - (toLocal(after) - after)]
  }
  const toUtc = (local: number): number => {
    const both = around(local)
    const candidates = both.filter((utc) => toLocal(utc) === local)
    return candidates.length > 0 ? Math.min(...candidates) : both[0]
  }
  const listUtcCandidates = (local: number): number[] => {
    const both = around(local)
    const actual = both.filter((utc) => toLocal(utc) === local)
    return [...new Set(actual.length > 0 ? actual : both)].toSorted((a, b) => a - b)
  }
  return { name, toLocal, toUtc, listUtcCandidates }
}

/** A local time by its parts; months and days count from 1. Parts that are too large carry over. */
export function buildLocalTime(
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
): number {
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  return (
    new Date(0).setUTCFullYear(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000
  )
}

/** `YYYY-MM-DD HH:ii:ss` of a local time. */
export function formatLocalTime(local: number): string {
  return new Date(local).toISOString().slice(0, 19).replace('T', ' ')
}
