import type { Clock } from '../../src/core/model/time/clock.ts'

interface Sleeper {
  at: number
  wake(): void
}

/**
 * A clock without real waiting. The wall clock may be set (`offset`); sleeping follows the true
 * time, like timers.
 */
export class FakeClock implements Clock {
  /** True time, ms. */
  time = Date.UTC(2026, 10, 20)
  /** Error of the wall clock, ms. */
  offset = 0
  /** Every requested sleep, ms. */
  readonly slept: number[] = []
  #sleepers: Sleeper[] = []

  now(): number {
    return this.time + this.offset
  }

  monotonic(): number {
    return this.time
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms)
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake)
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        resolve()
      }
      const sleeper = { at: this.time + Math.max(0, ms), wake }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', wake)
    })
  }

  /**
   * Advances the time until the work is done, waking the sleepers in order. Throws if the work
   * waits without a sleep.
   */
  async drive<T>(work: Promise<T>): Promise<T> {
    let done = false
    const ended = work.finally(() => {
      done = true
    })
    // The caller handles the rejection; here it only ends the loop.
    ended.catch(() => {})
    for (;;) {
      await this.settle()
      if (done) return ended
      if (!this.#wakeNext(Infinity))
        throw new Error('expected work that ends, got work that waits without a sleep')
    }
  }

  /** Advances the true time by `ms`. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms
    await this.settle()
    while (this.#wakeNext(end)) await this.settle()
    this.time = end
  }

  /** Runs everything that can run without time passing. */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
  }

  #wakeNext(until: number): boolean {
    const next = this.#sleepers.toSorted((a, b) => a.at - b.at)[0]
    if (next === undefined || next.at > until) return false
    this.time = Math.max(this.time, next.at)
    next.wake()
    return true
  }
}
