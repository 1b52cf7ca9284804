import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Limits } from '../../model/outcome.ts'
import type { Clock } from '../../model/clock.ts'
import { WaitQueue } from '../write/wait-queue.ts'

const minute = 60_000
/** Queries at a time. */
const maxInFlight = 4

/**
 * Paces queries: a few in flight, and as many as the service's own headers leave (specification,
 * "Limits": the limits of queries stand in these headers and nowhere else). Queries cost nothing of
 * the call budget of writes.
 */
export class QueryPace {
  readonly #clock: Clock
  readonly #maxWaitMs: number
  readonly #onWait: (ms: number) => void
  #inFlight = 0
  #left = Infinity
  /** When the count resets, monotonic clock, ms. */
  #resetAtMs = 0
  /** The end of the wait that was reported last. */
  #reportedUntilMs = 0
  readonly #waiting = new WaitQueue()

  /**
   * @param maxWaitMs a longer wait is refused
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
   * @throws EdgewiseError `service-failed` when the wait would be too long, `declined` when
   *   interrupted
   */
  async acquire(signal?: AbortSignal): Promise<void> {
    for (;;) {
      refuseInterrupted(signal)
      const wait = this.#resetAtMs - this.#clock.monotonic()
      if (wait <= 0) this.#left = Math.max(this.#left, 1)
      if (this.#inFlight >= maxInFlight) {
        await this.#waiting.wait(signal)
      } else if (this.#left > 0) {
        this.#inFlight++
        this.#left--
        return
      } else if (this.#inFlight > 0) {
        // What remains is less the queries in flight, some of which the service may have counted.
        await this.#waiting.waitUpTo(Math.min(wait, this.#maxWaitMs), this.#clock, signal)
      } else if (wait > this.#maxWaitMs) {
        throw tooLong(wait, this.#maxWaitMs)
      } else {
        if (this.#reportedUntilMs !== this.#resetAtMs) this.#onWait(wait)
        this.#reportedUntilMs = this.#resetAtMs
        await this.#clock.sleep(wait, signal)
      }
    }
  }

  /** Ends a query that was acquired; `limits` are those of its answer. */
  release(limits?: Limits): void {
    this.#inFlight--
    const { remaining = null, resetMs = null } = limits ?? {}
    if (remaining !== null) {
      this.#left = remaining - this.#inFlight
      this.#resetAtMs = this.#clock.monotonic() + (resetMs ?? minute)
    }
    this.#waiting.wakeAll()
  }

  /**
   * Pauses all queries after one was throttled: for `ms`, or a minute when the service names none.
   */
  pause(ms: number | null): void {
    this.#left = 0
    this.#resetAtMs = this.#clock.monotonic() + Math.max(1000, ms ?? minute)
  }
}

/** @throws EdgewiseError `declined` once the signal is aborted */
export function refuseInterrupted(signal?: AbortSignal): void {
  if (signal?.aborted === true) throw new EdgewiseError('declined', 'interrupted')
}

function tooLong(wait: number, longest: number): EdgewiseError {
  return new EdgewiseError(
    'service-failed',
    `the service lets no more reads through for ${Math.ceil(wait / 1000)} s; expected at most ${Math.floor(longest / 1000)} s`,
    'Ask again later, or raise limits.maxWaitSeconds in edgewise.yaml.',
  )
}
