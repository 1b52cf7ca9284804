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
  /** Budget reported by the service: `left` more calls until then. */
  service: { left: number; until: number }
}

/** A wait for the next call. */
export interface BudgetWait {
  ms: number
  /** Calls of the window, which use up its limit; null if the service allows no more. */
  used: number | null
  windowMs: number
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
  const earliest = spent.service.left > 0 ? now : Math.max(now, spent.service.until)
  let next = earliest
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
