/** Seeded draws (xoroshiro64*); each stream of a seed is independent. */
export class Dice {
  #a: number
  #b: number

  constructor(seed: number, stream = 0) {
    this.#a = (Math.imul(seed, 0x9e3779b1) + 0x3039) >>> 0
    this.#b = (Math.imul(stream, 0x85ebca77) + 0x3ade68b1) >>> 0
    for (let i = 0; i < 4; i++) this.next()
  }

  /** Draws a number in [0, 1). */
  next(): number {
    const a = this.#a
    const b = this.#b ^ a
    this.#a = (((a << 26) | (a >>> 6)) ^ b ^ (b << 9)) >>> 0
    this.#b = ((b << 13) | (b >>> 19)) >>> 0
    return (Math.imul(a, 0x9e3779bb) >>> 0) / 2 ** 32
  }

  between([min, max]: readonly [number, number]): number {
    return min + (max - min) * this.next()
  }

  logBetween([min, max]: readonly [number, number]): number {
    return min * (max / min) ** this.next()
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }

  /** Draws a number of independent events; large ones are nearly normal. */
  poisson(mean: number): number {
    if (mean > 60) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()))
    const end = Math.exp(-mean)
    let count = 0
    for (let product = this.next(); product > end; product *= this.next()) count++
    return count
  }

  /** Draws how many of `n` independent events of probability `p` happen. */
  binomial(n: number, p: number): number {
    if (p > 0.5) return n - this.binomial(n, 1 - p)
    if (n * p <= 60) return Math.min(n, this.poisson(n * p))
    const drawn = Math.round(n * p + Math.sqrt(n * p * (1 - p)) * this.normal())
    return Math.min(n, Math.max(0, drawn))
  }
}
