import { EdgewiseError } from '../../model/edgewise-error.ts'
import { periodMs, type Limits } from '../../model/outcome.ts'
import type { Clock } from '../../model/clock.ts'
import { ServiceLimits } from '../service-limits.ts'
import { WaitQueue } from '../write/wait-queue.ts'

/** Maximum number of queries in flight. */
const maxInFlight = 4

/**
 * Paces queries: limits those in flight, and sends no more than the service's headers allow
 * (specification, "Limits": only these headers have the limits of queries). Queries do not use the
 * call budget of writes.
 */
export class QueryPace {
  readonly #clock: Clock
  readonly #maxWaitMs: number
  readonly #onWait: (ms: number) => void
  #inFlight = 0
  readonly #service = new ServiceLimits()
  /** End of the wait that was reported last, monotonic clock, ms. */
  #reportedUntilMs = 0
  readonly #waiting = new WaitQueue()

  /**
   * @param maxWaitMs longest wait; a longer one is refused
   * @param onWait called with each wait that the service demands, ms
   */
  constructor(clock: Clock, maxWaitMs: number, onWait: (ms: number) => void = () => undefined) {
    this.#clock = clock
    this.#maxWaitMs = maxWaitMs
    this.#onWait = onWait
  }

  /**
   * Waits until a query may be sent.
   *
   * @throws EdgewiseError `service-failed` if the wait would be too long, `declined` if
   *   interrupted
   */
  async acquire(signal?: AbortSignal): Promise<void> {
    for (;;) {
      refuseInterrupted(signal)
      const nowMs = this.#clock.monotonic()
      const { untilMs = nowMs } = this.#service.findUsedUp(nowMs) ?? {}
      const wait = untilMs - nowMs
      if (this.#inFlight >= maxInFlight) {
        await this.#waiting.wait(signal)
      } else if (wait === 0) {
        this.#inFlight++
        this.#service.begin()
        return
      } else if (this.#inFlight > 0) {
        // Queries in flight are subtracted; their answers may show that more are left.
        await this.#waiting.waitUpTo(Math.min(wait, this.#maxWaitMs), this.#clock, signal)
      } else if (wait > this.#maxWaitMs) {
        throw createTooLongError(wait, this.#maxWaitMs)
      } else {
        if (this.#reportedUntilMs !== untilMs) this.#onWait(wait)
        this.#reportedUntilMs = untilMs
        await this.#clock.sleep(wait, signal)
      }
    }
  }

  /** Ends an acquired query; `limits` are those of its answer. */
  release(limits?: Limits): void {
    this.#inFlight--
    if (limits !== undefined) this.#service.update(limits, this.#inFlight, this.#clock.monotonic())
    this.#waiting.wakeAll()
  }

  /** Pauses all queries after a throttled one, for `ms`; a minute if the service sent no time. */
  pause(ms: number | null): void {
    const resetMs = Math.max(1000, ms ?? periodMs.minute)
    this.#service.update({ remaining: 0, resetMs }, 0, this.#clock.monotonic())
  }
}

/** @throws EdgewiseError `declined` if the signal is aborted */
export function refuseInterrupted(signal?: AbortSignal): void {
  if (signal?.aborted === true) throw new EdgewiseError('declined', 'interrupted')
}

function createTooLongError(waitMs: number, maxWaitMs: number): EdgewiseError {
  return new EdgewiseError(
    'service-failed',
    `the service accepts no more queries for ${Math.ceil(waitMs / 1000)} s; expected at most ` +
      `${Math.floor(maxWaitMs / 1000)} s`,
    'Run the command again later, or raise limits.maxWaitSeconds in edgewise.yaml.',
  )
}
