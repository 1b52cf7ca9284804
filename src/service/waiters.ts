/** Those who wait for something to happen. */
export class Waiters {
  readonly #waiting = new Set<() => void>()

  /** Resolves when all are woken next, or the signal is aborted. */
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

  wakeAll(): void {
    for (const wake of this.#waiting) wake()
  }
}
