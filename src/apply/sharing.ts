import type { Clock } from '../model/clock.ts'

const everyMs = 10_000

/** Outcomes on their way to where other machines look. */
export interface Sharing {
  /** Something was recorded: it is shared within ten seconds. */
  schedule(): void
  /**
   * Shares what is left. Says why that failed, or failed before; null when everything is shared.
   */
  end(): Promise<string | null>
}

/**
 * Shares outcomes at least every ten seconds.
 *
 * @param share null where nothing has to be shared
 * @param failed told as soon as sharing fails
 */
export function startSharing(
  share: (() => Promise<void>) | null,
  clock: Clock,
  failed: (why: string) => void,
): Sharing {
  if (share === null) return { schedule: () => {}, end: async () => null }
  const ended = new AbortController()
  let [due, last]: [Promise<void> | null, number] = [null, clock.monotonic()]
  // The apply is ending then: outcomes of what is under way do not wait for one try after the
  // other.
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
    await clock.sleep(Math.max(0, last + everyMs - clock.monotonic()), ended.signal, 'sharing')
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
