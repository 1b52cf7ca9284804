import { withheldMessage } from '../model/secret.ts'
import { QuoteSearch } from './quote-search.ts'
import { listSpellings } from './spellings.ts'

/** Minimum length of a secret that is looked for; a shorter one would match too often. */
const minLength = 4

/**
 * Removes secrets from foreign text: text of the service, of git, of other programs and of the
 * operating system. Sentences, paths and names of Edgewise don't pass through it.
 */
export class Scrubber {
  readonly #listValues: () => Map<string, string>
  #known: Known = { size: 0, labels: new Map(), pattern: null, search: new QuoteSearch([]) }

  /** @param listValues returns the secrets, each with the text that replaces it; it only grows */
  constructor(listValues: () => Map<string, string>) {
    this.#listValues = listValues
  }

  /**
   * Replaces secrets in a foreign text. Withholds the text if it may still quote a part of one in
   * another form.
   *
   * @param names known names, in lower case, which stay where they are whole words
   */
  scrub(text: string, names: ReadonlySet<string> = new Set()): string {
    const { pattern, labels, search } = this.#load()
    if (pattern === null) return text
    const own = findWords(text, names)
    const foreign = own.reduceRight(
      (rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`,
      text,
    )
    if (search.isQuoted(foreign.replace(pattern, ' '))) return withheldMessage
    return text.replace(pattern, (match, offset: number) =>
      own.some(({ start, end }) => start <= offset && offset + match.length <= end)
        ? match
        : (labels.get(match.toLowerCase()) ?? '(secret)'),
    )
  }

  /** Tests whether a text may quote a secret or a part of one, in any form. */
  isQuoted(text: string): boolean {
    const { pattern, search } = this.#load()
    return (pattern !== null && text.search(pattern) >= 0) || search.isQuoted(text)
  }

  #load(): Known {
    const values = this.#listValues()
    if (values.size === this.#known.size) return this.#known
    const labels = new Map<string, string>()
    const spellings = [...values]
      .filter(([value]) => value.length >= minLength)
      .flatMap(([value, label]) =>
        listSpellings(value).map((spelling) => {
          labels.set(spelling.toLowerCase(), label)
          return spelling
        }),
      )
      .toSorted((a, b) => b.length - a.length)
    const pattern =
      spellings.length === 0 ? null : new RegExp(spellings.map(escapePattern).join('|'), 'gi')
    this.#known = { size: values.size, labels, pattern, search: new QuoteSearch(values.keys()) }
    return this.#known
  }
}

/** Search structures built from the secrets. */
interface Known {
  /** Number of the secrets. */
  size: number
  /** Spelling, in lower case → text that replaces it. */
  labels: Map<string, string>
  /** Matches every spelling, the longest first; null without secrets. */
  pattern: RegExp | null
  search: QuoteSearch
}

/** Finds the places of names as whole words. */
function findWords(text: string, names: ReadonlySet<string>): { start: number; end: number }[] {
  if (names.size === 0) return []
  return [...text.matchAll(/\w(?:[\w.-]*\w)?/g)].flatMap(({ 0: word, index }) =>
    names.has(word.toLowerCase()) ? [{ start: index, end: index + word.length }] : [],
  )
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
