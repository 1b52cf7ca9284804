import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Clock } from '../model/clock.ts'

/** What waiting takes. */
interface Waiting {
  clock: Clock
  signal: AbortSignal
}

/** Timers take no more than 24 days, and do not see that a machine slept. */
const longestSleepMs = 3_600_000
const askAgainMs = 60_000
/**
 * How long statistics that can't be read are asked for again: an outage of theirs ends no rollout.
 */
const patienceMs = 30 * 60_000

/** Waits until a time, ms since 1970, or an interruption. */
export async function waitUntil(time: number, { clock, signal }: Waiting): Promise<void> {
  for (let now = clock.now(); now < time && !signal.aborted; now = clock.now()) {
    await clock.sleep(Math.min(time - now, longestSleepMs), signal, 'rollout')
  }
}

/**
 * Reads, and reads again for half an hour while the service gives no answer.
 *
 * @param tell hears until when is waited for the next attempt, ms since 1970
 * @throws EdgewiseError what reading throws
 */
export async function retryQuery<T>(
  read: () => Promise<T>,
  tell: (until: number) => void,
  waiting: Waiting,
): Promise<T> {
  const { clock, signal } = waiting
  const end = clock.now() + patienceMs
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!isTransient(error) || clock.now() >= end || signal.aborted) throw error
    }
    const next = clock.now() + askAgainMs
    tell(next)
    await waitUntil(next, waiting)
  }
}

/** Whether an error says no more than that there was no answer. */
export function isTransient(error: unknown): boolean {
  return error instanceof EdgewiseError && error.code === 'service-failed'
}
