import {
  countPrefetches,
  prefetchStatuses,
  type PrefetchQuery,
  type PrefetchRecord,
} from '../../../core/model/prefetch.ts'
import { formatLocalTime, type TimeZone } from '../../../core/model/time/time-zone.ts'
import { computeShare } from '../../../core/model/statistics.ts'
import { formatCount, pluralize } from '../../../core/model/text/words.ts'
import type { Paint } from '../text/paint.ts'
import { measureWidth } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrapSentences } from '../text/wrap.ts'

interface TextOptions {
  paint: Paint
  /** Time zone of the service, for printed times. */
  zone: TimeZone
  /** A URL stays whole, in a longer line if needed. */
  columns: number
  /** Show all URLs. */
  verbose: boolean
}

const maxUrls = 20
const barWidth = 20

/** Formats prefetch records as text: counts by status, and failures. Ends without a line break. */
export function formatPrefetch(
  query: PrefetchQuery,
  records: PrefetchRecord[],
  options: TextOptions,
): string {
  const { paint, columns, verbose } = options
  const counts = countPrefetches(records)
  const all = records.length === 0 ? 'no records' : pluralize(records.length, 'URL')
  const title = `${formatTitle(query)}: ${all}`
  const narrowTitle = `${formatTitle(query)}:\n  ${all}`
  const width = String(records.length).length
  const rows = prefetchStatuses.map((status) => {
    const share = computeShare(counts[status], records.length)
    const bar = '█'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '░')
    return (
      `  ${status.padEnd('processing'.length)}  ${String(counts[status]).padStart(width)}  ` +
      `${bar} ${(share * 100).toFixed(0).padStart(3)} %`
    )
  })
  const failed = records.filter(({ status }) => status === 'failed')
  const open = records.filter(({ status }) => status === 'waiting' || status === 'processing')
  return [
    paint.bold(measureWidth(title) <= columns ? title : wrapSentences(narrowTitle, columns)),
    ...(records.length === 0 ? [] : ['', ...rows]),
    ...formatSection('Failed', failed, options, paint.red),
    ...(verbose ? formatSection('Not done yet', open, options, paint.yellow) : []),
  ].join('\n')
}

/** Formats the note for a query without records. */
export function formatNoRecords(query: PrefetchQuery): string {
  const which = 'task' in query ? `task ${query.task}` : 'this time'
  return `the service has no records of ${which}; it keeps them for one month`
}

function formatTitle(query: PrefetchQuery): string {
  if ('task' in query) return `Task ${escapeInvisible(query.task)}`
  return (
    `${query.from} to ` +
    `${query.to}${query.url === undefined ? '' : `, ${escapeInvisible(query.url)}`}`
  )
}

function formatSection(
  title: string,
  records: PrefetchRecord[],
  { zone, paint, columns, verbose }: TextOptions,
  colour: (text: string) => string,
): string[] {
  if (records.length === 0) return []
  const shown = verbose ? records : records.slice(0, maxUrls)
  const entries = shown.map(({ id, url, createdAt }) => ({
    url: `  ${escapeInvisible(url)}`,
    about: `${escapeInvisible(id)}, ${formatLocalTime(zone.toLocal(createdAt))}`,
  }))
  const fits = entries.every(({ url, about }) => measureWidth(`${url}  ${about}`) <= columns)
  const lines = entries.map(
    ({ url, about }) => `${url}${fits ? '  ' : '\n      '}${paint.dim(about)}`,
  )
  const more =
    records.length > shown.length
      ? [
          paint.dim(
            `  … and ${formatCount(records.length - shown.length)} more; --verbose shows all`,
          ),
        ]
      : []
  return ['', colour(title), ...lines, ...more]
}

/** Formats the progress of the records on one line. */
export function formatPrefetchProgress(records: PrefetchRecord[]): string {
  const { completed, failed, processing, waiting } = countPrefetches(records)
  return (
    `${completed + failed} of ${records.length} done: ${completed} completed, ${failed} ` +
    `failed, ${processing} processing, ${waiting} waiting`
  )
}
