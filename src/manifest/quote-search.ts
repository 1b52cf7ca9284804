import { listReadings } from './readings.ts'

/** Length of the parts of a secret that count as a quotation, in characters. */
const partLength = 8
/** Minimum length of a secret that is looked for; a shorter one would occur anywhere. */
const minLength = 4

/**
 * Finds secrets in texts that may have changed them: other letter case, encodings, other or no
 * blanks and punctuation, reversed, or cut down to a part of eight characters.
 */
export class QuoteSearch {
  readonly #parts = new Set<string>()
  /** Secrets with fewer letters and digits, which count as whole words only. */
  readonly #short = new Set<string>()

  constructor(values: Iterable<string>) {
    for (const value of values) {
      const [squeezed, bare] = [squeeze(value), toBare(value)]
      for (const text of [squeezed, bare, reverse(squeezed), reverse(bare)])
        for (let i = 0; i + partLength <= text.length; i++)
          this.#parts.add(text.slice(i, i + partLength))
      if (bare.length >= minLength && bare.length < partLength) this.#short.add(bare)
    }
  }

  /** Tests whether a text may quote one of the secrets. */
  isQuoted(text: string): boolean {
    if (text.length < minLength || (this.#parts.size === 0 && this.#short.size === 0)) return false
    return listReadings(text).some((reading) => this.#hasPart(reading) || this.#hasShort(reading))
  }

  #hasPart(reading: string): boolean {
    for (const text of [squeeze(reading), toBare(reading)])
      for (let i = 0; i + partLength <= text.length; i++)
        if (this.#parts.has(text.slice(i, i + partLength))) return true
    return false
  }

  #hasShort(reading: string): boolean {
    if (this.#short.size === 0) return false
    const words = reading.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
    return words.some((word) => this.#short.has(word) || this.#short.has(reverse(word)))
  }
}

function squeeze(text: string): string {
  return text.toLowerCase().replace(/\s+/g, '')
}

function toBare(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
}

function reverse(text: string): string {
  return Array.from(text).toReversed().join('')
}
