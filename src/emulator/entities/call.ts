import type { Domain, ItemKey } from '../../core/model/item.ts'

/**
 * One call that the emulator answered, as listed by its control surface. Never contains the token:
 * the path has no query.
 */
export interface Call {
  /** Time of arrival, ms. */
  time: number
  method: string
  path: string
  /** HTTP status of the answer. */
  status: number
  /** `code` of the answer's envelope. */
  code: number
  /** Domains and (canonical) items of the call, as far as they could be parsed. */
  domains: Domain[]
  items: ItemKey[]
}

/** Maximum number of calls kept for the control surface. */
export const maxCallsKept = 10_000

/** State of the call rate, as in the rate-limit headers. */
export interface CallCount {
  limit: number
  remaining: number
  /** Whole seconds until the oldest counted call no longer counts. */
  resetSeconds: number
}

const windowMs = 60_000
/** Values of the headers without a limit. */
export const unlimitedCount: CallCount = { limit: 1_000_000, remaining: 1_000_000, resetSeconds: 0 }

/**
 * Returns the calls of the last `ms`, 60 seconds by default, which count at `now`. A call with a
 * later time (the clock was set back) counts as made at `now`, so that the window neither forgets
 * it nor stays full until the clock catches up.
 */
export function filterRecentCalls(times: number[], now: number, ms = windowMs): number[] {
  return times.map((time) => Math.min(time, now)).filter((time) => now - time < ms)
}

/**
 * Counts the calls at `now` against a limit of calls in `ms`, a minute by default; 0 is unlimited
 * (specification, "Limits").
 */
export function countCalls(times: number[], limit: number, now: number, ms = windowMs): CallCount {
  if (limit === 0) return unlimitedCount
  const recent = filterRecentCalls(times, now, ms)
  const oldest = recent.reduce((least, time) => Math.min(least, time), Infinity)
  const resetSeconds = recent.length === 0 ? 0 : Math.ceil((oldest + ms - now) / 1000)
  return { limit, remaining: Math.max(0, limit - recent.length), resetSeconds }
}
