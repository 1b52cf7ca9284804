import { append } from './append.ts'
import type { Domain } from './item.ts'
import { addCounts, createCounts, sumRequests, type Counts, type Point } from './statistics.ts'

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
