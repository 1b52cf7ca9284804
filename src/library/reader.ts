import type { Reader } from '../service/reader.ts'
import { connect } from './connect.ts'
import type { Outside } from './outside.ts'
import type { LoadedWorkspace } from './workspace.ts'

/**
 * Does some work with the service's reading interfaces: statistics and prefetch tasks. Needs the token, and neither the record nor the
 * lock.
 *
 * @param signal ends reads
 * @throws EdgewiseError `access` when there is no token, and whatever reading throws
 */
export async function withReader<T>(
  workspace: LoadedWorkspace,
  outside: Outside,
  signal: AbortSignal,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  const { reader, close } = await connect(workspace, outside, signal)
  try {
    return await work(reader)
  } finally {
    await close()
  }
}
