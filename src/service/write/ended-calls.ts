/** Time for which a call counts, ms. */
export const minute = 60_000
/** Calls are kept one by one up to this number of entries, then together for each slot. */
const maxEntries = 600
const slotMs = 100

/** Calls that ended at the same time, by the monotonic clock, ms. */
export interface EndedCalls {
  time: number
  count: number
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
