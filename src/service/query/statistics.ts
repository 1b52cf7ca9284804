import type { Domain } from '../../model/item.ts'
import { isObject, own, type Json, type JsonObject } from '../../model/json.ts'
import { addCounts, type Counts, type Point, type Question } from '../../model/statistics.ts'
import type { TimeZone } from '../../model/time-zone.ts'
import { query, type QueryContext } from './query.ts'
import { parsePoints, type SeriesQuery } from './parse-points.ts'
import { splitQuestion, type Part } from './split-question.ts'
import { wrongAnswer } from './wrong-answer.ts'

/** Who hears how far a long question is. */
export type Heard = (done: number, all: number) => void

/** Takes points of one domain, ascending; those of later times may come before. */
export type Taken = (domain: Domain, points: Point[]) => void

/**
 * Asks for one series for each domain (specification, "GET /stat/httpcode/eachDomain"), in as many parts as the limits demand. What
 * comes is handed on part by part, since all of it may be too much to hold. A domain without data gets nothing.
 *
 * @param question `domains` by name, not `all`
 * @throws EdgewiseError `access`, `service-refused`, `service-failed`, `answer-invalid`, `usage`, `declined`
 */
export async function queryEachDomain(
  question: Question & { domains: Domain[] },
  zone: TimeZone,
  context: QueryContext,
  take: Taken,
  heard: Heard = () => undefined,
): Promise<void> {
  const { grain, labels = 'start', area = 'all' } = question
  await inTurn(splitQuestion(question, 'each', zone), context, heard, async (part, mine) => {
    const parameters = { ...buildParameters(part, grain), stat_is_forward: labels === 'end' ? '1' : '0', query_area: area }
    const data = await query({ path: '/stat/httpcode/eachDomain', parameters, what: 'statistics' }, mine)
    const asked = { part, question, zone, now: context.clock.now() }
    for (const [domain, points] of parseSeries(data, asked)) take(domain, points)
  })
}

/**
 * Asks for one series over all domains (specification, "GET /stat/httpcode"), in as many parts as the limits demand, put together
 * again: counts of one label are added up.
 *
 * @returns ascending by time; without periods that the service left out
 * @throws EdgewiseError `access`, `service-refused`, `service-failed`, `answer-invalid`, `usage`, `declined`
 */
export async function queryTogether(
  question: Omit<Question, 'area' | 'labels'>,
  zone: TimeZone,
  context: QueryContext,
  heard: Heard = () => undefined,
): Promise<Point[]> {
  const sums = new Map<number, Counts>()
  await inTurn(splitQuestion(question, 'together', zone), context, heard, async (part, mine) => {
    const { domains } = part
    const parameters = buildParameters(part, question.grain)
    const data = await query({ path: '/stat/httpcode', parameters, what: 'statistics' }, mine)
    const subject = domains === 'all' ? 'all domains' : domains.join(', ')
    for (const { time, counts } of parsePoints(data, { subject, part, question, zone, now: context.clock.now() })) {
      const sum = sums.get(time) ?? {}
      addCounts(sum, counts)
      sums.set(time, sum)
    }
  })
  return [...sums].map(([time, counts]) => ({ time, counts })).toSorted((a, b) => a.time - b.time)
}

function buildParameters({ domains, window }: Part, grain: string): Record<string, string> {
  const names = domains === 'all' ? 'all' : domains.join(',')
  return { domains: names, start_time: window.start, end_time: window.end, grad: grain }
}

/** The series of an answer. A domain that it leaves out has no data; one that nobody asked for is an answer to something else. */
function parseSeries(data: Json, asked: Omit<SeriesQuery, 'subject'>): [Domain, Point[]][] {
  const wanted = new Set(asked.part.domains)
  const seen = new Set<string>()
  return Object.entries(parseObject(data)).map(([key, series]) => {
    const domain = key.toLowerCase()
    if (!wanted.has(domain)) throw wrongAnswer('statistics', `expected only ${[...wanted].join(', ')}`, key)
    if (seen.has(domain)) throw wrongAnswer('statistics', 'expected each domain once', `${domain} twice`)
    seen.add(domain)
    if (!isObject(series)) throw wrongAnswer(`statistics of ${domain}`, 'expected an object with "domain" and "data"', series)
    const named = own(series, 'domain')
    if (typeof named !== 'string' || named.toLowerCase() !== domain)
      throw wrongAnswer(`statistics of ${domain}`, `expected "domain" to be ${domain}`, named ?? null)
    return [domain, parsePoints(own(series, 'data') ?? null, { ...asked, subject: domain })]
  })
}

/** Accepts an empty list for an object without keys, as some services write it. */
function parseObject(data: Json): JsonObject {
  if (Array.isArray(data) && data.length === 0) return {}
  if (!isObject(data)) throw wrongAnswer('statistics', 'expected an object with one series for each domain', data)
  return data
}

/** So many parts wait for the pace at a time. */
const abreast = 8

/** Does the parts, some at a time. The first failure ends all of them, and is told once nothing goes on any more. */
async function inTurn(
  parts: Part[],
  context: QueryContext,
  heard: Heard,
  work: (part: Part, context: QueryContext) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const signal = context.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, context.signal])
  const waiting = parts.values()
  let done = 0
  let failure: { error: unknown } | null = null
  const worker = async () => {
    try {
      for (const part of waiting) {
        await work(part, { ...context, signal })
        heard(++done, parts.length)
      }
    } catch (error) {
      failure ??= { error }
      stop.abort()
    }
  }
  heard(0, parts.length)
  await Promise.all(Array.from({ length: Math.min(abreast, parts.length) }, worker))
  if (failure !== null) throw (failure as { error: unknown }).error
}
