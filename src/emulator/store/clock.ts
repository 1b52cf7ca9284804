/**
 * Clock of the emulator: the real one until it is set; then it stops until it is set again.
 */
export class SettableClock {
  readonly #real: () => number
  #set: number | null = null

  constructor(real: () => number) {
    this.#real = real
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#set ?? this.#real()
  }

  set(now: number): void {
    this.#set = now
  }
}
