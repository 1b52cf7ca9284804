import type { Settings } from './runtime/parts.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { countPrefetches, type PrefetchQuery, type PrefetchRecord } from '../core/model/prefetch.ts'
import { formatNoRecords } from '../outlets/report/stats/prefetch-text.ts'
import type { Prefetches } from '../service/query/prefetch.ts'
import type { QueryClient } from '../service/query/query-client.ts'
import { withQueries, type QueryPorts } from './runtime/connect.ts'

/** Query of prefetch tasks. */
export interface PrefetchRequest {
  query: PrefetchQuery
  /** Query again until no record is waiting or processing. */
  wait: boolean
}

/** Pauses between queries, ms: short at first, since most tasks take less than a minute. */
const pauses = [2000, 3000, 5000]
const maxPause = 10_000

/**
 * Queries the records of prefetch tasks, and waits for their end if requested. Needs the token, but
 * neither state nor the lock.
 *
 * @throws EdgewiseError `usage` when there is nothing to wait for, `access` when there is no token,
 * and the errors of a query
 */
export async function queryPrefetchTasks(
  workspace: Settings,
  { query, wait }: PrefetchRequest,
  ports: QueryPorts<PrefetchRecord[]>,
): Promise<Prefetches> {
  return withQueries(workspace, ports, (queries) => {
    return wait ? waitForEnd(queries, query, ports) : queries.queryPrefetches(query)
  })
}

/** Polls until no record is waiting or processing. */
async function waitForEnd(
  queries: QueryClient,
  query: PrefetchQuery,
  { outside, startProgress }: QueryPorts<PrefetchRecord[]>,
): Promise<Prefetches> {
  const progress = startProgress()
  try {
    for (let round = 0; ; round++) {
      const found = await queries.queryPrefetches(query)
      if ('task' in query && found.records.length === 0) throw createUnknownTaskError(query)
      progress.report(found.records)
      const { waiting, processing } = countPrefetches(found.records)
      if (waiting + processing === 0) return found
      await outside.clock.sleep(pauses[round] ?? maxPause, outside.signal)
    }
  } finally {
    progress.end()
  }
}

/**
 * Creates the error for a task without URLs. A real task has some, so its id is probably mistyped.
 */
function createUnknownTaskError(query: PrefetchQuery): EdgewiseError {
  const message = `there is nothing to wait for: ${formatNoRecords(query)}`
  return new EdgewiseError('usage', message, 'Check the task id.')
}
