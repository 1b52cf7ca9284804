import { findMin, getOrAdd } from '../lists.ts'

/**
 * Conversion between UTC and local time. A local time is in milliseconds like those since 1970, by
 * a clock in the zone instead of UTC.
 */
export interface TimeZone {
  name: string
  toLocal(utc: number): number
  /**
   * A local time that occurs twice counts as the first; a skipped one as if the clock had not been
   * set forward yet.
   */
  toUtc(local: number): number
  /**
   * Lists every moment that a local time may mean, ascending: one; two if it occurs twice; if it is
   * skipped, the two by the clock before and after the change.
   */
  listUtcCandidates(local: number): number[]
}

const dayMs = 86_400_000

const zones = new Map<string, TimeZone>()

/**
 * Creates the time zone of an IANA name, once: formatters are expensive.
 *
 * @throws RangeError for an unknown name
 */
export function createTimeZone(name: string): TimeZone {
  return getOrAdd(zones, name, () => buildTimeZone(name))
}

function buildTimeZone(name: string): TimeZone {
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
  /** Converts a local time by the clocks of the day before and the day after. */
  const computeNeighbours = (local: number): [number, number] => {
    const [before, after] = [local - dayMs, local + dayMs]
    return [local - (toLocal(before) - before), local - (toLocal(after) - after)]
  }
  const toUtc = (local: number): number => {
    const both = computeNeighbours(local)
    const candidates = both.filter((utc) => toLocal(utc) === local)
    return candidates.length > 0 ? findMin(candidates) : both[0]
  }
  const listUtcCandidates = (local: number): number[] => {
    const both = computeNeighbours(local)
    const actual = both.filter((utc) => toLocal(utc) === local)
    return [...new Set(actual.length > 0 ? actual : both)].toSorted((a, b) => a - b)
  }
  return { name, toLocal, toUtc, listUtcCandidates }
}

/**
 * Builds a local time of its parts; months and days count from 1. Parts that are too large carry
 * over.
 */
export function buildLocalTime(
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
): number {
  // Date.UTC maps the years 0 to 99 to 1900 to 1999.
  return (
    new Date(0).setUTCFullYear(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000
  )
}

/** Formats a local time as `YYYY-MM-DD HH:ii:ss`. */
export function formatLocalTime(local: number): string {
  return new Date(local).toISOString().slice(0, 19).replace('T', ' ')
}
