import type { Sample } from '../../../core/model/health.ts'
import { findMax, findMin } from '../../../core/model/lists.ts'
import { formatCount, formatNoun } from '../../../core/model/page/page-words.ts'
import type {
  PageCurve,
  PagePoint,
  PageSeries,
  PageSpan,
} from '../../../core/model/page/page-rollout.ts'
import { formatPercent } from '../stats/figures.ts'
import { show } from './html.ts'

/** Distances between times of the axis, seconds, and their greatest number. */
const steps = [60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600]
const maxTimes = 6
/** Size of the drawing, which is stretched to its place. */
const [width, height] = [1000, 100]
const heads = ['Requests', 'Bad', 'Share', '2xx', '3xx', '4xx', '5xx', 'Other']
/** Least distance of the words of two marks, percent of the width. */
const wordsApart = 12

/**
 * Formats the share of bad answers of a wave over time: a drawing that follows the style, and a
 * table of the same periods.
 */
export function formatCurve(curve: PageCurve): string {
  const { statuses, points, seconds, before, after, written, baseline } = curve
  return formatSeries({
    statuses,
    points,
    seconds,
    span: [before[0], after[1]],
    marks: [{ span: written, words: 'written' }],
    level: computeShare(baseline),
    about: describeCurve(curve),
    column: 'Window',
    describe: (time) => (time < before[1] ? 'before' : 'after'),
  })
}

/** Formats the share of bad answers over time, with its marks. */
export function formatSeries(series: PageSeries): string {
  const { span, points, seconds, level, about } = series
  const top = computeTop(points)
  const times = listTimes(...span)
  const labels = times.map(
    (time) => `<text x="${place(series, time)}%" y="164">${formatAxisTime(time)}</text>`,
  )
  const scale = [top, top / 2, 0].map((value) => `<span>${Number(value.toFixed(2))} %</span>`)
  return (
    `<figure class="curve" data-from="${span[0]}" data-to="${span[1]}" ` +
    `data-period="${seconds}">` +
    `<div class="plot"><div class="scale" aria-hidden="true">${scale.join('')}</div>` +
    `<svg class="canvas" role="img" aria-label="${show(about)}">` +
    `${formatWords(series)}${labels.join('')}` +
    `<svg aria-hidden="true" y="16" width="100%" height="132" viewBox="0 0 ${width} ${height}" ` +
    `preserveAspectRatio="none">${drawPaths(series, top)}</svg></svg></div>` +
    `<figcaption class="key soft">${formatKey(series, level)}<p aria-hidden="true"></p>` +
    `</figcaption>${formatTable(series)}</figure>`
  )
}

/** Places a time on the width, percent. */
function place({ span: [from, to] }: Pick<PageSeries, 'span'>, time: number): string {
  return ((100 * (time - from)) / Math.max(1, to - from)).toFixed(2)
}

/** Formats the words of the marks, without those that would cover the one before. */
function formatWords(series: PageSeries): string {
  let last = -Infinity
  const texts = series.marks.map(({ span: [from, to], words }) => {
    const middle = place(series, (from + to) / 2)
    if (Number(middle) - last < wordsApart) return ''
    last = Number(middle)
    return `<text x="${middle}%" y="12">${show(words)}</text>`
  })
  return texts.join('')
}

function drawPaths(series: PageSeries, top: number): string {
  const { marks, points, seconds, level } = series
  const [from, to] = series.span
  const span = Math.max(1, to - from)
  const x = (time: number) => Number(((width * (time - from)) / span).toFixed(1))
  const y = (share: number) => Number((height - (height * share) / top).toFixed(1))
  const most = findMost(points, 1)
  const wide = Math.round((0.88 * width * seconds) / span)
  const bars = points.map(([time, requests]) => {
    // The bars stay below the line.
    const high = Math.round((height * requests) / (4 * most))
    return `M${Math.round(x(time + 0.06 * seconds))} ${height}v-${high}h${wide}v${high}`
  })
  const lines = listSpots(series).map((line) =>
    line.map(({ time, share }) => `${Math.round(x(time))} ${y(share)}`),
  )
  const bands = marks.map(({ span: [start, end] }) => {
    // One of a moment has a line.
    const wideEnd = Math.max(x(end), x(start) + 2)
    return `M${x(start)} 0H${wideEnd}V${height}H${x(start)}z`
  })
  const path = (name: string, d: string) => `<path class="${name}" d="${d}"/>`
  return (
    path('grid', `M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`) +
    path('bars', bars.join('')) +
    path('written', bands.join('')) +
    (level === null ? '' : path('level', `M0 ${y(level)}H${width}`)) +
    path('share', lines.map((line) => `M${line.join('L')}`).join('')) +
    // A line of one spot has no length.
    path('dots', lines.map((line) => (line.length === 1 ? `M${line.join('')}h0` : '')).join(''))
  )
}

/** Lists the middles of the periods with requests; a line breaks where there are none. */
export function listSpots({
  points,
  seconds,
}: Pick<PageSeries, 'points' | 'seconds'>): { time: number; share: number }[][] {
  const lines: { time: number; share: number }[][] = []
  let previous = -Infinity
  for (const point of points) {
    const share = computePointShare(point)
    if (share === null) continue
    // A day with a clock change is up to an hour longer.
    const isGap = point[0] - previous > 1.5 * seconds
    if (isGap) lines.push([])
    lines.at(-1)?.push({ time: point[0] + seconds / 2, share })
    previous = point[0]
  }
  return lines
}

/** Finds the most requests of a point; at least `least`. */
function findMost(points: PagePoint[], least: number): number {
  return findMax(
    points.map(([, requests]) => requests),
    least,
  )
}

/** Formats what each line, bar and band of the drawing is. */
function formatKey({ statuses, points }: PageSeries, level: number | null): string {
  const most = findMost(points, 0)
  const entry = (kind: string, text: string) =>
    `<li><span class="sample" data-kind="${kind}" aria-hidden="true"></span>${text}</li>`
  const before = level === null ? '' : entry('level', `before the wave: ${formatShare(level)}`)
  const requests = `requests, up to ${formatCount(most)} a period`
  const share = entry('bad', `share of ${show(statuses)}`)
  return `<ul>${share}${before}${entry('requests', requests)}</ul>`
}

function formatTable({ statuses, points, column, describe }: PageSeries): string {
  let day = ''
  const rows = points.map((point) => {
    const [time, requests, bad, ...classes] = point
    const [date = '', clock = ''] = formatUtc(time, true).split(' ')
    const name = date === day ? clock : `${date} ${clock}`
    day = date
    const cells = [
      show(describe(time)),
      formatCount(requests),
      formatCount(bad),
      show(formatShare(computePointShare(point))),
      ...classes.map(formatCount),
    ]
    return `<tr><th scope=row>${name}<td>${cells.join('<td>')}`
  })
  const columns = ['Time (UTC)', column, ...heads].map((text) => `<th scope="col">${text}</th>`)
  return (
    `<details class="points"><summary>The ${formatNoun(points.length, 'period')} in a table` +
    '</summary><div class="port" tabindex="0" role="region" aria-label="Periods"><table>' +
    `<caption class="soft">Bad: ${show(statuses)}</caption><thead><tr>${columns.join('')}</tr>` +
    `</thead><tbody>${rows.join('')}</tbody></table></div></details>`
  )
}

/** Computes the share of bad answers in percent; null without requests. */
export function computeShare({ requests, bad }: Sample): number | null {
  return requests === 0 ? null : (100 * bad) / requests
}

const computePointShare = ([, requests, bad]: PagePoint) => computeShare({ requests, bad })

/** Computes the top of the axis: at least one percent, so that noise does not look like a rise. */
function computeTop(points: PagePoint[]): number {
  const greatest = findMax(
    points.map((point) => computePointShare(point) ?? 0),
    0,
  )
  return Math.min(100, Math.max(1, Number((1.2 * greatest).toPrecision(2))))
}

function listTimes(from: number, to: number): number[] {
  const step = steps.find((each) => (to - from) / each <= maxTimes) ?? (to - from) / maxTimes
  const first = Math.ceil(from / step) * step
  const count = Math.floor((to - first) / step) + 1
  return Array.from({ length: Math.max(0, count) }, (_, i) => first + i * step)
}

/** Formats a time of the axis; the start of a day by its date. */
function formatAxisTime(time: number): string {
  return time % 86_400 === 0 ? formatUtc(time, true).slice(5, 10) : formatUtc(time)
}

/** Formats a share in percent. */
export function formatShare(share: number | null): string {
  return share === null ? 'no requests' : `${formatPercent(share / 100)} %`
}

/** Formats seconds since 1970 as `12:05`, or as `2026-11-20 12:05` with the date; in UTC. */
function formatUtc(seconds: number, withDate = false): string {
  const iso = new Date(seconds * 1000).toISOString()
  return withDate ? `${iso.slice(0, 10)} ${iso.slice(11, 16)}` : iso.slice(11, 16)
}

/** Formats a span as `2026-11-20 12:00 to 12:15 UTC`. */
export function formatSpan([from, to]: PageSpan): string {
  const [start, end] = [formatUtc(from, true), formatUtc(to, true)]
  if (start === end) return `${start} UTC`
  return `${start} to ${start.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end} UTC`
}

/** Describes a curve for people who do not see the drawing. */
export function describeCurve(curve: PageCurve): string {
  const { statuses, points, before, after } = curve
  return (
    `Share of ${statuses} over time. Before the wave, ${formatSpan(before)}: ` +
    `${formatShare(computeShare(curve.baseline))}. After it, ${formatSpan(after)}: ` +
    describeRange(points, after)
  )
}

function describeRange(points: PagePoint[], [from, to]: PageSpan): string {
  const shares = points
    .filter(([time]) => time >= from && time < to)
    .flatMap((point) => computePointShare(point) ?? [])
  if (shares.length === 0) return 'no requests.'
  const [least, largest] = [findMin(shares), findMax(shares)]
  return least === largest
    ? `${formatShare(least)}.`
    : `between ${formatShare(least)} and ${formatShare(largest)}.`
}
