import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { findMax, findMin, splitIntoChunks } from '../../core/model/lists.ts'
import {
  type Grain,
  type Question,
  alignDown,
  grainMs,
  grains,
} from '../../core/model/statistics.ts'
import { type TimeZone, formatLocalTime } from '../../core/model/time/time-zone.ts'

/** Interface of a question: one series for each domain, or one sum over them. */
export type QuestionKind = 'each' | 'together'

/** A part of a question, answered by one query: labels in [from, to), and the window to query. */
export interface Part {
  domains: Domain[] | 'all'
  from: number
  to: number
  window: LocalWindow
}

interface Size {
  domains: number
  days: number
}

const dayMs = grainMs.day
const maxDomains = 10
/**
 * Maximum days from start to end. A month counts as 31 days, also for `day` (specification,
 * "Limits").
 */
const maxDays: Record<Grain, number> = { minute: 1, minute5: 31, hour: 31, day: 31 }
const pointsPerDay: Record<Grain, number> = { minute: 1440, minute5: 288, hour: 24, day: 1 }
/**
 * Maximum of domains × points per day × days; started days count as whole (specification, "GET
 * /stat/httpcode" 2).
 */
const maxPoints = 2880

/** Lists the grains that the service accepts for a time span, finest first; `day` for any span. */
export function listGrains(from: number, to: number): Grain[] {
  const minutes = Math.floor((to - from) / grainMs.minute)
  const fitting = grains.filter((grain) => minutes * grainMs.minute <= maxDays[grain] * dayMs)
  return fitting.length === 0 ? ['day'] : fitting
}

/**
 * Splits a question into parts within the limits (specification, "Limits"): 10 domains, 31 days,
 * the span of the grain, and for a sum the 2,880 rule. Each label of each domain belongs to exactly
 * one part.
 *
 * @throws EdgewiseError `usage` for a question without domains or time, or if a clock change of the
 *   zone shifts its hours
 */
export function splitQuestion(question: Question, kind: QuestionKind, zone: TimeZone): Part[] {
  const { grain, to } = question
  const from = alignDown(question.from, grain, zone)
  if (!(from < to))
    throw new EdgewiseError(
      'usage',
      'expected a time range for statistics that ends after it begins',
    )
  const { domains } = question
  const known = domains === 'all' ? 1 : new Set(domains).size
  if (known === 0)
    throw new EdgewiseError('usage', 'expected at least one domain for statistics, got none')
  const size =
    kind === 'each'
      ? { domains: maxDomains, days: maxDays[grain] }
      : chooseSumSize(domains === 'all' ? 'all' : known, to - from, grain)
  const spans = splitTime(from, to, size.days * dayMs, grain, zone)
  return groupDomains(domains, size.domains).flatMap((group) =>
    spans.map((span) => ({ domains: group, ...span })),
  )
}

/**
 * Chooses the size that needs the fewest parts; the smallest for `all`, whose number is unknown.
 */
function chooseSumSize(domains: number | 'all', length: number, grain: Grain): Size {
  if (domains === 'all') return { domains: 1, days: 1 }
  const days = Math.max(1, Math.ceil(length / dayMs))
  let best: Size & { parts: number } = { domains: 1, days: 1, parts: Infinity }
  for (let together = 1; together <= Math.min(maxDomains, domains); together++) {
    const longest = Math.min(
      maxDays[grain],
      Math.floor(maxPoints / (pointsPerDay[grain] * together)),
    )
    const parts = longest < 1 ? Infinity : Math.ceil(domains / together) * Math.ceil(days / longest)
    if (parts < best.parts) best = { domains: together, days: longest, parts }
  }
  return best
}

function groupDomains(domains: Question['domains'], size: number): (Domain[] | 'all')[] {
  if (domains === 'all') return ['all']
  return splitIntoChunks([...new Set(domains)], size)
}

/** Splits [from, to) into spans no longer than `longest` ms, however the service measures them. */
function splitTime(
  from: number,
  to: number,
  longest: number,
  grain: Grain,
  zone: TimeZone,
): Omit<Part, 'domains'>[] {
  const spans: Omit<Part, 'domains'>[] = []
  for (let at = from; at < to;) {
    refuseShiftedHours(from, at, grain, zone)
    let end = Math.min(to, at + longest)
    let window = buildLocalWindow(at, end, zone)
    if (end < to || window.lengthMs > longest) {
      end = findLastPeriodStart(at, end, grain, zone)
      window = buildLocalWindow(at, end, zone)
      while (window.lengthMs > longest) {
        end = findLastPeriodStart(at, end - (window.lengthMs - longest), grain, zone)
        window = buildLocalWindow(at, end, zone)
      }
    }
    spans.push({ from: at, to: end, window })
    at = end
  }
  return spans
}

/** Finds the last start of a period up to `end`, and after `at`. */
function findLastPeriodStart(at: number, end: number, grain: Grain, zone: TimeZone): number {
  // Count hours and minutes from the first label, days by the calendar.
  const whole =
    grain === 'day'
      ? alignDown(end, grain, zone)
      : at + Math.floor((end - at) / grainMs[grain]) * grainMs[grain]
  if (whole <= at)
    throw new TypeError(`expected a part of a question to hold a period from ${at} to ${end}`)
  return whole
}

/**
 * Refuses a clock change by half an hour: the hours after it start at other minutes, and a sum over
 * both is meaningless.
 */
function refuseShiftedHours(from: number, at: number, grain: Grain, zone: TimeZone): void {
  if (grain === 'day') return
  const shift = zone.toLocal(at) - at - (zone.toLocal(from) - from)
  if (shift % grainMs[grain] === 0) return
  throw new EdgewiseError(
    'usage',
    `the clocks of ${zone.name} change by ${Math.abs(shift / 60_000)} minutes in this time ` +
      'range, so its hours are not aligned',
    'Use the grain minute5 or day, or query the times before and after the change separately.',
  )
}

/** A window in the local time of the service, and the moments that it may mean. */
interface LocalWindow {
  /** `YYYY-MM-DD HH:ii`, both inclusive. */
  start: string
  end: string
  /** First and last moment that the two may mean, ms since 1970. */
  earliest: number
  latest: number
  /** Length by the wall clock or by true time, whichever is more, ms. */
  lengthMs: number
}

const minuteMs = 60_000

/**
 * Converts [from, to) to the local time of the zone, to the minute (specification, "GET
 * /stat/httpcode/eachDomain": start_time, end_time). Around a clock change, a local time may mean
 * two moments, and the specification does not define which: the window is then widened to cover all
 * labels in either case. Labels outside [from, to) are dropped from the answer.
 */
export function buildLocalWindow(from: number, to: number, zone: TimeZone): LocalWindow {
  const lastMinute = to - minuteMs
  let start = floorMinute(zone.toLocal(from))
  for (let over = findLatest(start, zone) - from; over > 0; over = findLatest(start, zone) - from)
    start = floorMinute(start - over)
  let end = floorMinute(zone.toLocal(to - 1))
  for (
    let short = lastMinute - findEarliest(end, zone);
    short > 0;
    short = lastMinute - findEarliest(end, zone)
  )
    end = floorMinute(end + short + minuteMs - 1)
  const [earliest, latest] = [findEarliest(start, zone), findLatest(end, zone)]
  return {
    start: formatMinute(start),
    end: formatMinute(end),
    earliest,
    latest,
    lengthMs: Math.max(end - start, latest - earliest),
  }
}

function findEarliest(local: number, zone: TimeZone): number {
  return findMin(zone.listUtcCandidates(local))
}

function findLatest(local: number, zone: TimeZone): number {
  return findMax(zone.listUtcCandidates(local))
}

function floorMinute(local: number): number {
  return Math.floor(local / minuteMs) * minuteMs
}

function formatMinute(local: number): string {
  return formatLocalTime(local).slice(0, 16)
}
