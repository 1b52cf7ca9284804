/** Bytes that one request holds: its body, and its answer until it is sent. */
export interface HeldBytes {
  /** Holds more bytes; false if the budget has not that many. */
  add(bytes: number): boolean
  /** Gives all back; the request is over. */
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
