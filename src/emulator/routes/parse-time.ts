import { buildLocalTime } from '../../core/model/time/time-zone.ts'
import { Refusal } from './refusal.ts'

const dateTime = /^(\d{4})-(\d{2})-(\d{2})(?: (\d{2}):(\d{2}))?$/

/** Meaning of a date without a time of day. */
export type DateEdge = 'start' | 'end'

/**
 * Parses a local time of a query: `YYYY-MM-DD HH:ii`, or `YYYY-MM-DD` for the first or last second
 * of that day (specification, "GET /stat/httpcode/eachDomain"). Throws a Refusal for any other
 * value.
 */
export function parseTime(
  query: ReadonlyMap<string, string>,
  name: string,
  edge: DateEdge,
): number {
  const text = getRequired(query, name, 'YYYY-MM-DD HH:ii or YYYY-MM-DD')
  const match = dateTime.exec(text)
  const [year, month, day, hour, minute] = (match ?? [])
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part)))
  if (!isDate(year, month, day) || (hour ?? 0) > 23 || (minute ?? 0) > 59)
    throw createInvalidRefusal(name, 'YYYY-MM-DD HH:ii or YYYY-MM-DD', text)
  if (hour !== undefined) return buildLocalTime(year ?? 0, month ?? 0, day ?? 0, hour, minute)
  return edge === 'start'
    ? buildLocalTime(year ?? 0, month ?? 0, day ?? 0)
    : buildLocalTime(year ?? 0, month ?? 0, day ?? 0, 23, 59, 59)
}

/**
 * Parses a day of a query, `YYYY-MM-DD`, to its first or last second (specification, "GET
 * /cache/prefetch").
 */
export function parseDay(query: ReadonlyMap<string, string>, name: string, edge: DateEdge): number {
  const text = getRequired(query, name, 'YYYY-MM-DD')
  if (text.length !== 'YYYY-MM-DD'.length) throw createInvalidRefusal(name, 'YYYY-MM-DD', text)
  return parseTime(query, name, edge)
}

/** Throws a Refusal if an interval ends before it starts. */
export function refuseBackwards(start: number, end: number): void {
  if (start > end)
    throw new Refusal('time-invalid', 'expected "start_time" to be no later than "end_time"')
}

function getRequired(query: ReadonlyMap<string, string>, name: string, form: string): string {
  const text = query.get(name)
  if (text === undefined)
    throw new Refusal('time-invalid', `expected "${name}" (${form}), got nothing`)
  return text
}

function isDate(year = 0, month = 0, day = 0): boolean {
  const date = new Date(buildLocalTime(year, month, day))
  return year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

function createInvalidRefusal(name: string, form: string, text: string): Refusal {
  return new Refusal('time-invalid', `expected "${name}" to be ${form}, got "${text}"`)
}
