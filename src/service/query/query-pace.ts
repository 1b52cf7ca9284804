import { EdgewiseError, InterruptedError } from '../../core/model/edgewise-error.ts'
import { periodMs, type Limits } from '../../core/model/outcome.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { ServiceLimits } from '../service-limits.ts'
import { filterLastMinute, minute, type EndedCalls, computeNextCallAt } from '../write/next-call.ts'
import { WaitQueue } from '../write/wait-queue.ts'

/** Maximum number of queries in flight. */
const maxInFlight = 4

export interface QueryPaceOptions {
  clock: Clock
  /** Longest wait that the service may demand; a longer one is refused. */
  maxWaitMs: number
  /** Maximum number of queries in any minute; absent: as many as the service allows. */
  perMinute?: number
  /** Called with each wait that the service demands, ms. */
  onWait?: (ms: number) => void
}

/**
 * Paces queries: limits those in flight and those of a minute, and sends no more than the service's
 * headers allow (specification, "Limits": only these headers have the limits of queries). A query
 * counts until a minute after its answer, since it is not known when the service counted it.
 * Queries do not use the call budget of writes.
 */
export class QueryPace {
  readonly #options: QueryPaceOptions
  readonly #service = new ServiceLimits()
  readonly #waiting = new WaitQueue()
  #inFlight = 0
  /** Queries of the last minute, if their number is limited. */
  #ended: EndedCalls[] = []
  /** End of the wait that was reported last, monotonic clock, ms. */
  #reportedUntilMs = 0

  constructor(options: QueryPaceOptions) {
    this.#options = options
  }

  /**
   * Waits until a query may be sent.
   *
   * @throws EdgewiseError `service-failed` if the wait would be too long, `declined` if
   *   interrupted
   */
  async acquire(signal?: AbortSignal): Promise<void> {
    const { clock, maxWaitMs, onWait = () => undefined } = this.#options
    for (;;) {
      refuseInterrupted(signal)
      const nowMs = clock.monotonic()
      const freeMs = this.#findFreeMs(nowMs)
      const { untilMs = nowMs } = this.#service.findUsedUp(nowMs) ?? {}
      const wait = untilMs - nowMs
      if (this.#inFlight >= maxInFlight || freeMs === null) {
        await this.#waiting.wait(signal)
      } else if (freeMs > nowMs) {
        await clock.sleep(freeMs - nowMs, signal)
      } else if (wait === 0) {
        this.#inFlight++
        this.#service.begin()
        return
      } else if (this.#inFlight > 0) {
        // Queries in flight are subtracted; their answers may show that more are left.
        await this.#waiting.waitUpTo(Math.min(wait, maxWaitMs), clock, signal)
      } else if (wait > maxWaitMs) {
        throw createTooLongError(wait, maxWaitMs)
      } else {
        if (this.#reportedUntilMs !== untilMs) onWait(wait)
        this.#reportedUntilMs = untilMs
        await clock.sleep(wait, signal)
      }
    }
  }

  /** Finds when the number of a minute allows a query; null if one in flight has to end first. */
  #findFreeMs(nowMs: number): number | null {
    const { perMinute: calls = Infinity } = this.#options
    const usage = { running: this.#inFlight, ended: this.#ended, earliest: -Infinity }
    return computeNextCallAt(usage, [{ calls, windowMs: minute }], nowMs)
  }

  /** Ends an acquired query; `limits` are those of its answer. */
  release(limits?: Limits): void {
    this.#inFlight--
    const nowMs = this.#options.clock.monotonic()
    if (this.#options.perMinute !== undefined)
      this.#ended = filterLastMinute([...this.#ended, { time: nowMs, count: 1 }], nowMs)
    if (limits !== undefined) this.#service.update(limits, this.#inFlight, nowMs)
    this.#waiting.wakeAll()
  }

  /** Pauses all queries after a throttled one, for `ms`; a minute if the service sent no time. */
  pause(ms: number | null): void {
    const resetMs = Math.max(1000, ms ?? periodMs.minute)
    this.#service.update({ remaining: 0, resetMs }, 0, this.#options.clock.monotonic())
  }
}

/** @throws EdgewiseError `declined` if the signal is aborted */
export function refuseInterrupted(signal?: AbortSignal): void {
  if (signal?.aborted === true) throw new InterruptedError()
}

function createTooLongError(waitMs: number, maxWaitMs: number): EdgewiseError {
  return new EdgewiseError(
    'service-failed',
    `the service accepts no more queries for ${Math.ceil(waitMs / 1000)} s; expected at most ` +
      `${Math.floor(maxWaitMs / 1000)} s`,
    'Run the command again later, or raise limits.maxWaitSeconds in edgewise.yaml.',
  )
}
