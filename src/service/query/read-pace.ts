import type { Clock } from '../../model/clock.ts'
import type { Limits } from '../../model/outcome.ts'
import { refuseInterrupted, type QueryPace } from './query-pace.ts'

const minute = 60_000

/**
 * Paces the queries of the configuration: at most so many in any minute, and no more than the
 * service's headers allow. A query counts until a minute after its answer, since it is not known
 * when the service counted it.
 */
export class ReadPace {
  readonly #pace: QueryPace
  readonly #clock: Clock
  readonly #perMinute: number
  #inFlight = 0
  /** Ends of the minutes after the answers, monotonic clock, ms; ascending. */
  #endsMs: number[] = []

  constructor(pace: QueryPace, { clock, perMinute }: { clock: Clock; perMinute: number }) {
    this.#pace = pace
    this.#clock = clock
    this.#perMinute = perMinute
  }

  /** Waits until a query may be sent; throws as `QueryPace.acquire`. */
  async acquire(signal?: AbortSignal): Promise<void> {
    for (;;) {
      refuseInterrupted(signal)
      const nowMs = this.#clock.monotonic()
      this.#endsMs = this.#endsMs.filter((endMs) => endMs > nowMs)
      if (this.#inFlight + this.#endsMs.length < this.#perMinute) break
      const [nextMs = nowMs + minute] = this.#endsMs
      await this.#clock.sleep(Math.max(1, nextMs - nowMs), signal)
    }
    this.#inFlight++
    try {
      await this.#pace.acquire(signal)
    } catch (error) {
      this.#inFlight--
      throw error
    }
  }

  /** Ends an acquired query; `limits` are those of its answer. */
  release(limits?: Limits): void {
    this.#inFlight--
    this.#endsMs.push(this.#clock.monotonic() + minute)
    this.#pace.release(limits)
  }

  /** Pauses all queries after a throttled one; as `QueryPace.pause`. */
  pause(ms: number | null): void {
    this.#pace.pause(ms)
  }
}
