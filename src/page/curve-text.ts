import type { PageCurve, PagePoint, PageSpan } from '../model/page-rollout.ts'
import { formatCount } from './words.ts'

/** Returns the share of bad answers of a period in percent; null without requests. */
export function computeShare([, requests, bad]: PagePoint): number | null {
  return requests === 0 ? null : (100 * bad) / requests
}

/** Formats a share in percent with two decimals; a positive one that rounds to zero is `<0.01`. */
export function formatShare(share: number | null): string {
  if (share === null) return 'no requests'
  return share > 0 && share < 0.005 ? '<0.01 %' : `${share.toFixed(2)} %`
}

/** Formats seconds since 1970 as `12:05`, or as `2026-11-20 12:05` with the date; in UTC. */
export function formatUtc(seconds: number, withDate = false): string {
  const iso = new Date(seconds * 1000).toISOString()
  return withDate ? `${iso.slice(0, 10)} ${iso.slice(11, 16)}` : iso.slice(11, 16)
}

/** Describes a curve for people who do not see the chart. */
export function describeCurve(curve: PageCurve): string {
  const { statuses, points, before, after, baseline } = curve
  const level = computeShare([0, baseline.requests, baseline.bad, 0, 0, 0, 0, 0])
  return (
    `Share of ${statuses} over time. Before the wave, ${describeSpan(before)}: ` +
    `${formatShare(level)}. After it, ${describeSpan(after)}: ${describeRange(points, after)}`
  )
}

function describeSpan([from, to]: PageSpan): string {
  return `${formatUtc(from, true)} to ${formatUtc(to, !isSameDay(from, to))} UTC`
}

function isSameDay(one: number, other: number): boolean {
  return formatUtc(one, true).slice(0, 10) === formatUtc(other, true).slice(0, 10)
}

function describeRange(points: PagePoint[], [from, to]: PageSpan): string {
  const shares = points
    .filter(([time]) => time >= from && time < to)
    .flatMap((point) => computeShare(point) ?? [])
  if (shares.length === 0) return 'no requests.'
  const least = shares.reduce((a, b) => Math.min(a, b))
  const largest = shares.reduce((a, b) => Math.max(a, b))
  return least === largest
    ? `${formatShare(least)}.`
    : `between ${formatShare(least)} and ${formatShare(largest)}.`
}

/** What a chart draws: a line breaks where there is no value, such as between both windows. */
export interface ChartData {
  /** Middles of the periods, seconds since 1970. */
  times: number[]
  shares: (number | null)[]
  requests: (number | null)[]
  /** Position of the point of each time; null between the windows. */
  positions: (number | null)[]
}

/** Computes what a chart draws, with a gap where periods are missing. */
export function computeChartData({ points, seconds }: PageCurve): ChartData {
  const data: ChartData = { times: [], shares: [], requests: [], positions: [] }
  const add = (time: number, share: number | null, requests: number | null, at: number | null) => {
    data.times.push(time)
    data.shares.push(share)
    data.requests.push(requests)
    data.positions.push(at)
  }
  for (const [i, point] of points.entries()) {
    const previous = points[i - 1]?.[0] ?? point[0]
    // A day with a clock change is up to an hour longer.
    const isGap = point[0] - previous > 1.5 * seconds
    if (isGap) add((previous + seconds + point[0]) / 2, null, null, null)
    add(point[0] + seconds / 2, computeShare(point), point[1], i)
  }
  return data
}

/** Describes a period: its time, with the date if there are several, and its requests. */
export function describePoint({ points, before, after }: PageCurve, position: number): string {
  const point = points[position]
  if (point === undefined) return ''
  const [time, requests] = point
  const when = formatUtc(time, !isSameDay(before[0], after[1]))
  return `${when} UTC: ${formatShare(computeShare(point))} of ${formatCount(requests)}`
}
