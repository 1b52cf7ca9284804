/** Bytes that one request holds: its body, and its answer until it is sent. */
export interface HeldBytes {
  /** Holds more bytes; returns false if the budget is too small for them. */
  add(bytes: number): boolean
  /** Releases all of its bytes. */
  release(): void
}

/** Limits the bytes that all requests hold together. */
export class MemoryBudget {
  readonly #max: number
  #held = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Begins a request. A request that is alone may hold more than the budget. */
  open(): HeldBytes {
    let own = 0
    return {
      add: (bytes) => {
        if (this.#held > own && this.#held + bytes > this.#max) return false
        own += bytes
        this.#held += bytes
        return true
      },
      release: () => {
        this.#held -= own
        own = 0
      },
    }
  }
}
