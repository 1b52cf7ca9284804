import { findMax, addUp } from '../../../core/model/lists.ts'
import type { Domain } from '../../../core/model/item.ts'
import {
  addCounts,
  sumRequests,
  type Counts,
  type Grain,
  type QueryArea,
  countByClass,
  createTally,
  computeShare,
  statusClasses,
  type Tally,
} from '../../../core/model/statistics.ts'
import { formatLocalTime, type TimeZone } from '../../../core/model/time/time-zone.ts'
import { formatPercent, formatCount, drawSparkline } from './figures.ts'
import type { Paint } from '../text/paint.ts'
import { measureWidth } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'
import { pluralize } from '../../../core/model/text/words.ts'

/** Query and its result. */
export interface Statistics {
  /** Milliseconds since 1970; `to` is exclusive. */
  from: number
  to: number
  grain: Grain
  zone: TimeZone
  /** Domains of a sum; null if each domain has its own tally. */
  sum: Domain[] | 'all' | null
  area: QueryArea
  /** Position of the labels of points in their periods. */
  labels: 'start' | 'end'
  tallies: Tally[]
}

interface TextOptions {
  paint: Paint
  columns: number
  /** Show all rows. */
  verbose: boolean
}

/** Bars of a sparkline. */
export const sparkSteps = 10
const maxRows = 40
/** Minimum share at the top of a sparkline, so that a single failure is not a full bar. */
const minTop = 0.01
const titles = ['all', ...statusClasses, '4xx %', '5xx %']
const widths = [5, 5, 5, 5, 5, 5, 6, 6]

/**
 * Formats counts by domain and status class as a table, the largest share of 5xx first. Ends
 * without a line break.
 */
export function formatStats(stats: Statistics, options: TextOptions): string {
  const { paint, columns, verbose } = options
  const rows = sortWorstFirst(stats.tallies)
  const shown = verbose ? rows : rows.slice(0, maxRows)
  const all = sumTallies(rows)
  const named = [
    ...shown.map((tally) => formatName(tally, stats)),
    ...(rows.length > 1 ? [pluralize(rows.length, 'domain')] : []),
  ]
  const nameWidth = findMax(named.map(measureWidth), 'domain'.length)
  const numbers = addUp(widths, (width) => width + 1)
  // A name that is too long gets its own line.
  const room = nameWidth + numbers + 1 + sparkSteps <= columns ? nameWidth : null
  const top = findMax(
    rows.flatMap(({ steps }) =>
      steps.map(({ requests, failed }) => computeShare(failed, requests)),
    ),
    minTop,
  )
  const line = (name: string, cells: string) =>
    (room === null ? `${name}\n${cells}` : `${name.padEnd(room)}${cells}`).trimEnd()
  const head = titles.map((title, i) => ` ${title.padStart(widths[i] ?? 0)}`).join('')
  return [
    paint.bold(wrap(formatTitle(stats), columns, '')),
    '',
    paint.dim(line(room === null ? '' : 'domain', `${head} over time`).replace(/^\n/, '')),
    ...shown.map((tally) => line(formatName(tally, stats), formatCells(tally, top, paint))),
    ...(shown.length < rows.length
      ? [paint.dim(`… and ${rows.length - shown.length} more; --verbose shows all`)]
      : []),
    ...(rows.length > 1
      ? [line(pluralize(rows.length, 'domain'), formatCells(all, top, paint))]
      : []),
    '',
    paint.dim(`A full bar is ${formatPercent(top)} % of 5xx.`),
  ].join('\n')
}

/** Sorts by share of 5xx, then by requests, both descending. */
function sortWorstFirst(tallies: Tally[]): Tally[] {
  const ranked = tallies.map((tally) => {
    const requests = sumRequests(tally.counts)
    return { tally, requests, share: computeShare(countByClass(tally.counts)['5xx'], requests) }
  })
  const byName = (a: Tally, b: Tally) => (String(a.domain) < String(b.domain) ? -1 : 1)
  return ranked
    .toSorted((a, b) => b.share - a.share || b.requests - a.requests || byName(a.tally, b.tally))
    .map(({ tally }) => tally)
}

function sumTallies(rows: Tally[]): Tally {
  const counts: Counts = {}
  const total = createTally(null, sparkSteps)
  for (const row of rows) {
    addCounts(counts, row.counts)
    for (const [i, step] of total.steps.entries()) {
      step.requests += row.steps[i]?.requests ?? 0
      step.failed += row.steps[i]?.failed ?? 0
    }
  }
  return { ...total, counts }
}

function formatName({ domain }: Tally, { sum }: Statistics): string {
  if (domain !== null) return escapeInvisible(domain)
  if (sum === 'all') return 'all domains'
  return sum === null || sum.length !== 1
    ? `${sum?.length ?? 0} domains`
    : escapeInvisible(sum[0] ?? '')
}

function formatCells({ counts, steps }: Tally, top: number, paint: Paint): string {
  const requests = sumRequests(counts)
  if (requests === 0) return paint.dim('  no data')
  const classes = countByClass(counts)
  const failed = classes['5xx']
  const texts = [
    ...[requests, ...statusClasses.map((each) => classes[each])].map(formatCount),
    formatPercent(computeShare(classes['4xx'], requests)),
    formatPercent(computeShare(failed, requests)),
  ]
  const cells = texts.map((text, i) => ` ${text.padStart(widths[i] ?? 0)}`)
  const spark = drawSparkline(
    steps.map((step) => (step.requests === 0 ? null : step.failed / step.requests)),
    top,
  )
  const share = cells.pop() ?? ''
  return (
    `${cells.join('')}${failed > 0 && failed / requests >= minTop ? paint.red(share) : share} ` +
    spark
  )
}

/** Formats the time span in the service's time zone, the grain and the area. */
function formatTitle({ from, to, zone, grain, area }: Statistics): string {
  const [begin, end] = [from, to].map((time) => formatLocalTime(zone.toLocal(time)).slice(0, 16))
  const limited = area === 'all' ? '' : `, area ${area}`
  return `${begin} to ${end} (${zone.name}), by ${grain}${limited}`
}
