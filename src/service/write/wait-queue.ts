import type { Clock } from '../../core/model/time/clock.ts'

/** Callers that wait for an event. */
export class WaitQueue {
  readonly #waiting = new Set<() => void>()

  /** Resolves at the next `wakeAll`, or when the signal is aborted. */
  wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }

  /** Waits like `wait`, for at most `ms` milliseconds. */
  async waitUpTo(ms: number, clock: Clock, signal?: AbortSignal): Promise<void> {
    const over = new AbortController()
    const end = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
    await Promise.race([clock.sleep(ms, end), this.wait(end)])
    over.abort()
  }

  wakeAll(): void {
    for (const wake of this.#waiting) wake()
  }
}
