import { EdgewiseError } from '../../model/edgewise-error.ts'
import { isObject, type Json } from '../../model/json.ts'
import { alignedDown, grainMs, requestsIn, type Counts, type Point, type Question } from '../../model/statistics.ts'
import { localText, type TimeZone } from '../../model/time-zone.ts'
import type { Part } from './split-question.ts'
import { wrongAnswer } from './wrong-answer.ts'

/** What a series is the answer to. */
export interface Asked {
  /** What it counts, in words: a domain, or several together. */
  of: string
  part: Part
  question: Question
  zone: TimeZone
  /** Wall clock, ms. */
  now: number
}

/** So far a clock may be off without anything to say about it, ms. */
const slackMs = 60_000
const status = /^(?:0|[1-9]\d{0,2})$/

/**
 * The points of a series (specification, "Status-code data point") whose labels belong to the part, ascending. Periods without
 * requests may be absent, and points may come in any order.
 *
 * @throws EdgewiseError `answer-invalid` for anything else, a label that comes twice, and times that were not asked for
 */
export function readPoints(data: Json, asked: Asked): Point[] {
  if (!Array.isArray(data)) throw wrong(asked, 'expected a list of points', data)
  const points = data.map((point) => readPoint(point, asked)).toSorted((a, b) => a.time - b.time)
  const twice = points.find((point, i) => point.time === points[i - 1]?.time)
  // Which of the two holds, or whether they add up, nobody can tell.
  if (twice !== undefined) throw wrong(asked, 'expected each time once', `${textOf(twice.time, asked.zone)} twice`)
  refuseOutside(points, asked)
  refuseFuture(points, asked)
  const { from, to } = asked.part
  return points.filter(({ time }) => time >= from && time < to)
}

function readPoint(point: Json, asked: Asked): Point {
  if (!Array.isArray(point) || point.length !== 2) throw wrong(asked, 'expected a point to be [seconds, counts]', point)
  const [seconds = null, counts = null] = point
  if (!Number.isSafeInteger(seconds) || Math.abs(Number(seconds)) > 8.64e12) throw wrong(asked, 'expected a time in whole seconds', seconds)
  return { time: Number(seconds) * 1000, counts: readCounts(counts, asked) }
}

/** Some services write an object without keys as an empty list. */
function readCounts(given: Json, asked: Asked): Counts {
  if (Array.isArray(given) && given.length === 0) return {}
  if (!isObject(given)) throw wrong(asked, 'expected counts by status code', given)
  const counts: Counts = {}
  for (const key of Object.keys(given)) {
    const count = given[key] ?? null
    if (!status.test(key)) throw wrong(asked, 'expected a status code of up to three digits', key)
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0)
      throw wrong(asked, `expected a count of status ${key} from 0`, count)
    counts[key] = count
  }
  return counts
}

/** Points far from what was asked for are those of another time zone; one period of alignment is not. */
function refuseOutside(points: Point[], asked: Asked): void {
  const { grain } = asked.question
  // A day may have 25 hours.
  const slack = grainMs[grain] * (grain === 'day' ? 25 / 24 : 1)
  const [earliest, latest] = [asked.part.window.earliest, asked.part.window.latest].map((time) => alignedDown(time, grain, asked.zone)) as [
    number,
    number,
  ]
  const [first, last] = [points[0], points.at(-1)]
  if (first !== undefined && first.time < earliest - slack) throw outside(first, earliest, asked)
  if (last !== undefined && last.time > latest + slack) throw outside(last, latest, asked)
}

function outside({ time }: Point, edge: number, asked: Asked): EdgewiseError {
  const { window } = asked.part
  const { name } = asked.zone
  const off = `${lengthText(Math.abs(time - edge))} too ${time < edge ? 'early' : 'late'}`
  return new EdgewiseError(
    'answer-invalid',
    `the service was asked for ${window.start} to ${window.end} and answered for ${textOf(time, asked.zone)} (${name}), ${off}`,
    `Set "service.timezone" in edgewise.yaml to the zone in which the service reads and writes times; it is ${name} now.`,
  )
}

/** A service may list periods to come as long as it counts nothing in them. */
function refuseFuture(points: Point[], asked: Asked): void {
  const { question, now, zone } = asked
  const ahead = question.labels === 'end' ? grainMs[question.grain] : 0
  const early = points.findLast(({ time, counts }) => time > now + ahead + slackMs && requestsIn(counts) > 0)
  if (early === undefined) return
  throw new EdgewiseError(
    'answer-invalid',
    `the service counts requests of ${textOf(early.time, zone)} (${zone.name}), which is ${lengthText(early.time - now)} from now`,
    'Either the clock of this machine or of the service is wrong, or "service.timezone" in edgewise.yaml is.',
  )
}

function textOf(time: number, zone: TimeZone): string {
  return localText(zone.toLocal(time)).slice(0, 16)
}

/** A length of time in hours and minutes. */
function lengthText(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `${rest} min`
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`
}

function wrong({ of }: Asked, expected: string, got: Json): EdgewiseError {
  return wrongAnswer(`statistics of ${of}`, expected, got)
}
