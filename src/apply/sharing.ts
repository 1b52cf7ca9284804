import type { Clock } from '../model/clock.ts'

const everyMs = 10_000

/** Sharing of outcomes with other machines. */
export interface Sharing {
  /** Schedules the sharing of a recorded outcome within ten seconds. */
  schedule(): void
  /** Shares the rest. Returns the reason of a failure; null if everything is shared. */
  end(): Promise<string | null>
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
  failed: (why: string) => void,
): Sharing {
  if (share === null) return { schedule: () => {}, end: async () => null }
  const ended = new AbortController()
  let [due, last]: [Promise<void> | null, number] = [null, clock.monotonic()]
  // After a failure the apply ends; outcomes of calls in flight are shared at the end, not one by
  // one.
  let broken = false
  const once = async (): Promise<string | null> => {
    last = clock.monotonic()
    try {
      await share()
      return null
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return error.message
    }
  }
  const soon = async () => {
    await clock.sleep(Math.max(0, last + everyMs - clock.monotonic()), ended.signal)
    due = null
    if (ended.signal.aborted) return
    const why = await once()
    if (why === null) return
    broken = true
    failed(why)
  }
  return {
    schedule: () => {
      if (!broken) due ??= soon()
    },
    end: async () => {
      ended.abort()
      await due
      return once()
    },
  }
}
