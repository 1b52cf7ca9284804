import type { Domain } from '../../core/model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../../core/model/json.ts'
import {
  type Point,
  type Question,
  alignDown,
  createCounts,
  grainMs,
  sumRequests,
  type Counts,
} from '../../core/model/statistics.ts'
import { type TimeZone, formatLocalTime } from '../../core/model/time/time-zone.ts'
import { query, type QueryContext } from './query.ts'
import { queryParts } from './query-parts.ts'
import { splitQuestion, type Part } from './split-question.ts'
import { createWrongAnswerError } from './wrong-answer.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { formatLength } from '../../core/model/text/words.ts'

/** Points of one domain in one part of a question, ascending. */
export interface Series {
  domain: Domain
  points: Point[]
}

/** A question about single domains. */
export type DomainsQuestion = Question & { domains: Domain[] }

/** A question about a sum over domains. */
export type SumQuestion = Omit<Question, 'area' | 'labels'>

const what = 'statistics'

/**
 * Queries one series for each domain (specification, "GET /stat/httpcode/eachDomain"), in as many
 * parts as the limits require. Parts come in any order. A domain without data has no series.
 *
 * @throws EdgewiseError `access`, `service-refused`, `service-failed`, `answer-invalid`, `usage`,
 *   `declined`
 */
export function queryEachDomain(question: DomainsQuestion, zone: TimeZone, context: QueryContext) {
  const { grain, labels = 'start', area = 'all' } = question
  const more = { stat_is_forward: labels === 'end' ? '1' : '0', query_area: area }
  const parts = splitQuestion(question, 'each', zone)
  return queryParts(parts, context, async (part, stoppable): Promise<Series[]> => {
    const parameters = { ...buildParameters(part, grain), ...more }
    const wanted = { path: '/stat/httpcode/eachDomain', parameters, what }
    return query(wanted, stoppable, (data) => {
      const now = context.serviceNow() ?? context.clock.now()
      return parseSeries(data, { part, question, zone, now })
    })
  })
}

/**
 * Queries one series over all domains (specification, "GET /stat/httpcode"), in as many parts as
 * the limits require. Parts come in any order. Several parts may have points of the same time,
 * whose counts add up.
 *
 * @throws EdgewiseError `access`, `service-refused`, `service-failed`, `answer-invalid`, `usage`,
 *   `declined`
 */
export function queryTogether(question: SumQuestion, zone: TimeZone, context: QueryContext) {
  const parts = splitQuestion(question, 'together', zone)
  return queryParts(parts, context, async (part, stoppable): Promise<Point[]> => {
    const parameters = buildParameters(part, question.grain)
    const subject = part.domains === 'all' ? 'all domains' : part.domains.join(', ')
    return query({ path: '/stat/httpcode', parameters, what }, stoppable, (data) => {
      const now = context.serviceNow() ?? context.clock.now()
      return parsePoints(data, { subject, part, question, zone, now })
    })
  })
}

function buildParameters({ domains, window }: Part, grain: string): Record<string, string> {
  const names = domains === 'all' ? 'all' : domains.join(',')
  return { domains: names, start_time: window.start, end_time: window.end, grad: grain }
}

/** Parses the series of an answer. Domains without data may be absent. */
function parseSeries(data: Json, about: Omit<SeriesQuery, 'subject'>): Series[] {
  const wanted = new Set(about.part.domains)
  const seen = new Set<string>()
  return Object.entries(parseObject(data)).map(([key, series]) => {
    const domain = key.toLowerCase()
    if (!wanted.has(domain))
      throw createWrongAnswerError(what, `expected only ${[...wanted].join(', ')}`, key)
    if (seen.has(domain))
      throw createWrongAnswerError(what, 'expected each domain once', `${domain} twice`)
    seen.add(domain)
    if (!isObject(series))
      throw createWrongAnswerError(
        `statistics of ${domain}`,
        'expected an object with "domain" and "data"',
        series,
      )
    const named = getOwn(series, 'domain')
    if (typeof named !== 'string' || named.toLowerCase() !== domain)
      throw createWrongAnswerError(
        `statistics of ${domain}`,
        `expected "domain" to be ${domain}`,
        named ?? null,
      )
    const points = parsePoints(getOwn(series, 'data') ?? null, { ...about, subject: domain })
    return { domain, points }
  })
}

/** Accepts an empty list for an object without keys, as some services write it. */
function parseObject(data: Json): JsonObject {
  if (Array.isArray(data) && data.length === 0) return {}
  if (isObject(data)) return data
  throw createWrongAnswerError(what, 'expected an object with one series for each domain', data)
}

/** The query that a series answers. */
interface SeriesQuery {
  /** Subject for messages: the domain, or several. */
  subject: string
  part: Part
  question: Question
  zone: TimeZone
  /** The service's time if known, otherwise the wall clock, ms since 1970. */
  now: number
}

/** Tolerated error of a clock, ms. */
const slackMs = 60_000
const status = /^(?:0|[1-9]\d{0,2})$/

/**
 * Parses the points of a series (specification, "Status-code data point"): those whose labels
 * belong to the part, ascending. Periods without requests may be absent, and points may come in any
 * order.
 *
 * @throws EdgewiseError `answer-invalid` for any other shape, a repeated label, and times outside
 *   the query
 */
function parsePoints(data: Json, asked: SeriesQuery): Point[] {
  if (!Array.isArray(data)) throw createError(asked, 'expected a list of points', data)
  const points = data.map((point) => parsePoint(point, asked)).toSorted((a, b) => a.time - b.time)
  const twice = points.find((point, i) => point.time === points[i - 1]?.time)
  // Either could be right, or their sum.
  if (twice !== undefined)
    throw createError(
      asked,
      'expected each time once',
      `${formatMinute(twice.time, asked.zone)} twice`,
    )
  refuseOutside(points, asked)
  refuseFuture(points, asked)
  const { from, to } = asked.part
  return points.filter(({ time }) => time >= from && time < to)
}

function parsePoint(point: Json, asked: SeriesQuery): Point {
  if (!Array.isArray(point) || point.length !== 2)
    throw createError(asked, 'expected a point to be [seconds, counts]', point)
  const [seconds = null, counts = null] = point
  if (!Number.isSafeInteger(seconds) || Math.abs(Number(seconds)) > 8.64e12)
    throw createError(asked, 'expected a time in whole seconds', seconds)
  return { time: Number(seconds) * 1000, counts: parseCounts(counts, asked) }
}

/** Accepts an empty list for an object without keys, as some services write it. */
function parseCounts(given: Json, asked: SeriesQuery): Counts {
  if (Array.isArray(given) && given.length === 0) return {}
  if (!isObject(given)) throw createError(asked, 'expected counts by status code', given)
  const counts = createCounts()
  for (const key of Object.keys(given)) {
    const count = given[key] ?? null
    if (!status.test(key))
      throw createError(asked, 'expected a status code of up to three digits', key)
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0)
      throw createError(asked, `expected a count of status ${key} from 0`, count)
    counts[key] = count
  }
  return counts
}

/**
 * Refuses points far outside the window: they are those of another time zone. Alignment moves a
 * point by one period at most.
 */
function refuseOutside(points: Point[], asked: SeriesQuery): void {
  const { grain } = asked.question
  // A day may have 25 hours.
  const slack = grainMs[grain] * (grain === 'day' ? 25 / 24 : 1)
  const { window } = asked.part
  const earliest = alignDown(window.earliest, grain, asked.zone)
  const latest = alignDown(window.latest, grain, asked.zone)
  const [first, last] = [points[0], points.at(-1)]
  if (first !== undefined && first.time < earliest - slack)
    throw createOutsideError(first, earliest, asked)
  if (last !== undefined && last.time > latest + slack)
    throw createOutsideError(last, latest, asked)
}

function createOutsideError({ time }: Point, edge: number, asked: SeriesQuery): EdgewiseError {
  const { window } = asked.part
  const { name } = asked.zone
  const off = `${formatLength(Math.abs(time - edge))} too ${time < edge ? 'early' : 'late'}`
  return new EdgewiseError(
    'answer-invalid',
    `the service returned a point for ${formatMinute(time, asked.zone)} (${name}), ${off} for ` +
      `a query from ${window.start} to ${window.end}`,
    'Set "service.timezone" in edgewise.yaml to the zone in which the service reads and writes ' +
      `times; it is ${name} now.`,
  )
}

/** Refuses counts of future periods; empty future periods are allowed. */
function refuseFuture(points: Point[], asked: SeriesQuery): void {
  const { question, now, zone } = asked
  const ahead = question.labels === 'end' ? grainMs[question.grain] : 0
  const early = points.findLast(
    ({ time, counts }) => time > now + ahead + slackMs && sumRequests(counts) > 0,
  )
  if (early === undefined) return
  throw new EdgewiseError(
    'answer-invalid',
    `the service counts requests of ${formatMinute(early.time, zone)} (${zone.name}), which is ` +
      `${formatLength(early.time - now)} from now`,
    'Either the clock of this machine or of the service is wrong, or "service.timezone" in ' +
      'edgewise.yaml is.',
  )
}

function formatMinute(time: number, zone: TimeZone): string {
  return formatLocalTime(zone.toLocal(time)).slice(0, 16)
}

function createError({ subject }: SeriesQuery, expected: string, got: Json): EdgewiseError {
  return createWrongAnswerError(`statistics of ${subject}`, expected, got)
}
