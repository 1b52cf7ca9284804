import type { Outside } from '../operations/outside.ts'
import type { CheckEnd } from '../server/commit-checks.ts'
import type { RunOwn } from './own-process.ts'

/** Errors of a plan for which something that is not in the commit was away. */
const away = ['unavailable', 'record-unreachable', 'record-moved', 'access']

/**
 * Plans a workspace in a process of its own, which takes no lock, writes no state and reaches no
 * service. An error that it reports is for who loads the commit then: it was found within limits.
 *
 * @param root folder of the workspace
 */
export async function checkCommit(
  run: RunOwn,
  root: string,
  outside: Pick<Outside, 'env' | 'signal'>,
): Promise<CheckEnd> {
  const { code, error, excess } = await run(['-C', root, '--json', 'plan'], outside)
  if (excess !== null) return { excess, isPartial: false }
  if (code === 0) return { excess: null, isPartial: false }
  if (error === null) return { excess: 'more than the process survives', isPartial: false }
  return { excess: null, isPartial: away.includes(String(error['code'])) }
}
