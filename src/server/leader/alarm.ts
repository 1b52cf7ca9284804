import type { Clock } from '../../core/model/time/clock.ts'

export type Alarm = ReturnType<typeof createAlarm>

/** Creates a sleep that somebody else may end. */
export function createAlarm({
  clock,
  signal,
}: {
  clock: Pick<Clock, 'sleep'>
  signal: AbortSignal
}) {
  let nap = new AbortController()
  // Made once for each nap that is ended: the signal of the process remembers them all.
  let end = AbortSignal.any([signal, nap.signal])
  return {
    /** Ends the current sleep, or the next one if nobody sleeps. */
    ring: (): void => nap.abort(),
    /** Sleeps for some time, ms, or until it rings or the signal is aborted; returns if it rang. */
    sleep: async (ms: number): Promise<boolean> => {
      await clock.sleep(ms, end)
      if (!nap.signal.aborted) return false
      nap = new AbortController()
      end = AbortSignal.any([signal, nap.signal])
      return true
    },
  }
}
