import type { QueryClient } from '../service/query/query-client.ts'
import { connect, type QueryOptions } from './connect.ts'
import type { Outside } from './outside.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Connects to the service for some queries: statistics and prefetch tasks. Needs the token, and
 * neither state nor the lock.
 *
 * @throws EdgewiseError `access` when there is no token, and whatever the queries throw
 */
export async function withQueries<T>(
  workspace: LoadedWorkspace,
  outside: Outside,
  options: QueryOptions,
  work: (queries: QueryClient) => Promise<T>,
): Promise<T> {
  const { queries, close } = await connect(workspace, outside, options)
  try {
    return await work(queries)
  } finally {
    await close()
  }
}
