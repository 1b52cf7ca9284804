import type { TimedCalls } from '../../core/model/call-ledger.ts'
import type { Period } from '../../core/model/outcome.ts'

/** Time for which a call counts, ms. */
export const minute = 60_000
/** Calls are kept one by one up to this number of entries, then together for each slot. */
const maxEntries = 600
const slotMs = 100

/** Calls that ended at the same time; some are of another machine. */
export interface EndedCalls extends TimedCalls {
  /** Calls of another machine: the budget counts them, but does not save them. */
  isElsewhere?: true
}

/**
 * Returns the calls of the last minute, which still count; ascending. Beyond `maxEntries` the calls
 * of a slot count from the last of them, so that time and memory do not grow with the call rate.
 */
export function filterLastMinute(ended: EndedCalls[], now: number): EndedCalls[] {
  const recent = ended.filter(({ time }) => time > now - minute)
  recent.sort((a, b) => a.time - b.time)
  const getSlot = (time: number) => (recent.length > maxEntries ? Math.ceil(time / slotMs) : time)
  const merged: EndedCalls[] = []
  for (const calls of recent) {
    const { time, count, isElsewhere } = calls
    const last = merged.at(-1)
    const areOwn = last?.isElsewhere !== true && isElsewhere !== true
    if (last !== undefined && areOwn && getSlot(last.time) === getSlot(time))
      merged.splice(-1, 1, { time, count: last.count + count })
    else merged.push(calls)
  }
  return merged
}

/** Counts calls. */
export function sumCounts(ended: EndedCalls[]): number {
  return ended.reduce((sum, { count }) => sum + count, 0)
}

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
