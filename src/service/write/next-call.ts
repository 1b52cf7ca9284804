import type { Period } from '../../model/outcome.ts'
import { sumCounts, type EndedCalls } from './ended-calls.ts'

/** Maximum number of calls in any window of this length, ms. */
export interface CallLimit {
  calls: number
  /** At most a minute. */
  windowMs: number
}

/** Usage of a budget; times by the monotonic clock, ms. */
export interface BudgetUsage {
  /** Calls in flight. */
  running: number
  /** When answers came, or calls were aborted; ascending. */
  ended: EndedCalls[]
  /** Time before which the service allows no call; -Infinity for none. */
  earliest: number
}

/** A wait for the next call. */
export interface BudgetWait {
  ms: number
  /** Calls of the window, which use up its limit. */
  used: number
  windowMs: number
  /** Period of which the service allows no more calls; null if it does. */
  period: Period | null
}

/**
 * Computes when the next call may be sent: a time in ms, `now` for at once, or null if a call in
 * flight has to end first. A call counts from its end for the whole window of a limit, so that the
 * service never sees more arrivals in it, however long the network takes. The strictest of these
 * limits and the one of the service applies (specification, "Limits": call rate).
 */
export function computeNextCallAt(
  spent: BudgetUsage,
  limits: CallLimit[],
  now: number,
): number | null {
  let next = Math.max(now, spent.earliest)
  for (const limit of limits) {
    const at = computeFreeAt(spent, limit, now)
    if (at === null) return null
    next = Math.max(next, at)
  }
  return next
}

/** Computes when one limit allows the next call; null if a call in flight has to end first. */
function computeFreeAt(
  { ended, running }: BudgetUsage,
  { calls, windowMs }: CallLimit,
  now: number,
): number | null {
  const recent = ended.filter(({ time }) => time > now - windowMs)
  let over = sumCounts(recent) + running - calls
  if (over < 0) return now
  for (const { time, count } of recent) {
    over -= count
    if (over < 0) return time + windowMs
  }
  return null
}
