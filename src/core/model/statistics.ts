import type { Domain } from './item.ts'
import type { TimeZone } from './time/time-zone.ts'
import { append } from './lists.ts'

/**
 * Lengths of the period of one point, shortest first (specification, "GET
 * /stat/httpcode/eachDomain": `grad`).
 */
export const grains = ['minute', 'minute5', 'hour', 'day'] as const
export type Grain = (typeof grains)[number]
/** Length of a period, ms; of a day without a clock change. */
export const grainMs: Record<Grain, number> = {
  minute: 60_000,
  minute5: 300_000,
  hour: 3_600_000,
  day: 86_400_000,
}

/** Areas of a query (specification, "GET /stat/httpcode/eachDomain": `query_area`). */
export const queryAreas = ['all', 'cn', 'abroad'] as const
export type QueryArea = (typeof queryAreas)[number]

/** Requests by HTTP status code, including the key `0`. Codes that did not occur are absent. */
export type Counts = Record<string, number>

/** The requests of one period. */
export interface Point {
  /** The label, ms since 1970: the start of the period unless the question asks for its end. */
  time: number
  counts: Counts
}

/** A question about status codes: the points whose labels are in [from, to). */
export interface Question {
  /** `all`: every domain of the token; only for a sum over domains. */
  domains: Domain[] | 'all'
  /** Milliseconds since 1970; aligned backwards to the grain. */
  from: number
  to: number
  grain: Grain
  /** Area of the requests; all without it. For single domains only. */
  area?: QueryArea
  /**
   * Position of a label: the start (default) or the end of its period. The end is for single
   * domains only.
   */
  labels?: 'start' | 'end'
}

/** Returns the start of the period that contains a moment, by the wall clock of the zone. */
export function alignDown(time: number, grain: Grain, zone: TimeZone): number {
  const local = zone.toLocal(time)
  const into = local - Math.floor(local / grainMs[grain]) * grainMs[grain]
  // A day may be longer or shorter than 24 hours; within an hour no clock changes.
  return grain === 'day' ? zone.toUtc(local - into) : time - into
}

/** Returns the end of the period that contains a moment. */
export function findPeriodEnd(time: number, grain: Grain, zone: TimeZone): number {
  const begin = alignDown(time, grain, zone)
  return grain === 'day'
    ? alignDown(begin + 1.5 * grainMs.day, grain, zone)
    : begin + grainMs[grain]
}

/** Returns the window of the end labels of the periods that start in [from, to). */
export function findEndLabels(
  { from, to }: { from: number; to: number },
  grain: Grain,
  zone: TimeZone,
): { from: number; to: number } {
  const last = findPeriodEnd(to - 1, grain, zone)
  return { from: findPeriodEnd(from, grain, zone), to: last + grainMs.minute }
}

/** Returns the moment itself if a period starts there, else the end of its period. */
export function alignUp(time: number, grain: Grain, zone: TimeZone): number {
  const begin = alignDown(time, grain, zone)
  return begin === time ? time : findPeriodEnd(time, grain, zone)
}

/**
 * Creates empty counts. Their keys are indexes to the engine, which would keep an array up to the
 * largest one, 5 kB for a few codes; a key far beyond, even a removed one, makes it keep a table.
 */
export function createCounts(): Counts {
  const counts: Counts = { 999_999: 0 }
  delete counts['999999']
  return counts
}

/** Adds counts to `to`. */
export function addCounts(to: Counts, more: Counts): void {
  for (const [status, count] of Object.entries(more)) to[status] = (to[status] ?? 0) + count
}

/** Adds points to the counts of their times. */
export function addByTime(to: Map<number, Counts>, points: Point[]): void {
  for (const { time, counts } of points) {
    const sum = to.get(time) ?? createCounts()
    addCounts(sum, counts)
    to.set(time, sum)
  }
}

/** Lists counts by time as points, ascending. */
export function toPoints(byTime: Map<number, Counts>): Point[] {
  const points = [...byTime].map(([time, counts]) => ({ time, counts }))
  return points.toSorted((a, b) => a.time - b.time)
}

/** Sums all requests of some counts. */
export function sumRequests(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** Status codes by their first digit; `other` is 0, 1xx and everything else. */
export const statusClasses = ['2xx', '3xx', '4xx', '5xx', 'other'] as const
export type StatusClass = (typeof statusClasses)[number]

/** Counts of one domain, or of several together, in a period. */
export interface Tally {
  /** Null for several together. */
  domain: Domain | null
  counts: Counts
  /** Equal parts of the period, ascending: all requests, and those with 5xx. */
  steps: { requests: number; failed: number }[]
  /** Every point, if requested. */
  points: Point[]
}

/** Returns the class of a status code. */
export function classifyStatus(status: string): StatusClass {
  return statusClasses.find((each) => each[0] === status[0] && status.length === 3) ?? 'other'
}

/** Counts requests by class. */
export function countByClass(counts: Counts): Record<StatusClass, number> {
  const classes = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 }
  for (const [status, count] of Object.entries(counts)) classes[classifyStatus(status)] += count
  return classes
}

/** Creates an empty tally with `steps` parts. */
export function createTally(domain: Domain | null, steps: number): Tally {
  return {
    domain,
    counts: createCounts(),
    steps: Array.from({ length: steps }, () => ({ requests: 0, failed: 0 })),
    points: [],
  }
}

/**
 * Counts points of the period [from, to), ms.
 *
 * @param keep whether to keep the points themselves too
 */
export function addPoints(
  tally: Tally,
  points: Point[],
  { from, to }: { from: number; to: number },
  keep: boolean,
): void {
  for (const { time, counts } of points) {
    addCounts(tally.counts, counts)
    const step = tally.steps[Math.floor(((time - from) / (to - from)) * tally.steps.length)]
    if (step === undefined) continue
    step.requests += sumRequests(counts)
    step.failed += countByClass(counts)['5xx']
  }
  if (keep) append(tally.points, points)
}

/** Returns a share from 0 to 1; 0 if `all` is 0. */
export function computeShare(part: number, all: number): number {
  return all === 0 ? 0 : part / all
}
