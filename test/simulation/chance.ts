import { hashKey } from '../../src/emulator/entities/chance.ts'

/**
 * Seeded random source: the same seed always draws the same values. Draws from one fork do not
 * affect another.
 */
export class Chance {
  readonly #seed: string
  #state: number

  constructor(seed: string) {
    this.#seed = seed
    this.#state = hashKey(seed)
  }

  /** Creates an independent source. */
  fork(name: string): Chance {
    return new Chance(`${this.#seed}/${name}`)
  }

  /** Draws a number in [0, 1). */
  draw(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  happens(probability: number): boolean {
    return this.draw() < probability
  }

  /** Draws an integer, both ends included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.draw() * (max - min + 1))
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[Math.floor(this.draw() * list.length)]
    if (chosen === undefined) throw new TypeError('expected a list with something to pick from')
    return chosen
  }

  /** Draws a part of a list, in its order. */
  some<T>(list: readonly T[], probability = 0.5): T[] {
    return list.filter(() => this.happens(probability))
  }
}
