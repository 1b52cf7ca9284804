import type { Clock } from '../core/model/time/clock.ts'
import { parseDate } from '../core/model/time/http-date.ts'
import type { Transport } from './transport.ts'

/** Maximum difference between this machine's clock and the service's that is not reported, ms. */
const maxSkewMs = 60_000

/**
 * The service's clock, as far as this process knows it: the `Date` of the last answer that had one,
 * plus the time since by the monotonic clock. A `Date` has whole seconds, so that the time is up to
 * a second early, and earlier by the time that the answer took.
 */
export class ServiceTime {
  readonly #clock: Clock
  readonly #onSkew: (skewMs: number) => void
  /** Service's time less the monotonic clock, ms; null before the first `Date`. */
  #offsetMs: number | null = null
  #isSkewReported = false

  /**
   * @param onSkew called once when the clocks differ by more than a minute; positive if this
   * machine's clock is ahead
   */
  constructor(clock: Clock, onSkew: (skewMs: number) => void = () => undefined) {
    this.#clock = clock
    this.#onSkew = onSkew
  }

  /** Returns the service's time, ms since 1970; null if it is unknown. */
  now(): number | null {
    return this.#offsetMs === null ? null : this.#clock.monotonic() + this.#offsetMs
  }

  /**
   * Learns the time of an answer.
   *
   * @param date its `Date` header
   * @param sentAtMs time of the request by this machine's clock
   */
  observe(date: string | null, sentAtMs: number): void {
    const atMs = parseDate(date)
    if (atMs === null) return
    this.#offsetMs = atMs - this.#clock.monotonic()
    const receivedAtMs = this.#clock.now()
    // An answer may take long: only a time outside of the call is a skew.
    const skewMs = atMs > receivedAtMs ? receivedAtMs - atMs : Math.max(0, sentAtMs - atMs)
    if (this.#isSkewReported || Math.abs(skewMs) <= maxSkewMs) return
    this.#isSkewReported = true
    this.#onSkew(skewMs)
  }

  /** Wraps a transport so that each of its answers is observed. */
  watch(transport: Transport): Transport {
    return async (request) => {
      const sentAtMs = this.#clock.now()
      const answer = await transport(request)
      this.observe(answer.header('Date'), sentAtMs)
      return answer
    }
  }
}
