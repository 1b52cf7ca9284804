/** How the call rate stands, as the rate-limit headers say it. */
export interface CallCount {
  limit: number
  remaining: number
  /** Whole seconds until the oldest counted call no longer counts. */
  resetSeconds: number
}

const windowMs = 60_000
/** What the headers say where nothing is limited. */
export const unlimitedCount: CallCount = { limit: 1_000_000, remaining: 1_000_000, resetSeconds: 0 }

/**
 * The calls that count at `now`: those of the last 60 seconds. A call that was counted later than
 * `now` (the clock went back) counts as one of now, so that the window neither forgets it nor stays
 * full until the clock catches up.
 */
export function filterRecentCalls(times: number[], now: number): number[] {
  return times.map((time) => Math.min(time, now)).filter((time) => now - time < windowMs)
}

/**
 * The count at `now` against a limit of calls per minute; 0 limits nothing (specification,
 * "Limits").
 */
export function countCalls(times: number[], limit: number, now: number): CallCount {
  if (limit === 0) return unlimitedCount
  const recent = filterRecentCalls(times, now)
  const oldest = recent.reduce((least, time) => Math.min(least, time), Infinity)
  const resetSeconds = recent.length === 0 ? 0 : Math.ceil((oldest + windowMs - now) / 1000)
  return { limit, remaining: Math.max(0, limit - recent.length), resetSeconds }
}
