import type { WaitingProcess } from '../../model/call-ledger.ts'
import type { EndedCalls } from './ended-calls.ts'

/** A process that expects a call this soon, ms, counts as waiting: it knows the calls later. */
const soonMs = 2000

/**
 * Finds the calls that others may make first: those of waiting processes with fewer calls of the
 * last minute, up to the number of this one. So the process with the fewest calls is never kept
 * from a free one, and one that can't use it yet, or is gone, keeps no other from it. Each has the
 * time at which the claim ends.
 *
 * @param used calls of this process in the last minute
 */
export function findClaims(used: number, waiting: WaitingProcess[], now: number): EndedCalls[] {
  return waiting
    .filter((other) => other.used < used && other.from <= now + soonMs && other.until > now)
    .map((other) => ({ time: other.until, count: Math.min(other.wanted, used - other.used) }))
}
