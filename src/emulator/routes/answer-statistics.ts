import type { Domain } from '../../core/model/item.ts'
import type { Grain } from '../../core/model/statistics.ts'
import { grains, buildPeriods, type Period } from '../entities/periods.ts'
import { countRequests, formatPoints } from '../entities/statistics.ts'
import type { TimeZone } from '../../core/model/time/time-zone.ts'
import { areas, type Area } from '../entities/traffic.ts'
import type { Store } from '../store/store.ts'
import type { Faults } from './answer-with-faults.ts'
import { openQuery } from './authenticate.ts'
import { JsonText } from './exchange.ts'
import type { Incoming } from './route.ts'
import { parseDomains, refuseUnknown } from './parse-domains.ts'
import { parseChoice } from './parse-query.ts'
import { parseTime, refuseBackwards } from './parse-time.ts'
import { Refusal } from './refusal.ts'

export interface QueryRules {
  /** Null accepts any token that is not empty. */
  token: string | null
  /** Seed of traffic, of faults by probability and of prefetches. */
  seed: string
  zone: TimeZone
  now: () => number
}

/** Largest factor of gusts without `factor`. */
const defaultGustFactor = 2

interface Span {
  start: number
  end: number
  grain: Grain
}

const dayMs = 86_400_000
const maxDays = 31
const maxPoints = 2880
const areasByChoice: Record<'all' | Area, readonly Area[]> = {
  all: areas,
  cn: ['cn'],
  abroad: ['abroad'],
}

/**
 * Answers one series for each domain (specification, "GET /stat/httpcode/eachDomain"). Throws a
 * Refusal: token first, then parameters.
 */
export function answerEachDomain(
  { request, call, faults }: Incoming,
  store: Store,
  rules: QueryRules,
): JsonText {
  const query = openQuery(request, rules)
  call.domains = parseDomains(query.get('domains'))
  refuseUnknown(call.domains, store)
  const span = parseSpan(query)
  const endLabels = parseChoice(query, 'stat_is_forward', ['0', '1']) === '1'
  const from = areasByChoice[parseChoice(query, 'query_area', ['all', 'cn', 'abroad'])]
  const periods = buildPeriods({ ...span, endLabels }, rules.zone, rules.now())
  const series = call.domains.map((domain) => {
    const name = JSON.stringify(domain)
    const points = countPoints([domain], periods, from, store, rules, faults)
    return `${name}:{"domain":${name},"data":${points}}`
  })
  return new JsonText(`{"code":0,"data":{${series.join(',')}}}`)
}

/**
 * Answers one series over all requested domains (specification, "GET /stat/httpcode"). Throws a
 * Refusal: token first, then parameters.
 */
export function answerTogether(
  { request, call, faults }: Incoming,
  store: Store,
  rules: QueryRules,
): JsonText {
  const query = openQuery(request, rules)
  const all = query.get('domains')?.trim() === 'all'
  call.domains = all ? store.listDomains() : parseDomains(query.get('domains'))
  if (!all) refuseUnknown(call.domains, store)
  const span = parseSpan(query)
  refuseTooMany(call.domains.length, span)
  const periods = buildPeriods({ ...span, endLabels: false }, rules.zone, rules.now())
  return new JsonText(
    `{"code":0,"data":${countPoints(call.domains, periods, areas, store, rules, faults)}}`,
  )
}

/**
 * Parses the interval and the grain, within the limits of both (specification, "Limits"). A month
 * is 31 days, also for `day`.
 */
function parseSpan(query: ReadonlyMap<string, string>): Span {
  const start = parseTime(query, 'start_time', 'start')
  const end = parseTime(query, 'end_time', 'end')
  const grain = parseChoice(query, 'grad', ['minute5', 'minute', 'hour', 'day'])
  refuseBackwards(start, end)
  if (end - start > maxDays * dayMs) {
    throw new Refusal(
      'interval-exceeded',
      `the interval from start_time to end_time exceeds the limit of ${maxDays} days`,
    )
  }
  if (grain === 'minute' && end - start > dayMs) {
    throw new Refusal(
      'interval-exceeded',
      'the interval from start_time to end_time exceeds the limit of one day for grad minute',
    )
  }
  return { start, end, grain }
}

/** Refuses too many points; started days count as whole. */
function refuseTooMany(domains: number, { start, end, grain }: Span): void {
  const days = Math.max(1, Math.ceil((end - start) / dayMs))
  const { pointsPerDay } = grains[grain]
  const size = domains * pointsPerDay * days
  if (size <= maxPoints) return
  throw new Refusal(
    'request-exceeded',
    `the single request exceeds the limit: ${domains} domains x ${pointsPerDay} points per day ` +
      `x ${days} days = ${size}, over ${maxPoints}`,
  )
}

function countPoints(
  domains: Domain[],
  periods: Period[],
  from: readonly Area[],
  store: Store,
  rules: QueryRules,
  faults: Faults,
): string {
  const gusts = faults.find('gusts')
  const factor = gusts === undefined ? null : (gusts.factor ?? defaultGustFactor)
  const histories = new Map(domains.map((domain) => [domain, store.getHistory(domain)]))
  return formatPoints(countRequests(rules.seed, histories, periods, from, factor), periods)
}
