import type { Counts } from '../../src/model/statistics.ts'

/** Chance that is the same for the same seed. */
export class Draws {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = this.#state
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  /** Between two numbers, each order of size as likely as any other. */
  logUniform(least: number, most: number): number {
    return least * (most / least) ** this.next()
  }

  /** How many of `n` happen that each happen with a share: the gaps between them are drawn. */
  binomial(n: number, share: number): number {
    if (share <= 0) return 0
    if (share > 0.5) return n - this.binomial(n, 1 - share)
    let count = 0
    for (let at = this.#gap(share); at <= n; at += this.#gap(share)) count++
    return count
  }

  /** Requests of a window, so many of which are answered with 502. */
  window(requests: number, share: number): Counts {
    const bad = this.binomial(requests, share)
    return { '200': requests - bad, ...(bad > 0 ? { '502': bad } : {}) }
  }

  #gap(share: number): number {
    return 1 + Math.floor(Math.log(1 - this.next()) / Math.log(1 - share))
  }
}
