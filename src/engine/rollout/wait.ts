import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Clock } from '../../core/model/time/clock.ts'

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

/** Thrown where a rollout has to wait for some time, ms, if its caller waits itself. */
export class RolloutSuspended extends Error {
  readonly waitMs: number

  constructor(waitMs: number) {
    super(`the rollout waits for ${waitMs} ms`)
    this.waitMs = waitMs
  }
}

/** Shorter waits are not worth the work to resume a rollout, ms. */
const minSuspensionMs = 5000

/**
 * Waits like `waitFor` for the next step of a rollout.
 *
 * @throws RolloutSuspended if the caller of the rollout waits itself
 */
export async function waitForStep(
  ms: number,
  waiting: Waiting & { suspends: boolean },
): Promise<void> {
  if (waiting.suspends && ms > minSuspensionMs && !waiting.signal.aborted)
    throw new RolloutSuspended(ms)
  await waitFor(ms, waiting)
}

/** Waits for some time by the monotonic clock, ms, or until an interrupt. */
export async function waitFor(ms: number, { clock, signal }: Waiting): Promise<void> {
  const end = clock.monotonic() + ms
  for (let now = clock.monotonic(); now < end && !signal.aborted; now = clock.monotonic()) {
    await clock.sleep(Math.min(end - now, maxSleepMs), signal, 'rollout')
  }
}

/**
 * Queries, and retries for half an hour while the service does not answer.
 *
 * @param onWait called with the time until the next attempt, ms
 * @throws the error of the last query
 */
export async function retryQuery<T>(
  query: () => Promise<T>,
  onWait: (ms: number) => void,
  waiting: Waiting,
): Promise<T> {
  const { clock, signal } = waiting
  const end = clock.monotonic() + maxRetryMs
  for (;;) {
    try {
      return await query()
    } catch (error) {
      if (!isTransient(error) || clock.monotonic() >= end || signal.aborted) throw error
    }
    onWait(retryMs)
    await waitFor(retryMs, waiting)
  }
}

/** Returns whether an error only means that the service did not answer. */
export function isTransient(error: unknown): boolean {
  return error instanceof EdgewiseError && error.code === 'service-failed'
}
