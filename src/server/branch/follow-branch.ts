import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import { createAlarm } from '../leader/alarm.ts'
import { fetchTraced, type Branch } from './branch.ts'
import type { Logger } from '../logger.ts'
import { isAboutCommit } from './commit-checks.ts'

/** What follows a branch works with. */
export interface FollowContext {
  outside: Pick<Outside, 'clock' | 'signal'>
  branch: Pick<Branch, 'fetch' | 'checkOut' | 'isAncestor' | 'keepOnly'>
  /** Wait between two fetches, ms. */
  pollMs: number
  logger: Logger
  metrics: Pick<ServerMetrics, 'setFetched'>
  /** Watches a piece of work until its end. */
  watch<T>(work: () => Promise<T>): Promise<T>
  /** Called after each fetch, with the commit at the tip. */
  onTip(commit: string): void
  /** Called when a fetch has failed. */
  onFailure(error: unknown): void
  /** Lists the commits whose folders are in use. */
  listUsed(): string[]
}

/** Longest wait after a fetch that failed, ms, unless the wait between two fetches is longer. */
const maxBackOffMs = 5 * 60_000

export type Follower = ReturnType<typeof createFollower>

/**
 * Creates the follower, which fetches a branch beside all other work: a remote may hang, or send
 * slowly.
 */
export function createFollower(context: FollowContext) {
  const { outside, branch, pollMs } = context
  const { clock, signal } = outside
  const alarm = createAlarm(outside)
  let tip: string | null = null
  let kept = ''
  let onEnd = () => {}
  const fetch = async (): Promise<void> => {
    const commit = await fetchTraced(branch)
    if (commit !== tip) {
      await reportMove(context, tip, commit)
      await prepare(branch, commit)
      tip = commit
    }
    context.metrics.setFetched(clock.now() / 1000)
    context.onTip(commit)
    const used = [commit, ...context.listUsed()].toSorted()
    if (used.join() === kept) return
    await branch.keepOnly(used)
    kept = used.join()
  }
  return {
    /** Fetches soon. */
    hurry: alarm.ring,
    /** Fetches soon, and resolves after that, or its failure. */
    refresh: () =>
      new Promise<void>((resolve) => {
        onEnd = resolve
        alarm.ring()
      }),
    /** Fetches the branch until the signal, less and less often while that fails. */
    follow: async (): Promise<void> => {
      for (let failures = 0; !signal.aborted;) {
        try {
          await context.watch(fetch)
          failures = 0
        } catch (error) {
          if (signal.aborted) return
          failures++
          context.onFailure(error)
        }
        onEnd()
        await alarm.sleep(findWait(pollMs, failures))
      }
    },
  }
}

/** Returns the wait after this many failures in a row, ms. */
export function findWait(pollMs: number, failures: number): number {
  const longestMs = Math.max(pollMs, maxBackOffMs)
  return Math.min(longestMs, pollMs * 2 ** Math.min(Math.max(0, failures - 1), 20))
}

async function reportMove(
  { branch, logger }: FollowContext,
  before: string | null,
  commit: string,
): Promise<void> {
  logger.setFields({ commit })
  logger.info('branch moved', { commit })
  if (before !== null && !(await branch.isAncestor(before, commit)))
    logger.warn('branch forced', { before })
}

/** Gets the files of a commit, so that its apply does not wait for the remote. */
async function prepare(branch: FollowContext['branch'], commit: string): Promise<void> {
  try {
    await branch.checkOut(commit)
  } catch (error) {
    // The apply reports what is wrong with the commit.
    if (!isAboutCommit(error)) throw error
  }
}
