import {
  countPrefetches,
  prefetchStatuses,
  type PrefetchQuery,
  type PrefetchRecord,
} from '../../model/prefetch.ts'
import { formatLocalTime, type TimeZone } from '../../model/time-zone.ts'
import { computeShare } from '../../model/tally.ts'
import { pluralize } from '../../model/words.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

interface TextOptions {
  paint: Paint
  /** The service's zone, in which times are told. */
  zone: TimeZone
  /** All URLs, however many there are. */
  verbose: boolean
}

const mostUrls = 20
const barWidth = 20

/**
 * Prefetch records as people read them: how many are in which status, and what failed. Ends without
 * a line break.
 */
export function formatPrefetch(
  query: PrefetchQuery,
  records: PrefetchRecord[],
  options: TextOptions,
): string {
  const { paint, verbose } = options
  const counts = countPrefetches(records)
  const all = pluralize(records.length, 'URL')
  const width = String(records.length).length
  const rows = prefetchStatuses.map((status) => {
    const share = computeShare(counts[status], records.length)
    const bar = '█'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '░')
    return `  ${status.padEnd('processing'.length)}  ${String(counts[status]).padStart(width)}  ${bar} ${(share * 100).toFixed(0).padStart(3)} %`
  })
  const failed = records.filter(({ status }) => status === 'failed')
  const open = records.filter(({ status }) => status === 'waiting' || status === 'processing')
  return [
    paint.bold(`${titleOf(query)}: ${records.length === 0 ? 'nothing is known' : all}`),
    ...(records.length === 0 ? [] : ['', ...rows]),
    ...section('Failed', failed, options, paint.red),
    ...(verbose ? section('Not done yet', open, options, paint.yellow) : []),
  ].join('\n')
}

/** Says that there are no records of a query, and why that may be. */
export function formatNoRecords(query: PrefetchQuery): string {
  const which = 'task' in query ? `task ${query.task}` : 'this time'
  return `the service has no records of ${which}; it keeps them for one month`
}

function titleOf(query: PrefetchQuery): string {
  if ('task' in query) return `Task ${escapeInvisible(query.task)}`
  return `${query.from} to ${query.to}${query.url === undefined ? '' : `, ${escapeInvisible(query.url)}`}`
}

function section(
  title: string,
  records: PrefetchRecord[],
  { zone, paint, verbose }: TextOptions,
  colour: (text: string) => string,
): string[] {
  if (records.length === 0) return []
  const shown = verbose ? records : records.slice(0, mostUrls)
  const lines = shown.map(
    ({ id, url, createdAt }) =>
      `  ${escapeInvisible(url)}  ${paint.dim(`${escapeInvisible(id)}, ${formatLocalTime(zone.toLocal(createdAt))}`)}`,
  )
  const more =
    records.length > shown.length
      ? [paint.dim(`  … and ${records.length - shown.length} more; --verbose shows all`)]
      : []
  return ['', colour(title), ...lines, ...more]
}

/** One line: how far the records are. */
export function formatPrefetchProgress(records: PrefetchRecord[]): string {
  const { completed, failed, processing, waiting } = countPrefetches(records)
  return `${completed + failed} of ${records.length} done: ${completed} completed, ${failed} failed, ${processing} processing, ${waiting} waiting`
}
