import type { Reader, ReaderOptions } from '../service/query/query-client.ts'
import { connect } from './connect.ts'
import type { Outside } from './outside.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Does some work with the service's reading interfaces: statistics and prefetch tasks. Needs the token, and neither the record nor the
 * lock.
 *
 * @param reads what ends reads, and who hears of waits (ms) that the service demands
 * @throws EdgewiseError `access` when there is no token, and whatever reading throws
 */
export async function withReader<T>(
  workspace: LoadedWorkspace,
  outside: Outside,
  reads: Pick<ReaderOptions, 'signal' | 'waits'>,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  const { reader, close } = await connect(workspace, outside, reads)
  try {
    return await work(reader)
  } finally {
    await close()
  }
}
