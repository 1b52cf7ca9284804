import type { Domain } from '../../model/item.ts'
import type { Grain } from '../../model/statistics.ts'
import { grains, buildPeriods, type Period } from '../entities/periods.ts'
import { countRequests, formatPoints } from '../entities/statistics.ts'
import type { TimeZone } from '../../model/time-zone.ts'
import { areas, type Area } from '../entities/traffic.ts'
import type { Call } from '../entities/call.ts'
import type { Store } from '../store/store.ts'
import { authenticate } from './authenticate.ts'
import { JsonText, type EmulatorRequest } from './exchange.ts'
import { createDomainRefusal, parseDomains } from './parse-domains.ts'
import { parseChoice, parseQuery } from './parse-query.ts'
import { parseTime, refuseBackwards } from './parse-time.ts'
import { Refusal } from './refusal.ts'

export interface QueryRules {
  token: string | null
  seed: string
  zone: TimeZone
  now: () => number
}

interface Span {
  start: number
  end: number
  grain: Grain
}

const dayMs = 86_400_000
const longestDays = 31
const mostPoints = 2880
const areasOf: Record<'all' | Area, readonly Area[]> = {
  all: areas,
  cn: ['cn'],
  abroad: ['abroad'],
}

/**
 * One series for each domain (specification, "GET /stat/httpcode/eachDomain"). Throws a Refusal:
 * token, then parameters.
 */
export function answerEachDomain(
  request: EmulatorRequest,
  call: Call,
  store: Store,
  rules: QueryRules,
): JsonText {
  const query = openQuery(request, rules)
  call.domains = parseDomains(query.get('domains'))
  refuseUnknown(call.domains, store)
  const span = readSpan(query)
  const endLabels = parseChoice(query, 'stat_is_forward', ['0', '1']) === '1'
  const from = areasOf[parseChoice(query, 'query_area', ['all', 'cn', 'abroad'])]
  const periods = buildPeriods({ ...span, endLabels }, rules.zone, rules.now())
  const series = call.domains.map((domain) => {
    const name = JSON.stringify(domain)
    return `${name}:{"domain":${name},"data":${points([domain], periods, from, store, rules)}}`
  })
  return new JsonText(`{"code":0,"data":{${series.join(',')}}}`)
}

/**
 * One series over all domains that are asked for (specification, "GET /stat/httpcode"). Throws a
 * Refusal: token, then parameters.
 */
export function answerTogether(
  request: EmulatorRequest,
  call: Call,
  store: Store,
  rules: QueryRules,
): JsonText {
  const query = openQuery(request, rules)
  const all = query.get('domains')?.trim() === 'all'
  call.domains = all ? store.listDomains() : parseDomains(query.get('domains'))
  if (!all) refuseUnknown(call.domains, store)
  const span = readSpan(query)
  refuseTooMany(call.domains.length, span)
  const periods = buildPeriods({ ...span, endLabels: false }, rules.zone, rules.now())
  return new JsonText(`{"code":0,"data":${points(call.domains, periods, areas, store, rules)}}`)
}

function openQuery(request: EmulatorRequest, rules: QueryRules): ReadonlyMap<string, string> {
  authenticate(rules.token, undefined, request.query)
  return parseQuery(request.query)
}

function refuseUnknown(domains: Domain[], store: Store): void {
  const unknown = domains.find((domain) => !store.hasDomain(domain))
  if (unknown !== undefined) throw createDomainRefusal(unknown)
}

/**
 * The interval and the grain, within the limits of both (specification, "Limits"). A month is 31
 * days, which also caps `day`.
 */
function readSpan(query: ReadonlyMap<string, string>): Span {
  const start = parseTime(query, 'start_time', 'start')
  const end = parseTime(query, 'end_time', 'end')
  const grain = parseChoice(query, 'grad', ['minute5', 'minute', 'hour', 'day'])
  refuseBackwards(start, end)
  if (end - start > longestDays * dayMs) {
    throw new Refusal(
      'interval-exceeded',
      `the interval from start_time to end_time exceeds the limit of ${longestDays} days`,
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

/** Part days count as whole ones. */
function refuseTooMany(domains: number, { start, end, grain }: Span): void {
  const days = Math.max(1, Math.ceil((end - start) / dayMs))
  const { pointsPerDay } = grains[grain]
  const size = domains * pointsPerDay * days
  if (size <= mostPoints) return
  throw new Refusal(
    'request-exceeded',
    `the single request exceeds the limit: ${domains} domains x ${pointsPerDay} points per day x ${days} days = ${size}, over ${mostPoints}`,
  )
}

function points(
  domains: Domain[],
  periods: Period[],
  from: readonly Area[],
  store: Store,
  rules: QueryRules,
): string {
  const histories = new Map(domains.map((domain) => [domain, store.getHistory(domain)]))
  return formatPoints(countRequests(rules.seed, histories, periods, from), periods)
}
