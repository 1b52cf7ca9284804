import { EdgewiseError } from '../../model/edgewise-error.ts'
import { isObject, type Json } from '../../model/json.ts'
import {
  alignDown,
  createCounts,
  grainMs,
  sumRequests,
  type Counts,
  type Point,
  type Question,
} from '../../model/statistics.ts'
import { formatLocalTime, type TimeZone } from '../../model/time-zone.ts'
import { formatLength } from '../../model/words.ts'
import type { Part } from './split-question.ts'
import { createWrongAnswerError } from './wrong-answer.ts'

/** The query that a series answers. */
export interface SeriesQuery {
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
export function parsePoints(data: Json, query: SeriesQuery): Point[] {
  if (!Array.isArray(data)) throw createError(query, 'expected a list of points', data)
  const points = data.map((point) => parsePoint(point, query)).toSorted((a, b) => a.time - b.time)
  const twice = points.find((point, i) => point.time === points[i - 1]?.time)
  // Either could be right, or their sum.
  if (twice !== undefined)
    throw createError(
      query,
      'expected each time once',
      `${formatMinute(twice.time, query.zone)} twice`,
    )
  refuseOutside(points, query)
  refuseFuture(points, query)
  const { from, to } = query.part
  return points.filter(({ time }) => time >= from && time < to)
}

function parsePoint(point: Json, query: SeriesQuery): Point {
  if (!Array.isArray(point) || point.length !== 2)
    throw createError(query, 'expected a point to be [seconds, counts]', point)
  const [seconds = null, counts = null] = point
  if (!Number.isSafeInteger(seconds) || Math.abs(Number(seconds)) > 8.64e12)
    throw createError(query, 'expected a time in whole seconds', seconds)
  return { time: Number(seconds) * 1000, counts: parseCounts(counts, query) }
}

/** Accepts an empty list for an object without keys, as some services write it. */
function parseCounts(given: Json, query: SeriesQuery): Counts {
  if (Array.isArray(given) && given.length === 0) return {}
  if (!isObject(given)) throw createError(query, 'expected counts by status code', given)
  const counts = createCounts()
  for (const key of Object.keys(given)) {
    const count = given[key] ?? null
    if (!status.test(key))
      throw createError(query, 'expected a status code of up to three digits', key)
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0)
      throw createError(query, `expected a count of status ${key} from 0`, count)
    counts[key] = count
  }
  return counts
}

/**
 * Refuses points far outside the window: they are those of another time zone. Alignment moves a
 * point by one period at most.
 */
function refuseOutside(points: Point[], query: SeriesQuery): void {
  const { grain } = query.question
  // A day may have 25 hours.
  const slack = grainMs[grain] * (grain === 'day' ? 25 / 24 : 1)
  const { window } = query.part
  const earliest = alignDown(window.earliest, grain, query.zone)
  const latest = alignDown(window.latest, grain, query.zone)
  const [first, last] = [points[0], points.at(-1)]
  if (first !== undefined && first.time < earliest - slack)
    throw createOutsideError(first, earliest, query)
  if (last !== undefined && last.time > latest + slack)
    throw createOutsideError(last, latest, query)
}

function createOutsideError({ time }: Point, edge: number, query: SeriesQuery): EdgewiseError {
  const { window } = query.part
  const { name } = query.zone
  const off = `${formatLength(Math.abs(time - edge))} too ${time < edge ? 'early' : 'late'}`
  return new EdgewiseError(
    'answer-invalid',
    `the service returned a point for ${formatMinute(time, query.zone)} (${name}), ${off} for ` +
      `a query from ${window.start} to ${window.end}`,
    'Set "service.timezone" in edgewise.yaml to the zone in which the service reads and writes ' +
      `times; it is ${name} now.`,
  )
}

/** Refuses counts of future periods; empty future periods are allowed. */
function refuseFuture(points: Point[], query: SeriesQuery): void {
  const { question, now, zone } = query
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
