import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { PrefetchQuery } from '../../core/model/prefetch.ts'
import { formatLocalTime, buildLocalTime } from '../../core/model/time/time-zone.ts'

/** Options of `edgewise prefetch` that select tasks. */
export interface PrefetchQueryOptions {
  from?: string
  to?: string
  url?: string
  task?: string
}

/**
 * Parses `--task`, or `--from`, `--to` and `--url`, which exclude each other (specification,
 * "GET /cache/prefetch").
 *
 * @throws EdgewiseError `usage`
 */
export function parsePrefetchQuery({ from, to, url, task }: PrefetchQueryOptions): PrefetchQuery {
  if (task !== undefined) {
    const other = Object.entries({ from, to, url }).find(([, value]) => value !== undefined)
    if (other !== undefined) throw createUsageError(`--task and --${other[0]} exclude each other`)
    if (!/^[1-9]\d{0,18}$/.test(task)) {
      throw createUsageError(`expected --task to be the number of a task, got "${task}"`)
    }
    return { task }
  }
  if (from === undefined || to === undefined)
    throw createUsageError('expected --from and --to, or --task')
  for (const [option, text] of Object.entries({ '--from': from, '--to': to })) {
    if (!isDay(text))
      throw createUsageError(`expected ${option} to be a day as YYYY-MM-DD, got "${text}"`)
  }
  if (from > to) throw createUsageError(`expected --to on or after --from, got ${from} to ${to}`)
  if (url === '') throw createUsageError('expected --url to be an address, got nothing')
  return { from, to, url }
}

function isDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  return formatLocalTime(buildLocalTime(year, month, day)).slice(0, 10) === text
}

function createUsageError(message: string): EdgewiseError {
  return new EdgewiseError('usage', message, 'See "edgewise prefetch --help".')
}
