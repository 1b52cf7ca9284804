import PQueue from 'p-queue'
import type { Clock } from '../../core/model/time/clock.ts'

/** Pieces of work of an identity at a time, those that wait, and refusals of it in a minute. */
const [maxAtOnce, maxWaiting, maxRefusals] = [2, 10, 60]
/** Time in which refusals are counted, and for which nothing is answered then, ms. */
const minuteMs = 60_000
/** Identities whose refusals are counted. */
const maxCounted = 10_000

export type Shares = ReturnType<typeof createShares>

/**
 * Creates the shares of identities: nobody waits for the work of another one's requests, and who is
 * refused all the time is not answered for a while.
 */
export function createShares({ monotonic }: Pick<Clock, 'monotonic'>) {
  const queues = new Map<string, PQueue>()
  const refused = new Map<string, { count: number; untilMs: number }>()
  const findRefused = (key: string) => {
    const known = refused.get(key)
    return known !== undefined && monotonic() < known.untilMs ? known : null
  }
  return {
    /**
     * Does a piece of work in the turn of its identity.
     *
     * @param signal that nobody needs it any more: it is not begun, or waited for
     * @returns null if it is not done: too many wait, or nobody needs it
     */
    run: async <T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T | null> => {
      const queue = queues.get(key) ?? new PQueue({ concurrency: maxAtOnce })
      if (queue.size >= maxWaiting) return null
      queues.set(key, queue)
      try {
        return await queue.add(async () =>
          signal.aborted ? null : Promise.race([work(), waitForAbort(signal)]),
        )
      } finally {
        if (queue.size + queue.pending === 0) queues.delete(key)
      }
    },
    /** Counts a refusal; returns whether it was one too many. */
    countRefusal: (key: string): boolean => {
      const { count, untilMs } = findRefused(key) ?? { count: 0, untilMs: monotonic() + minuteMs }
      const isLast = count + 1 === maxRefusals
      refused.delete(key)
      refused.set(key, { count: count + 1, untilMs: isLast ? monotonic() + minuteMs : untilMs })
      const [oldest = ''] = refused.keys()
      if (refused.size > maxCounted) refused.delete(oldest)
      return isLast
    },
    /** Tests whether an identity was refused too often a short time ago. */
    isBarred: (key: string): boolean => (findRefused(key)?.count ?? 0) >= maxRefusals,
  }
}

function waitForAbort(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(null))
  })
}
