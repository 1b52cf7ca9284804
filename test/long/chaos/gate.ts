/** Lets work run, until it is closed. */
export class Gate {
  /** Number of works that run. */
  running = 0
  #opened: Promise<void> | null = null
  #open: () => void = () => undefined

  /** Runs work, once the gate is open. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    while (this.#opened !== null) await this.#opened
    this.running++
    try {
      return await work()
    } finally {
      this.running--
    }
  }

  close(): void {
    this.#opened = new Promise((resolve) => (this.#open = resolve))
  }

  open(): void {
    this.#opened = null
    this.#open()
  }
}
