import type { PagePoint, PageSpan } from '../../../core/model/page/page-rollout.ts'
import { formatCount, formatNoun } from '../../../core/model/page/page-words.ts'
import { formatSeries, formatShare } from '../page/format-curve.ts'
import { formatInstant, show } from '../page/html.ts'

/** Requests of a domain over a time, seconds since 1970. */
export interface StatusSeries {
  span: PageSpan
  /** Length of a point, seconds. */
  seconds: number
  points: PagePoint[]
}

/** Requests of a domain of the last day and week, or why they are not known. */
export type DomainStatistics =
  | { at: string; day: StatusSeries; week: StatusSeries }
  | { fault: string }

/** An apply that wrote a domain: its id and its start, ISO 8601. */
export type ApplyMark = [id: string, startedAt: string]

const classes = ['2xx', '3xx', '4xx', '5xx', 'other'] as const
/** Time before and after an apply that is compared, seconds. */
const aroundSeconds = 3600

/**
 * Formats the status codes of a domain with a mark at each of its applies.
 *
 * @param found null while they are queried
 */
export function formatStatusCodes(found: DomainStatistics | null, applies: ApplyMark[]): string {
  const content =
    found === null
      ? formatNote('They are being queried: load this page again in some seconds.')
      : 'fault' in found
        ? formatNote(`They are not known: ${found.fault}`)
        : describeLastApply(found.day, applies) +
          formatSpanOf('Last day', found.day, applies) +
          formatSpanOf('Last week', found.week, applies) +
          `<p class="note">Counted by the service, as of ${formatInstant(found.at)}</p>`
  return `<section class="panel" id="status-codes"><h2>Status codes</h2>${content}</section>`
}

function formatNote(text: string): string {
  return `<p class="note">${show(text)}</p>`
}

function formatSpanOf(title: string, series: StatusSeries, applies: ApplyMark[]): string {
  const { span, seconds, points } = series
  const known = listMarks(series, applies)
  const sentence = describeClasses(points)
  const head = `<h3>${title}</h3><p>${sentence}</p>`
  if (points.every(([, requests]) => requests === 0)) return head
  const own = (start: number) =>
    known.filter(({ time }) => time >= start && time < start + seconds).map(({ id }) => id)
  return (
    head +
    formatSeries({
      span,
      seconds,
      points,
      statuses: '5xx',
      marks: known.map(({ time }) => ({ span: [time, time], words: 'apply' })),
      level: null,
      about: `Share of 5xx. ${title}: ${sentence}`,
      column: 'Applies',
      describe: (start) => own(start).join(', '),
    })
  )
}

/** Lists the applies within the time of a series. */
function listMarks({ span }: StatusSeries, applies: ApplyMark[]): { id: string; time: number }[] {
  return applies.flatMap(([id, startedAt]) => {
    const time = Date.parse(startedAt) / 1000
    return time >= span[0] && time < span[1] ? [{ id, time }] : []
  })
}

/** Compares the hours before and after the last apply of a series; empty without one. */
function describeLastApply(series: StatusSeries, applies: ApplyMark[]): string {
  const { points, seconds } = series
  const last = listMarks(series, applies).reduce((latest, { time }) => Math.max(latest, time), 0)
  if (last === 0) return ''
  // The period of the apply itself has answers of both.
  const within = (from: number, to: number) =>
    describeClasses(points.filter(([start]) => start >= from && start + seconds <= to))
  return (
    `<p>Last apply: ${formatInstant(new Date(last * 1000).toISOString())}<br>` +
    `In the hour before it: ${within(last - aroundSeconds, last)}<br>` +
    `In the hour after it, as far as counted: ${within(last, last + aroundSeconds)}</p>`
  )
}

/** Describes how many requests had which codes: `1,200 requests: 2xx 99.00 %, 5xx 1.00 %`. */
function describeClasses(points: PagePoint[]): string {
  let all = 0
  const sums = classes.map(() => 0)
  for (const [, requests, , ...counts] of points) {
    all += requests
    for (const [i, count] of counts.entries()) sums[i] = (sums[i] ?? 0) + count
  }
  if (all === 0) return 'No requests.'
  const shares = sums.flatMap((count, i) =>
    count === 0 ? [] : `${classes[i]} ${formatShare((100 * count) / all)} (${formatCount(count)})`,
  )
  return `${formatNoun(all, 'request')}: ${shares.join(', ')}.`
}
