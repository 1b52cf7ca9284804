import type { Counts } from '../../src/core/model/statistics.ts'

/** Seeded random draws. */
export class Draws {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Draws a number in [0, 1), uniformly. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = this.#state
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  /** Draws a number between two bounds, log-uniformly. */
  logUniform(min: number, max: number): number {
    return min * (max / min) ** this.next()
  }

  /** Draws from the binomial distribution of `n` trials with probability `share`, by its gaps. */
  binomial(n: number, share: number): number {
    if (share <= 0) return 0
    if (share > 0.5) return n - this.binomial(n, 1 - share)
    let count = 0
    for (let position = this.#gap(share); position <= n; position += this.#gap(share)) count++
    return count
  }

  /** Draws the counts of a window: each request is answered with 502 with probability `share`. */
  window(requests: number, share: number): Counts {
    const bad = this.binomial(requests, share)
    return { '200': requests - bad, ...(bad > 0 ? { '502': bad } : {}) }
  }

  #gap(share: number): number {
    return 1 + Math.floor(Math.log(1 - this.next()) / Math.log(1 - share))
  }
}
