import { buildPeriods } from '../../src/emulator/entities/periods.ts'
import { countRequests, formatPoints } from '../../src/emulator/entities/statistics.ts'
import { areas, type Area } from '../../src/emulator/entities/traffic.ts'
import { grainMs, type Grain, type Point } from '../../src/core/model/statistics.ts'
import type { TimeZone } from '../../src/core/model/time/time-zone.ts'
import type { Transport } from '../../src/service/transport.ts'
import { buildAnswer } from './query-world.ts'

const dayMs = 86_400_000
const now = Date.UTC(2027, 5, 1)
const seed = 'split'

/** Interpretation of a repeated or skipped local time by a service. */
export type Choice = 'first' | 'last'

/**
 * Computes the points of domains taken together whose labels are in [from, to), without any limit.
 */
export function computeUnlimited(
  domains: string[],
  {
    from,
    to,
    grain,
    labels = 'start',
    area = 'all',
  }: { from: number; to: number; grain: Grain; labels?: 'start' | 'end'; area?: Area | 'all' },
  zone: TimeZone,
): Point[] {
  const [start, end] = [zone.toLocal(from - dayMs), zone.toLocal(to + dayMs)]
  const points = computePoints(
    domains,
    { start, end, grain, endLabels: labels === 'end' },
    zone,
    area,
  )
  return points
    .map(([label, counts]) => ({ time: label * 1000, counts }))
    .filter(({ time }) => time >= from && time < to)
}

function computePoints(
  domains: string[],
  span: Parameters<typeof buildPeriods>[0],
  zone: TimeZone,
  area: Area | 'all',
) {
  const periods = buildPeriods(span, zone, now)
  const histories = new Map(domains.map((domain) => [domain, { behaviour: [], dead: [] }]))
  const counts = countRequests(seed, histories, periods, area === 'all' ? areas : [area])
  return JSON.parse(formatPoints(counts, periods)) as [number, Record<string, number>][]
}

/**
 * Creates a service with the limits of the specification under any interpretation; violations are
 * added to `broken`.
 */
export function createLimitedService(zone: TimeZone, choice: Choice, broken: string[]): Transport {
  const interpret = (local: number) =>
    (choice === 'first'
      ? zone.listUtcCandidates(local)[0]
      : zone.listUtcCandidates(local).at(-1)) ?? 0
  const asTaken: TimeZone = { ...zone, toUtc: interpret }
  return async ({ url }) => {
    const { pathname, searchParams: query } = new URL(url)
    const domains = (query.get('domains') ?? '').split(',')
    const [start = 0, end = 0] = ['start_time', 'end_time'].map((name) =>
      Date.parse(`${(query.get(name) ?? '').replace(' ', 'T')}Z`),
    )
    const grain = (query.get('grad') ?? '') as Grain
    for (const length of [
      end - start,
      ...zone
        .listUtcCandidates(end)
        .flatMap((last) => zone.listUtcCandidates(start).map((first) => last - first)),
    ]) {
      const days = Math.max(1, Math.ceil(length / dayMs))
      if (length < 0 && length === end - start) broken.push(`${url} is backwards`)
      if (domains.length > 10) broken.push(`${url}: ${domains.length} domains`)
      if (days > 31 || (grain === 'minute' && days > 1)) broken.push(`${url}: ${days} days`)
      const size = domains.length * (dayMs / grainMs[grain]) * days
      if (pathname.endsWith('/httpcode') && size > 2880) broken.push(`${url}: ${size} points`)
    }
    // Days start at their own start: only requested times can be interpreted in two ways.
    const span = { start, end, grain, endLabels: query.get('stat_is_forward') === '1' }
    const area = (query.get('query_area') ?? 'all') as Area | 'all'
    const series = (names: string[]) =>
      computePoints(names, span, grain === 'day' ? zone : asTaken, area)
    if (pathname.endsWith('/httpcode'))
      return buildAnswer({ body: { code: 0, data: series(domains) } })
    const data = Object.fromEntries(
      domains.map((domain) => [domain, { domain, data: series([domain]) }]),
    )
    return buildAnswer({ body: { code: 0, data } })
  }
}
