import { findMin } from '../../core/model/lists.ts'
import type { CallLedger } from '../../core/model/call-ledger.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { Limits } from '../../core/model/outcome.ts'
import { ServiceLimits, type UsedUp } from '../service-limits.ts'
import {
  filterLastMinute,
  minute,
  sumCounts,
  type EndedCalls,
  computeNextCallAt,
  type BudgetUsage,
  type BudgetWait,
  type CallLimit,
} from './next-call.ts'
import { OtherProcesses } from './other-processes.ts'
import { WaitQueue } from './wait-queue.ts'

/** Interval of looking for calls of other processes during a wait, ms. */
const pollMs = 1000
/** Shorter waits are not reported, ms. */
const minReportedMs = 2000
/** Calls that are saved together count from a time at most this much later, ms. */
const maxAheadMs = 1000

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
  readonly #lateMs: number
  readonly #spent: Omit<BudgetUsage, 'earliest'>
  readonly #service: ServiceLimits
  readonly #limits: CallLimit[]
  readonly #others: OtherProcesses
  /** Callers that wait for a call. */
  #wanted = 0
  readonly #waiting = new WaitQueue()
  /** End of the last wait that was reported, by the monotonic clock. */
  #reportedUntil = -Infinity
  /** Calls to save at once: one, or a hundredth of a high call rate. */
  readonly #chunk: number
  /** The last save: calls that it counts and that were not begun yet, and until when. */
  #saved = { ahead: 0, until: -Infinity }

  /**
   * @param maxWaitMs a longer wait is refused
   * @param earlier calls by other processes
   * @param remember saves the calls of this machine durably
   * @param lateMs grace period, ms, for calls in flight when their process died
   * @param ledger calls of processes that use the same call rate at the same time; null for none
   * @param burst a limit beside that of a minute; null for none
   * @param service limits that the service has reported so far
   */
  constructor(
    callsPerMinute: number,
    maxWaitMs: number,
    clock: Clock,
    earlier: EndedCalls[],
    remember: (ended: EndedCalls[]) => Promise<void>,
    lateMs = 0,
    ledger: CallLedger | null = null,
    burst: CallLimit | null = null,
    service = new ServiceLimits(),
  ) {
    this.#service = service
    this.maxWaitMs = maxWaitMs
    this.callsPerMinute = callsPerMinute
    this.#clock = clock
    this.#remember = remember
    this.#lateMs = lateMs
    this.#others = new OtherProcesses(ledger, clock)
    const perMinute = { calls: callsPerMinute, windowMs: minute }
    this.#limits = burst === null ? [perMinute] : [perMinute, burst]
    this.#chunk = Math.max(1, Math.floor(findMin(this.#limits.map(({ calls }) => calls)) / 100))
    const now = clock.monotonic()
    // A time in the future belongs to a call in flight when its process died: it arrives within the
    // grace period of whoever saw that first.
    const known = earlier.map((each) => ({ ...each, time: Math.min(each.time, now + lateMs) }))
    const ended = filterLastMinute(known, now)
    this.#spent = { running: 0, ended }
  }

  /** Counts the calls that could be sent without waiting for another minute. */
  countAvailable(): number {
    return this.findUsedUp() === null ? Math.max(0, this.callsPerMinute - this.#countUsed()) : 0
  }

  /** Finds the period of which the service allows no more calls; null if it does. */
  findUsedUp(): UsedUp | null {
    return this.#service.findUsedUp(this.#clock.monotonic())
  }

  /**
   * Returns the wait until the next call may be sent, ms; null while it depends on a call in
   * flight.
   */
  computeWaitMs(): number | null {
    const now = this.#clock.monotonic()
    const [free, claims] = [this.#computeFreeMs(), this.#findClaims()]
    if (free === null || claims.length === 0) return free
    // The next claim may end unused, or more calls become free than others claim.
    const unclaimed = this.#computeFreeMs(claims.map(({ count }) => ({ time: now, count })))
    const unused = findMin(claims.map(({ time }) => time)) - now
    return Math.max(free, Math.min(unclaimed ?? Infinity, unused))
  }

  /** Computes that wait if others make so many calls first. */
  #computeFreeMs(first: EndedCalls[] = []): number | null {
    const now = this.#clock.monotonic()
    const ended = [...this.#spent.ended, ...this.#others.calls, ...first]
    ended.sort((a, b) => a.time - b.time)
    const earliest = this.findUsedUp()?.untilMs ?? -Infinity
    const at = computeNextCallAt({ ...this.#spent, ended, earliest }, this.#limits, now)
    return at === null ? null : at - now
  }

  /** Returns whether calls may still arrive that were in flight when their process died. */
  hasLateCalls(): boolean {
    const now = this.#clock.monotonic()
    return this.#spent.ended.some(({ time }) => time > now)
  }

  /**
   * Waits for a call. Returns false if the wait would be too long or was interrupted; nothing may
   * be sent then.
   *
   * @param onWait called with a wait of some seconds, for one of the callers that wait at the time
   */
  async acquire(signal?: AbortSignal, onWait?: (wait: BudgetWait) => void): Promise<boolean> {
    this.#wanted++
    return this.#acquire(signal, onWait).finally(() => this.#wanted--)
  }

  async #acquire(signal?: AbortSignal, onWait?: (wait: BudgetWait) => void): Promise<boolean> {
    for (;;) {
      if (signal?.aborted === true) return false
      const wait = this.computeWaitMs()
      if (wait === null) {
        await this.#waiting.wait(signal)
      } else if (wait === 0) {
        this.#spent.running++
        this.#service.begin()
        if (await this.#reserve()) return true
        this.#spent.running--
        this.#service.begin(-1)
        // Others may wait for the end of this call.
        this.#waiting.wakeAll()
      } else if (wait > this.maxWaitMs && this.#spent.running === 0) {
        return false
      } else {
        this.#reportWait(wait, onWait)
        // Calls in flight reduce the remainder that the service reported, although it may have
        // counted some of them: each answer reports it again, and may shorten the wait.
        const longestMs = this.#others.areThere() ? pollMs : this.maxWaitMs
        await this.#waiting.waitUpTo(Math.min(wait, longestMs), this.#clock, signal)
        await this.#others.load({ count: this.#wanted, inMs: this.#computeFreeMs() ?? wait })
      }
    }
  }

  #reportWait(ms: number, onWait?: (wait: BudgetWait) => void): void {
    const now = this.#clock.monotonic()
    if (ms < minReportedMs || now < this.#reportedUntil) return
    this.#reportedUntil = now + ms
    const usedUp = this.findUsedUp()
    const period = usedUp !== null && usedUp.untilMs >= now + ms ? usedUp.period : null
    const full = this.#limits.find(({ calls, windowMs }) => this.#countUsed(windowMs) >= calls)
    const windowMs = full?.windowMs ?? minute
    onWait?.({ ms, used: this.#countUsed(windowMs), windowMs, period })
  }

  /** Counts the calls of the last `windowMs`, those in flight and of other processes included. */
  #countUsed(windowMs = minute, others = this.#others.calls): number {
    const oldest = this.#clock.monotonic() - windowMs
    const { ended, running } = this.#spent
    return running + sumCounts([...ended, ...others].filter(({ time }) => time > oldest))
  }

  /** Finds the calls that others may make before those of this process, `next` calls included. */
  #findClaims(next = 0): EndedCalls[] {
    return this.#others.findClaims(this.#countUsed(minute, []) - next)
  }

  /** Returns whether the limits allow so many calls more. */
  #fits(more: number): boolean {
    return this.#limits.every(({ calls, windowMs }) => this.#countUsed(windowMs) + more <= calls)
  }

  /**
   * Saves a call that is about to be sent, unless an earlier save counts it; false if calls of
   * other processes forbid it.
   */
  async #reserve(): Promise<boolean> {
    if (this.#saved.ahead > 0 && this.#clock.monotonic() < this.#saved.until) {
      this.#saved.ahead--
      return true
    }
    for (const ahead of new Set([this.#chunk - 1, 0])) if (await this.#save(ahead)) return true
    return false
  }

  /**
   * Saves the calls so far and some ahead, so that not each call needs a save of its own; false if
   * the call rate forbids so many.
   */
  async #save(ahead: number): Promise<boolean> {
    // The call that it is about is in flight already.
    const allows = () => this.#fits(ahead + sumCounts(this.#findClaims(1)))
    if (ahead > 0 && !this.#fits(ahead)) return false
    // While another save is under way, neither counts calls ahead: the later one may be smaller.
    const saved = { ahead: 0, until: this.#clock.monotonic() + maxAheadMs }
    this.#saved = saved
    if (!(await this.#others.reserve(() => this.#listOwn(ahead), allows, this.#wanted)))
      return false
    await this.#remember(this.#listOwn(ahead))
    if (this.#saved === saved) saved.ahead = ahead
    return true
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
    if (limits !== undefined) this.#service.update(limits, this.#spent.running, now)
    this.#waiting.wakeAll()
    // The last save counts this call as in flight, longer than it has to.
    if (this.#chunk > 1 && now < this.#saved.until) return
    await this.#remember(this.#listOwn())
    await this.#others.record(() => this.#listOwn())
  }

  /** Ends the use of the budget: other processes with the same calls wait for no more of it. */
  async end(): Promise<void> {
    await this.#others.load({ count: 0, inMs: 0 })
  }

  /**
   * Lists the times of this machine's calls. A call in flight gets a time in the future: if this
   * process dies, the next one counts the call from its own start.
   *
   * @param ahead calls that may begin without another save
   */
  #listOwn(ahead = 0): EndedCalls[] {
    const count = this.#spent.running + ahead
    const ended = this.#spent.ended.filter(({ isElsewhere }) => isElsewhere !== true)
    const aheadMs = this.#chunk > 1 ? maxAheadMs : 0
    const latest = this.#clock.monotonic() + Math.max(minute, this.#lateMs) + aheadMs
    return count === 0 ? ended : [...ended, { time: latest, count }]
  }
}
