import type { Clock } from '../../model/clock.ts'

/** Creates what loads something once for all who ask for it at the same time, and soon after. */
export function createShared<T>(clock: Pick<Clock, 'monotonic'>, load: () => Promise<T>) {
  let loading: Promise<T> | null = null
  let last: { value: T; key: string; sinceMs: number } | null = null
  const begin = (key: string): Promise<T> => {
    const own = load()
      .then((value) => {
        // What was begun before a change is not kept.
        if (loading === own) last = { value, key, sinceMs: clock.monotonic() }
        return value
      })
      .finally(() => {
        if (loading === own) loading = null
      })
    loading = own
    return own
  }
  return {
    /** @param key returns what was loaded before only for the same one */
    get: async (maxMs: number, key: string): Promise<T> =>
      last?.key === key && clock.monotonic() - last.sinceMs < maxMs
        ? last.value
        : (loading ?? begin(key)),
    /** Loads it anew for those who ask from now on. */
    forget: (): void => {
      last = null
      loading = null
    },
  }
}
