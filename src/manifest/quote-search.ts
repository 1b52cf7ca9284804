import { listReadings } from './readings.ts'

/** Length of the parts of a secret that count as a quotation, in characters. */
const partLength = 8
/** Minimum length of a secret that is looked for; a shorter one would occur anywhere. */
const minLength = 4

/** Words of ordinary messages: a part of one of them is no quotation of a secret. */
const commonWords =
  'https://www. http://www. https://api. httpswww password production development environment ' +
  'certificate signature configuration authentication authorization authenticate credentials ' +
  'application administrator organization permission repository localhost:'

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
      const parts = [squeezed, bare, reverse(squeezed), reverse(bare)].flatMap(listParts)
      const rare = parts.filter((part) => !isCommon(part))
      for (const part of rare.length > 0 ? rare : parts) this.#parts.add(part)
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
    const words =
      reading
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? []
    return words.some((word) => this.#short.has(word) || this.#short.has(reverse(word)))
  }
}

function listParts(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - partLength + 1) }, (_, i) =>
    text.slice(i, i + partLength),
  )
}

/** Length of the part of a common word that makes a part of a secret common. */
const commonLength = 6

/** Tests whether a part of a secret is mostly a part of a common word. */
function isCommon(part: string): boolean {
  for (let i = 0; i + commonLength <= part.length; i++)
    if (commonWords.includes(part.slice(i, i + commonLength))) return true
  return false
}

function squeeze(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, '')
}

function toBare(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

function reverse(text: string): string {
  return Array.from(text).toReversed().join('')
}
