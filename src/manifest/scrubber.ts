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
   * Replaces secrets in a foreign text, each with the rest of the word around it: the rest of a
   * known word would betray the secret. Withholds the text if it may still quote a part of one in
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
    let [scrubbed, done] = ['', 0]
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const end = index + match.length
      const isName = own.some((name) => name.start <= index && end <= name.end)
      if (isName || end <= done) continue
      const start = Math.max(done, findWordStart(text, index))
      scrubbed += text.slice(done, start) + (labels.get(match.toLowerCase()) ?? '(secret)')
      done = findWordEnd(text, end)
    }
    return scrubbed + text.slice(done)
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

const inWord = /[\p{L}\p{N}]/u

function findWordStart(text: string, index: number): number {
  let start = index
  while (start > 0 && inWord.test(text[start - 1] ?? '')) start--
  return start
}

function findWordEnd(text: string, index: number): number {
  let end = index
  while (end < text.length && inWord.test(text[end] ?? '')) end++
  return end
}

/** Finds the places of names as whole words. */
function findWords(text: string, names: ReadonlySet<string>): { start: number; end: number }[] {
  if (names.size === 0) return []
  // The name of a wildcard domain begins with a dot.
  return [...text.matchAll(/\.?(\w(?:[\w.-]*\w)?)/g)].flatMap(
    ({ 0: whole, 1: word = '', index }) => {
      const end = index + whole.length
      const name = [whole, word].find((each) => names.has(each.toLowerCase()))
      return name === undefined ? [] : [{ start: end - name.length, end }]
    },
  )
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
