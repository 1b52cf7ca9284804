import type { Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import { findMin } from '../model/lists.ts'
import { grainMs, type Point } from '../model/statistics.ts'
import type { DomainTraffic } from '../model/traffic.ts'
import { createSampleCount } from './count-sample.ts'
import { createEarlierRequests } from './earlier-windows.ts'
import { estimateLevel } from './expected.ts'

type Figures = Omit<DomainTraffic, 'at'>

/**
 * Creates the figures of some domains from their requests by the hour in the week of a day.
 *
 * @param statuses that are bad beside 5xx and 0
 */
export function createWeek(day: Window, statuses: string[]) {
  const week = { from: day.to - 7 * grainMs.day, to: day.to }
  const requests = createEarlierRequests(createSampleCount(['5xx', '0', ...statuses]))
  return {
    week,
    add: (domain: Domain, points: Point[]): void => requests.add(domain, points),
    /** Summarizes the week; a domain without points has no requests. */
    summarize: (domains: Domain[]): Map<Domain, Figures> => {
      const counted = statuses.length === 0 ? {} : { statuses }
      const days = requests.sum(day, day.to - day.from)
      const hours = requests.sum(week, grainMs.hour)
      return new Map(
        domains.map((domain) => {
          const [sum = { requests: 0, bad: 0 }] = days.get(domain) ?? []
          return [domain, { ...sum, ...counted, ...summarizeHours(hours.get(domain) ?? []) }]
        }),
      )
    },
  }
}

/** @param hours without those that have no point */
function summarizeHours(hours: { requests: number; bad: number }[]): Partial<Figures> {
  const isWhole = hours.length === (7 * grainMs.day) / grainMs.hour
  const low = isWhole ? 24 * findMin(hours.map(({ requests }) => requests)) : 0
  const level = estimateLevel(hours)
  return level === null
    ? { low }
    : { low, variation: Number(Math.sqrt(level.dispersion).toFixed(2)) }
}
