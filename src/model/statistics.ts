import type { Domain } from './item.ts'
import type { TimeZone } from './time-zone.ts'

/**
 * How long the period of one point may be, shortest first (specification, "GET
 * /stat/httpcode/eachDomain": `grad`).
 */
export const grains = ['minute', 'minute5', 'hour', 'day'] as const
export type Grain = (typeof grains)[number]
/** Length of a period, ms; of a day where no clock changes. */
export const grainMs: Record<Grain, number> = {
  minute: 60_000,
  minute5: 300_000,
  hour: 3_600_000,
  day: 86_400_000,
}

/**
 * Requests by HTTP status code; the key `0` is used as well. Codes that did not occur are absent.
 */
export type Counts = Record<string, number>

/** The requests of one period. */
export interface Point {
  /** The label: ms since 1970, the beginning of the period unless the question asked otherwise. */
  time: number
  counts: Counts
}

/** What the service is asked about status codes: the points whose labels are in [from, to). */
export interface Question {
  /** `all`: every domain that the token may see, which only a sum over domains can be asked for. */
  domains: Domain[] | 'all'
  /** Milliseconds since 1970; aligned backwards to the grain. */
  from: number
  to: number
  grain: Grain
  /** Where requests came from; all without it. For single domains only. */
  area?: 'cn' | 'abroad'
  /**
   * Whether a label stands at the beginning (the usual) or the end of its period. The end is for
   * single domains only.
   */
  labels?: 'start' | 'end'
}

/** The beginning of the period that a moment lies in, by the clock on the wall of the zone. */
export function alignDown(time: number, grain: Grain, zone: TimeZone): number {
  const local = zone.toLocal(time)
  const into = local - Math.floor(local / grainMs[grain]) * grainMs[grain]
  // A day may be longer or shorter than 24 hours; within an hour no clock changes.
  return grain === 'day' ? zone.toUtc(local - into) : time - into
}

/** The end of the period that a moment lies in. */
export function findPeriodEnd(time: number, grain: Grain, zone: TimeZone): number {
  const begin = alignDown(time, grain, zone)
  return grain === 'day'
    ? alignDown(begin + 1.5 * grainMs.day, grain, zone)
    : begin + grainMs[grain]
}

/** The moment itself where a period begins, else the end of its period. */
export function alignUp(time: number, grain: Grain, zone: TimeZone): number {
  const begin = alignDown(time, grain, zone)
  return begin === time ? time : findPeriodEnd(time, grain, zone)
}

/** Adds counts to others. */
export function addCounts(to: Counts, more: Counts): void {
  for (const [status, count] of Object.entries(more)) to[status] = (to[status] ?? 0) + count
}

/** Adds points to the counts of their times. */
export function addByTime(to: Map<number, Counts>, points: Point[]): void {
  for (const { time, counts } of points) {
    const sum = to.get(time) ?? {}
    addCounts(sum, counts)
    to.set(time, sum)
  }
}

/** Lists counts by time as points, ascending. */
export function toPoints(byTime: Map<number, Counts>): Point[] {
  const points = [...byTime].map(([time, counts]) => ({ time, counts }))
  return points.toSorted((a, b) => a.time - b.time)
}

/** All requests of some counts. */
export function sumRequests(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
