import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Limits } from '../../model/outcome.ts'
import type { Clock } from '../../model/clock.ts'
import { Waiters } from '../write/waiters.ts'

const minute = 60_000
/** Reads at a time. */
const mostInFlight = 4

/**
 * Hands out reads: a few in flight, and as many as the service's own headers leave (specification, "Limits": the limits of reads are
 * told there and nowhere else). Reads do not count against the call budget of writes.
 */
export class ReadPace {
  readonly #clock: Clock
  readonly #longestWaitMs: number
  readonly #waits: (ms: number) => void
  #running = 0
  #left = Infinity
  /** When the count resets, monotonic clock, ms. */
  #until = 0
  /** The end of the wait that was told last. */
  #toldUntil = 0
  readonly #waiting = new Waiters()

  /**
   * @param longestWaitMs a longer wait is refused
   * @param waits hears how long nothing is read because the service wants it so
   */
  constructor(clock: Clock, longestWaitMs: number, waits: (ms: number) => void = () => undefined) {
    this.#clock = clock
    this.#longestWaitMs = longestWaitMs
    this.#waits = waits
  }

  /**
   * Waits until a read may be sent.
   *
   * @throws EdgewiseError `service-failed` when the wait would be too long, `declined` when it was interrupted
   */
  async take(signal?: AbortSignal): Promise<void> {
    for (;;) {
      refuseInterrupted(signal)
      const wait = this.#until - this.#clock.monotonic()
      if (wait <= 0) this.#left = Math.max(this.#left, 1)
      if (this.#running >= mostInFlight) {
        await this.#waiting.wait(signal)
      } else if (this.#left > 0) {
        this.#running++
        this.#left--
        return
      } else if (this.#running > 0) {
        // The reads under way are counted against what the service said remains, though it may have counted some of them too.
        await this.#waiting.waitAtMost(Math.min(wait, this.#longestWaitMs), this.#clock, signal)
      } else if (wait > this.#longestWaitMs) {
        throw tooLong(wait, this.#longestWaitMs)
      } else {
        if (this.#toldUntil !== this.#until) this.#waits(wait)
        this.#toldUntil = this.#until
        await this.#clock.sleep(wait, signal)
      }
    }
  }

  /** A read has ended; `limits` is what the answer said. */
  give(limits?: Limits): void {
    this.#running--
    const { remaining = null, resetMs = null } = limits ?? {}
    if (remaining !== null) {
      this.#left = remaining - this.#running
      this.#until = this.#clock.monotonic() + (resetMs ?? minute)
    }
    this.#waiting.wakeAll()
  }

  /** The service refused a read for its rate: none is sent for so long, a minute where it did not say. */
  hold(ms: number | null): void {
    this.#left = 0
    this.#until = this.#clock.monotonic() + Math.max(1000, ms ?? minute)
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
