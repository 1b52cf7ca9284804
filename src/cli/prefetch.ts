import { withQueries } from '../operations/with-queries.ts'
import type { Prefetches } from '../service/query/prefetch.ts'
import type { QueryClient } from '../service/query/query-client.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { prefetchCounts, type PrefetchQuery } from '../model/prefetch.ts'
import { localText, localTime, timeZone } from '../model/time-zone.ts'
import { prefetchJson } from '../report/stats/prefetch-json.ts'
import { prefetchText } from '../report/stats/prefetch-text.ts'
import { exits } from './exits.ts'
import type { CommandContext } from './io.ts'
import { openWorkspace } from './open.ts'
import { prefetchProgress } from './terminal/prefetch-progress.ts'
import { queryOptions } from './terminal/query-progress.ts'

export interface PrefetchOptions {
  from?: string
  to?: string
  url?: string
  task?: string
  wait?: boolean
}

/** `edgewise prefetch`: how far prefetch tasks are, and which failed. */
export async function prefetch(context: CommandContext, _args: unknown[], options: PrefetchOptions): Promise<number> {
  const { io, paint } = context
  const query = queryOf(options)
  const workspace = openWorkspace(context, 'none')
  const zone = timeZone(workspace.config.service.timezone)
  const { records, complete } = await withQueries(workspace, io, queryOptions(context), (queries) =>
    options.wait === true ? waitFor(context, queries, query) : queries.prefetches(query),
  )
  if (!complete)
    context.note(`${context.errPaint.yellow('note:')} tasks came and went while the list was read; some may be missing. Ask again.`)
  if (records.length === 0) context.note(nothingKnown(query))
  if (context.options.json === true) io.out(`${JSON.stringify(prefetchJson(query, records, complete))}\n`)
  else io.out(`${prefetchText(query, records, { paint, zone, verbose: context.options.verbose === true })}\n`)
  return options.wait === true && prefetchCounts(records).failed > 0 ? exits.incomplete : exits.done
}

/** The two ways to ask exclude each other (specification, "GET /cache/prefetch"). */
function queryOf({ from, to, url, task }: PrefetchOptions): PrefetchQuery {
  if (task !== undefined) {
    const other = Object.entries({ from, to, url }).find(([, value]) => value !== undefined)
    if (other !== undefined) throw usage(`--task and --${other[0]} exclude each other`)
    if (!/^[1-9]\d{0,18}$/.test(task)) throw usage(`expected --task to be the number of a task, got "${task}"`)
    return { task }
  }
  if (from === undefined || to === undefined) throw usage('expected --from and --to, or --task')
  for (const [option, text] of Object.entries({ '--from': from, '--to': to })) {
    const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
    if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || localText(localTime(year, month, day)).slice(0, 10) !== text)
      throw usage(`expected ${option} to be a day as YYYY-MM-DD, got "${text}"`)
  }
  if (from > to) throw usage(`expected --to on or after --from, got ${from} to ${to}`)
  if (url === '') throw usage('expected --url to be an address, got nothing')
  return { from, to, ...(url === undefined ? {} : { url }) }
}

function usage(message: string): EdgewiseError {
  return new EdgewiseError('usage', message, 'See "edgewise prefetch --help".')
}

/** Pauses between looks, ms: short at first, since most tasks take less than a minute. */
const pauses = [2000, 3000, 5000]
const longestPause = 10_000

/** Asks again and again until no record is waiting or processing. */
async function waitFor(context: CommandContext, queries: QueryClient, query: PrefetchQuery): Promise<Prefetches> {
  const { clock, signal } = context.io
  const progress = await prefetchProgress(context)
  try {
    for (let look = 0; ; look++) {
      const found = await queries.prefetches(query)
      // A submission has URLs: a task without any is another number than was meant.
      if ('task' in query && found.records.length === 0)
        throw new EdgewiseError('usage', `there is nothing to wait for: ${nothingKnown(query)}`, 'Look at the number of the task.')
      progress.tell(found.records)
      const { waiting, processing } = prefetchCounts(found.records)
      if (waiting + processing === 0) return found
      await clock.sleep(pauses[look] ?? longestPause, signal)
    }
  } finally {
    progress.end()
  }
}

function nothingKnown(query: PrefetchQuery): string {
  const which = 'task' in query ? `task ${query.task}` : 'this time'
  return `the service has no records of ${which}; it keeps them for one month`
}
