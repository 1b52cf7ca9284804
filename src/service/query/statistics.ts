import type { Domain } from '../../model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../../model/json.ts'
import type { Point, Question } from '../../model/statistics.ts'
import type { TimeZone } from '../../model/time-zone.ts'
import { query, type QueryContext } from './query.ts'
import { parsePoints, type SeriesQuery } from './parse-points.ts'
import { queryParts } from './query-parts.ts'
import { splitQuestion, type Part } from './split-question.ts'
import { createWrongAnswerError } from './wrong-answer.ts'

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
    const data = await query({ path: '/stat/httpcode/eachDomain', parameters, what }, stoppable)
    return parseSeries(data, {
      part,
      question,
      zone,
      now: context.serviceNow() ?? context.clock.now(),
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
    const data = await query({ path: '/stat/httpcode', parameters, what }, stoppable)
    const subject = part.domains === 'all' ? 'all domains' : part.domains.join(', ')
    return parsePoints(data, {
      subject,
      part,
      question,
      zone,
      now: context.serviceNow() ?? context.clock.now(),
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
