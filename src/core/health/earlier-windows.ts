import { getOrAdd } from '../model/lists.ts'
import type { HealthRule, Sample, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import type { Point } from '../model/statistics.ts'
import type { CountSample } from './count-sample.ts'
import { computeLength } from './windows.ts'

const dayMs = 86_400_000
/** Time before a change whose windows show the variation: several days have the same hours. */
const minSpanMs = 3 * dayMs
/** Minimum number of windows in it, and the limit of the service's statistics. */
const minSpanWindows = 8
const maxSpanMs = 30 * dayMs

/** Computes the time before a change whose windows show the variation of a baseline. */
export function computeSpan(to: number, rule: HealthRule): Window {
  const spanMs = Math.max(minSpanMs, minSpanWindows * computeLength(rule))
  return { from: to - Math.min(maxSpanMs, spanMs), to }
}

/** Requests of a domain over time: the same position of each list is one period. */
interface Series {
  times: number[]
  requests: number[]
  bad: number[]
}

export type EarlierRequests = ReturnType<typeof createEarlierRequests>

/**
 * Creates the memory of the requests of many domains before a change, and of how many were
 * bad; each period of a domain takes three numbers.
 */
export function createEarlierRequests(count: CountSample) {
  const all = new Map<Domain, Series>()
  return {
    /** Adds points of a domain. */
    add: (domain: Domain, points: Point[]): void => {
      const series = getOrAdd(all, domain, () => ({ times: [], requests: [], bad: [] }))
      for (const { time, counts } of points) {
        const { requests, bad } = count(counts)
        series.times.push(time)
        series.requests.push(requests)
        series.bad.push(bad)
      }
    },
    /**
     * Sums the requests of each domain in windows of some length, latest first. Windows without
     * any point are left out.
     */
    sum: (span: Window, lengthMs: number): Map<Domain, Sample[]> =>
      new Map([...all].map(([domain, series]) => [domain, sumWindows(series, span, lengthMs)])),
  }
}

function sumWindows({ times, requests, bad }: Series, { from, to }: Window, lengthMs: number) {
  const sums = new Map<number, Sample>()
  for (const [i, time] of times.entries()) {
    const index = Math.floor((to - 1 - time) / lengthMs)
    if (time < from || time >= to || to - (index + 1) * lengthMs < from) continue
    const sum = sums.get(index) ?? { requests: 0, bad: 0 }
    sum.requests += requests[i] ?? 0
    sum.bad += bad[i] ?? 0
    sums.set(index, sum)
  }
  return [...sums].toSorted(([a], [b]) => a - b).map(([, sum]) => sum)
}
