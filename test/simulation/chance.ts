import { hashKey } from '../../src/emulator/entities/chance.ts'

/**
 * Seeded chance: the same seed always draws the same. What is drawn of one fork does not move what
 * is drawn of another.
 */
export class Chance {
  readonly #seed: string
  #state: number

  constructor(seed: string) {
    this.#seed = seed
    this.#state = hashKey(seed)
  }

  /** A source of its own. */
  fork(name: string): Chance {
    return new Chance(`${this.#seed}/${name}`)
  }

  /** From 0 up to 1 (exclusive). */
  draw(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  happens(probability: number): boolean {
    return this.draw() < probability
  }

  /** A whole number, both ends possible. */
  between(least: number, most: number): number {
    return least + Math.floor(this.draw() * (most - least + 1))
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[Math.floor(this.draw() * list.length)]
    if (chosen === undefined) throw new TypeError('expected a list with something to pick from')
    return chosen
  }

  /** Some of a list, in its order. */
  some<T>(list: readonly T[], probability = 0.5): T[] {
    return list.filter(() => this.happens(probability))
  }
}
