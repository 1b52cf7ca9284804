import type { Clock } from '../../core/model/time/clock.ts'

const intervalMs = 10_000

/** Sharing of outcomes with other machines. */
export interface Sharing {
  /** Schedules the sharing of a recorded outcome within ten seconds. */
  schedule(): void
  /** Shares the rest. Returns a failure; null if everything is shared. */
  end(): Promise<Error | null>
}

/**
 * Shares outcomes at least every ten seconds.
 *
 * @param share null if nothing has to be shared
 * @param onFailure called as soon as sharing fails
 */
export function startSharing(
  share: (() => Promise<void>) | null,
  clock: Clock,
  onFailure: (failure: Error) => void,
): Sharing {
  if (share === null) return { schedule: () => {}, end: async () => null }
  const ended = new AbortController()
  let [scheduled, lastMs]: [Promise<void> | null, number] = [null, clock.monotonic()]
  // After a failure the apply ends; outcomes of calls in flight are shared at the end, not one by
  // one.
  let hasFailed = false
  const shareNow = async (): Promise<Error | null> => {
    lastMs = clock.monotonic()
    try {
      await share()
      return null
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return error
    }
  }
  const shareSoon = async () => {
    await clock.sleep(Math.max(0, lastMs + intervalMs - clock.monotonic()), ended.signal, 'sharing')
    scheduled = null
    if (ended.signal.aborted) return
    const failure = await shareNow()
    if (failure === null) return
    hasFailed = true
    onFailure(failure)
  }
  return {
    schedule: () => {
      if (!hasFailed) scheduled ??= shareSoon()
    },
    end: async () => {
      ended.abort()
      await scheduled
      return shareNow()
    },
  }
}
