import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { PrefetchQuery } from '../../core/model/prefetch.ts'
import { isDay } from './time-span.ts'

/** Options of `edgewise prefetch` that select tasks. */
export interface PrefetchQueryOptions {
  from?: string
  to?: string
  url?: string
  task?: string
}

/**
 * Parses `--task`, or `--from`, `--to` and `--url` (specification, "GET /cache/prefetch").
 *
 * @throws EdgewiseError `usage`
 */
export function parsePrefetchQuery({ from, to, url, task }: PrefetchQueryOptions): PrefetchQuery {
  if (task !== undefined) {
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

function createUsageError(message: string): EdgewiseError {
  return new EdgewiseError('usage', message, 'See "edgewise prefetch --help".')
}
