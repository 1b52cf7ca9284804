import type { Clock } from '../../model/clock.ts'
import type { Limits } from '../../model/outcome.ts'
import { WaitQueue } from './wait-queue.ts'

const minute = 60_000

/** The calls that count against a budget; times by the monotonic clock, ms. */
export interface BudgetUsage {
  /** Calls that have not been answered yet. */
  running: number
  /** When each answer came, or the call was given up; ascending. */
  ended: number[]
  /** What the service said of itself: so many more calls until then. */
  service: { countAvailable: number; until: number }
}

/**
 * When the next call may be sent: a time in ms, `now` when at once, or null when first a running
 * call has to end. A call counts from its end for a whole minute, so that the service never sees
 * more than `limit` arrivals in 60 seconds however long the network takes. The stricter of this
 * count and the service's own holds (specification, "Limits": call rate).
 */
export function computeNextCallAt(spent: BudgetUsage, limit: number, now: number): number | null {
  const earliest = spent.service.countAvailable > 0 ? now : Math.max(now, spent.service.until)
  const recent = spent.ended.filter((time) => time > now - minute)
  const over = recent.length + spent.running - limit
  if (over < 0) return earliest
  const frees = recent[over]
  return frees === undefined ? null : Math.max(earliest, frees + minute)
}

/** The calls that still count: those of the last minute, ascending. */
function lastMinute(times: number[], now: number): number[] {
  return times.filter((time) => time > now - minute).toSorted((a, b) => a - b)
}

/**
 * Hands out calls so that the call rate holds; knows the calls of earlier processes and tells later
 * ones. All times are of the monotonic clock, since the wall clock may be set at any time.
 */
export class CallBudget {
  /** A longer wait is refused, ms. */
  readonly maxWaitMs: number
  readonly #limit: number
  readonly #clock: Clock
  readonly #remember: (times: number[]) => Promise<void>
  readonly #spent: BudgetUsage
  readonly #waiting = new WaitQueue()

  /**
   * @param limit calls a minute
   * @param maxWaitMs a longer wait is refused
   * @param earlier times of calls that other processes made
   * @param remember keeps the times of calls durably
   * @param lateMs so long a call may still be under way to the service that a process had sent when
   * it died
   */
  constructor(
    limit: number,
    maxWaitMs: number,
    clock: Clock,
    earlier: number[],
    remember: (times: number[]) => Promise<void>,
    lateMs = 0,
  ) {
    this.maxWaitMs = maxWaitMs
    this.#limit = limit
    this.#clock = clock
    this.#remember = remember
    const now = clock.monotonic()
    // A time from the future is that of a call that nobody heard of any more: it arrives by then at
    // the latest.
    const known = earlier.map((time) => (time > now ? now + lateMs : time))
    this.#spent = {
      running: 0,
      ended: lastMinute(known, now),
      service: { countAvailable: 1, until: 0 },
    }
  }

  /** How many calls could be sent at once. */
  countAvailable(): number {
    const now = this.#clock.monotonic()
    const ours =
      this.#limit -
      this.#spent.running -
      this.#spent.ended.filter((time) => time > now - minute).length
    return Math.max(
      0,
      this.#spent.service.countAvailable <= 0 && this.#spent.service.until > now ? 0 : ours,
    )
  }

  /** How long until the next call may be sent, ms; null while that depends on a running call. */
  computeWaitMs(): number | null {
    const now = this.#clock.monotonic()
    const at = computeNextCallAt(this.#spent, this.#limit, now)
    return at === null ? null : at - now
  }

  /**
   * Waits for a call. False when the wait would be too long or was interrupted; then nothing may be
   * sent.
   */
  async acquire(signal?: AbortSignal): Promise<boolean> {
    for (;;) {
      if (signal?.aborted === true) return false
      const wait = this.computeWaitMs()
      if (wait === null) {
        await this.#waiting.wait(signal)
      } else if (wait === 0) {
        this.#spent.running++
        this.#spent.service.countAvailable--
        await this.#save()
        return true
      } else if (wait > this.maxWaitMs && this.#spent.running === 0) {
        return false
      } else {
        // The calls under way are counted against what the service said remains, though it may have
        // counted some of them too: each answer says it anew, and may shorten the wait.
        await this.#waiting.waitUpTo(Math.min(wait, this.maxWaitMs), this.#clock, signal)
      }
    }
  }

  /**
   * A call has ended. `arrived` is false when it certainly never reached the service; `limits` is
   * what the answer said.
   */
  async release(arrived: boolean, limits?: Limits): Promise<void> {
    const now = this.#clock.monotonic()
    this.#spent.running--
    if (arrived) this.#spent.ended = lastMinute([...this.#spent.ended, now], now)
    const { remaining = null, resetMs = null } = limits ?? {}
    if (remaining !== null)
      this.#spent.service = {
        countAvailable: remaining - this.#spent.running,
        until: now + (resetMs ?? minute),
      }
    this.#waiting.wakeAll()
    await this.#save()
  }

  /**
   * A call that is under way has a time in the future: should this process die, the next one counts
   * it as of its own start.
   */
  #save(): Promise<void> {
    const running = Array.from(
      { length: this.#spent.running },
      () => this.#clock.monotonic() + minute,
    )
    return this.#remember([...this.#spent.ended, ...running])
  }
}
