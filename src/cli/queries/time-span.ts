import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { alignDown, grainMs, grains, type Grain } from '../../core/model/statistics.ts'
import { buildLocalTime, formatLocalTime, type TimeZone } from '../../core/model/time/time-zone.ts'

/** Time span and grain of a query; ms since 1970, `to` exclusive. */
export interface TimeSpan {
  from: number
  to: number
  grain: Grain
}

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const defaultSpanMs = 24 * 3_600_000
/** Default grains, each with its longest span in ms: they give a few dozen points. */
const defaultGrains: [Grain, number][] = [
  ['minute', 2 * 3_600_000],
  ['minute5', 8 * 3_600_000],
  ['hour', 4 * 86_400_000],
]

/**
 * Parses `--from` and `--to`: `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` in the service's zone, or a time ago
 * such as `2h`. A date alone is its start for `--from` and its end for `--to`. Default: the last 24
 * hours.
 *
 * @throws EdgewiseError `usage` for any other text, and if the end is not after the start
 */
export function parseTimeSpan(
  options: { from?: string; to?: string; grain?: Grain },
  now: number,
  zone: TimeZone,
): TimeSpan {
  const to = options.to === undefined ? now : parseTime('--to', options.to, now, zone)
  const from =
    options.from === undefined ? to - defaultSpanMs : parseTime('--from', options.from, now, zone)
  if (from >= to)
    throw new EdgewiseError(
      'usage',
      `expected --to after --from, got ${options.from ?? '24h before it'} to ` +
        (options.to ?? 'now'),
    )
  const grain =
    options.grain ?? defaultGrains.find(([, longest]) => to - from <= longest)?.[0] ?? 'day'
  if (to - from > 400 * grainMs.day)
    throw new EdgewiseError('usage', 'expected a time span of at most 400 days', 'Split the query.')
  return { from: alignDown(from, grain, zone), to, grain }
}

/**
 * Parses the span of a query of domains as `parseTimeSpan`. Without a grain, one of the whole
 * account has the finest that the service accepts: null.
 */
export function parseQuerySpan(
  domains: readonly string[],
  options: Parameters<typeof parseTimeSpan>[0],
  now: number,
  zone: TimeZone,
): Omit<TimeSpan, 'grain'> & { grain: Grain | null } {
  const isFinest = options.grain === undefined && domains.length === 1 && domains[0] === 'all'
  if (!isFinest) return parseTimeSpan(options, now, zone)
  return { ...parseTimeSpan({ ...options, grain: grains[0] }, now, zone), grain: null }
}

function parseTime(option: string, text: string, now: number, zone: TimeZone): number {
  const ago = /^(\d{1,6})([mhd])$/.exec(text)
  if (ago !== null) return now - Number(ago[1]) * (unitMs[ago[2] ?? ''] ?? 0)
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2}))?$/.exec(text)
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = (match ?? [])
    .slice(1)
    .map((part) => Number(part ?? 0))
  const isDate = year >= 1970 && isDay(text.slice(0, 10)) && hour < 24 && minute < 60
  if (match === null || !isDate) throw createTimeError(option, text)
  const wholeDay = match[4] === undefined && option === '--to' ? 1 : 0
  return zone.toUtc(buildLocalTime(year, month, day + wholeDay, hour, minute))
}

/** Tests whether a text is a day as YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  return formatLocalTime(buildLocalTime(year, month, day)).slice(0, 10) === text
}

function createTimeError(option: string, text: string): EdgewiseError {
  return new EdgewiseError(
    'usage',
    `expected ${option} to be YYYY-MM-DD, "YYYY-MM-DD HH:MM", or a time ago such as 30m, ` +
      '2h or 3d, ' +
      `got "${text}"`,
    'Times are in "service.timezone" of edgewise.yaml.',
  )
}
