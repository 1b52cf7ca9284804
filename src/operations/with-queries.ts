import type { QueryClient } from '../service/query/query-client.ts'
import type { ServiceTime } from '../service/service-time.ts'
import { connect } from './connect.ts'
import type { Outside } from './outside.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** Ports of queries: the outside world and progress reports. */
export interface QueryPorts<T> {
  outside: Outside
  /** Called with each wait that the service demands, ms. */
  onWait(ms: number): void
  /** Starts a progress report of the queries. */
  startProgress(): Promise<QueryProgress<T>>
}

/** Progress report of queries. */
export interface QueryProgress<T> {
  report(progress: T): void
  end(): void
}

/**
 * Connects to the service for some queries: statistics and prefetch tasks. Needs the token, but
 * neither state nor the lock.
 *
 * @throws EdgewiseError `access` when there is no token, and the errors of the queries
 */
export async function withQueries<T>(
  workspace: LoadedWorkspace,
  { outside, time, onWait }: { outside: Outside; time?: ServiceTime; onWait?(ms: number): void },
  work: (queries: QueryClient) => Promise<T>,
): Promise<T> {
  const { queries, close } = await connect(workspace, outside, { time, onWait })
  try {
    return await work(queries)
  } finally {
    await close()
  }
}
