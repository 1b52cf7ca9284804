import type { Clock } from '../../model/clock.ts'
import type { Limits } from '../../model/outcome.ts'
import { WaitQueue } from './wait-queue.ts'

const minute = 60_000
/** Calls are kept one by one up to this number of entries, then together for each slot. */
const maxEntries = 600
const slotMs = 100
/** Shorter waits are not reported, ms. */
const minReportedMs = 2000

/** Calls that ended at the same time, by the monotonic clock, ms. */
export interface EndedCalls {
  time: number
  count: number
  /** Calls of another machine: the budget counts them, but does not save them. */
  isElsewhere?: true
}

/** A wait for the next call. */
export interface BudgetWait {
  ms: number
  /** Calls of the last minute, which use up the call rate; null if the service allows no more. */
  used: number | null
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

/**
 * Computes when the next call may be sent: a time in ms, `now` for at once, or null if a call in
 * flight has to end first. A call counts from its end for a whole minute, so that the service never
 * sees more than `limit` arrivals in 60 seconds, however long the network takes. The stricter of
 * this count and the one of the service applies (specification, "Limits": call rate).
 */
export function computeNextCallAt(spent: BudgetUsage, limit: number, now: number): number | null {
  const earliest = spent.service.left > 0 ? now : Math.max(now, spent.service.until)
  const recent = spent.ended.filter(({ time }) => time > now - minute)
  let over = sumCounts(recent) + spent.running - limit
  if (over < 0) return earliest
  for (const { time, count } of recent) {
    over -= count
    if (over < 0) return Math.max(earliest, time + minute)
  }
  return null
}

/**
 * Returns the calls of the last minute, which still count; ascending. Beyond `maxEntries` the calls
 * of a slot count from the last of them, so that time and memory do not grow with the call rate.
 */
function filterLastMinute(ended: EndedCalls[], now: number): EndedCalls[] {
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

function sumCounts(ended: EndedCalls[]): number {
  return ended.reduce((sum, { count }) => sum + count, 0)
}

/**
 * Limits calls to the call rate, across processes. All times are of the monotonic clock, since the
 * wall clock may be set at any time.
 */
export class CallBudget {
  /** Maximum wait, ms; a longer one is refused. */
  readonly maxWaitMs: number
  readonly callsPerMinute: number
  readonly #clock: Clock
  readonly #remember: (ended: EndedCalls[]) => Promise<void>
  readonly #spent: BudgetUsage
  readonly #waiting = new WaitQueue()
  /** End of the last wait that was reported, by the monotonic clock. */
  #reportedUntil = -Infinity

  /**
   * @param maxWaitMs a longer wait is refused
   * @param earlier calls by other processes
   * @param remember saves the calls of this machine durably
   * @param lateMs grace period, ms, for calls in flight when their process died
   */
  constructor(
    callsPerMinute: number,
    maxWaitMs: number,
    clock: Clock,
    earlier: EndedCalls[],
    remember: (ended: EndedCalls[]) => Promise<void>,
    lateMs = 0,
  ) {
    this.maxWaitMs = maxWaitMs
    this.callsPerMinute = callsPerMinute
    this.#clock = clock
    this.#remember = remember
    const now = clock.monotonic()
    // A time in the future belongs to a call in flight when its process died: it arrives within the
    // grace period.
    const known = earlier.map((calls) => ({
      ...calls,
      time: calls.time > now ? now + lateMs : calls.time,
    }))
    this.#spent = {
      running: 0,
      ended: filterLastMinute(known, now),
      service: { left: 1, until: 0 },
    }
  }

  /** Counts the calls that could be sent at once. */
  countAvailable(): number {
    const now = this.#clock.monotonic()
    const ours =
      this.callsPerMinute -
      this.#spent.running -
      sumCounts(this.#spent.ended.filter(({ time }) => time > now - minute))
    return Math.max(0, this.#spent.service.left <= 0 && this.#spent.service.until > now ? 0 : ours)
  }

  /**
   * Returns the wait until the next call may be sent, ms; null while it depends on a call in
   * flight.
   */
  computeWaitMs(): number | null {
    const now = this.#clock.monotonic()
    const at = computeNextCallAt(this.#spent, this.callsPerMinute, now)
    return at === null ? null : at - now
  }

  /**
   * Waits for a call. Returns false if the wait would be too long or was interrupted; nothing may
   * be sent then.
   *
   * @param onWait called with a wait of some seconds, for one of the callers that wait at the time
   */
  async acquire(signal?: AbortSignal, onWait?: (wait: BudgetWait) => void): Promise<boolean> {
    for (;;) {
      if (signal?.aborted === true) return false
      const wait = this.computeWaitMs()
      if (wait === null) {
        await this.#waiting.wait(signal)
      } else if (wait === 0) {
        this.#spent.running++
        this.#spent.service.left--
        await this.#save()
        return true
      } else if (wait > this.maxWaitMs && this.#spent.running === 0) {
        return false
      } else {
        this.#reportWait(wait, onWait)
        // Calls in flight reduce the remainder that the service reported, although it may have
        // counted some of them: each answer reports it again, and may shorten the wait.
        await this.#waiting.waitUpTo(Math.min(wait, this.maxWaitMs), this.#clock, signal)
      }
    }
  }

  #reportWait(ms: number, onWait?: (wait: BudgetWait) => void): void {
    const now = this.#clock.monotonic()
    if (ms < minReportedMs || now < this.#reportedUntil) return
    this.#reportedUntil = now + ms
    const { service, ended, running } = this.#spent
    const byService = service.left <= 0 && service.until >= now + ms
    onWait?.({ ms, used: byService ? null : sumCounts(ended) + running })
  }

  /**
   * Ends a call. `arrived` is false if it certainly never reached the service; `limits` are those
   * of the answer.
   */
  async release(arrived: boolean, limits?: Limits): Promise<void> {
    const now = this.#clock.monotonic()
    this.#spent.running--
    if (arrived)
      this.#spent.ended = filterLastMinute([...this.#spent.ended, { time: now, count: 1 }], now)
    const { remaining = null, resetMs = null } = limits ?? {}
    if (remaining !== null)
      this.#spent.service = {
        left: remaining - this.#spent.running,
        until: now + (resetMs ?? minute),
      }
    this.#waiting.wakeAll()
    await this.#save()
  }

  /**
   * Saves the times of this machine's calls. A call in flight gets a time in the future: if this process dies, the
   * next one counts the call from its own start.
   */
  #save(): Promise<void> {
    const { running } = this.#spent
    const ended = this.#spent.ended.filter(({ isElsewhere }) => isElsewhere !== true)
    const inFlight = { time: this.#clock.monotonic() + minute, count: running }
    return this.#remember(running === 0 ? ended : [...ended, inFlight])
  }
}
