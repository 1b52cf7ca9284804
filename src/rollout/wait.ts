import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Clock } from '../model/clock.ts'

/** Ports for waiting. */
interface Waiting {
  clock: Clock
  signal: AbortSignal
}

/** Timers are limited to 24 days, and do not notice that a machine was asleep. */
const maxSleepMs = 3_600_000
const retryMs = 60_000
/**
 * Time during which failed queries are retried, ms: an outage of statistics must not end a rollout.
 */
const maxRetryMs = 30 * 60_000

/** Waits until a time, ms since 1970, or an interrupt. */
export async function waitUntil(time: number, { clock, signal }: Waiting): Promise<void> {
  for (let now = clock.now(); now < time && !signal.aborted; now = clock.now()) {
    await clock.sleep(Math.min(time - now, maxSleepMs), signal, 'rollout')
  }
}

/**
 * Queries, and retries for half an hour while the service does not answer.
 *
 * @param onWait called with the time of the next attempt, ms since 1970
 * @throws the error of the last query
 */
export async function retryQuery<T>(
  query: () => Promise<T>,
  onWait: (until: number) => void,
  waiting: Waiting,
): Promise<T> {
  const { clock, signal } = waiting
  const end = clock.now() + maxRetryMs
  for (;;) {
    try {
      return await query()
    } catch (error) {
      if (!isTransient(error) || clock.now() >= end || signal.aborted) throw error
    }
    const next = clock.now() + retryMs
    onWait(next)
    await waitUntil(next, waiting)
  }
}

/** Returns whether an error only means that the service did not answer. */
export function isTransient(error: unknown): boolean {
  return error instanceof EdgewiseError && error.code === 'service-failed'
}
