import type { QueryClient } from '../service/query/query-client.ts'
import { connect } from './connect.ts'
import type { Outside } from './outside.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** The world outside, and where queries report their progress. */
export interface QueryPorts<T> {
  outside: Outside
  /** Called with each wait that the service demands, ms. */
  onWait(ms: number): void
  /** Follows the queries to their end. */
  startProgress(): Promise<QueryProgress<T>>
}

/** How far queries are. */
export interface QueryProgress<T> {
  report(progress: T): void
  end(): void
}

/**
 * Connects to the service for some queries: statistics and prefetch tasks. Needs the token, and
 * neither state nor the lock.
 *
 * @throws EdgewiseError `access` when there is no token, and whatever the queries throw
 */
export async function withQueries<T>(
  workspace: LoadedWorkspace,
  { outside, onWait }: { outside: Outside; onWait?(ms: number): void },
  work: (queries: QueryClient) => Promise<T>,
): Promise<T> {
  const { queries, close } = await connect(workspace, outside, onWait)
  try {
    return await work(queries)
  } finally {
    await close()
  }
}
