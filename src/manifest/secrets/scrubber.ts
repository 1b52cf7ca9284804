import { withheldMessage } from '../../core/model/secret.ts'
import type { ForeignText } from '../../core/model/text/text-makers.ts'
import { groupBy } from '../../core/model/lists.ts'
import { listReadings } from '../manifests/readings.ts'

/** Minimum length of a secret that is looked for; a shorter one would match too often. */
const minLength = 4

/** Removes secrets from texts: parts of them from those of others, whole ones from any text. */
export class Scrubber {
  readonly #listValues: () => Map<string, string>
  #known: Known = { size: 0, spellings: new Map(), pattern: null, search: new QuoteSearch([]) }

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
   * @param sent texts of which the text may be an echo: what they have of a secret stays
   */
  scrub(
    text: ForeignText,
    names: ReadonlySet<string> = new Set(),
    sent: readonly string[] = [],
  ): string {
    const { pattern, spellings, search } = this.#load()
    if (pattern === null) return text
    const own = findWords(text, names)
    const foreign = own.reduceRight<string>(
      (rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`,
      text,
    )
    let [others, from] = ['', 0]
    for (const { start, end } of findSpellings(foreign, pattern, spellings)) {
      if (end <= from) continue
      others += `${foreign.slice(from, start)} `
      from = end
    }
    if (search.isQuoted(others + foreign.slice(from), sent)) return withheldMessage
    return this.#replace(text, own)
  }

  /** Replaces whole secrets, each with the rest of the word around it. @param names as above */
  redact(text: string, names: ReadonlySet<string> = new Set()): string {
    return this.#replace(text, findWords(text, names))
  }

  /** @param own places of names, which stay */
  #replace(text: string, own: Place[]): string {
    const { pattern, spellings } = this.#load()
    if (pattern === null) return text
    let [scrubbed, done] = ['', 0]
    for (const { start: index, end, label } of findSpellings(text, pattern, spellings)) {
      const isName = own.some((name) => name.start <= index && end <= name.end)
      if (isName || end <= done) continue
      const start = Math.max(done, findWordStart(text, index))
      scrubbed += text.slice(done, start) + label
      done = findWordEnd(text, end)
    }
    return scrubbed + text.slice(done)
  }

  /** Tests whether a text of others may quote a secret or a part of one, in any form. */
  isQuoted(text: ForeignText): boolean {
    const { pattern, search } = this.#load()
    return (pattern !== null && text.search(pattern) >= 0) || search.isQuoted(text)
  }

  /** Tests whether a text has a whole secret, in a known spelling. */
  holds(text: string): boolean {
    const { pattern } = this.#load()
    return pattern !== null && text.search(pattern) >= 0
  }

  #load(): Known {
    const values = this.#listValues()
    if (values.size === this.#known.size) return this.#known
    const all = [...values]
      .filter(([value]) => value.length >= minLength)
      .flatMap(([value, label]) => listSpellings(value).map((text) => ({ text, label })))
    const getSought = ({ text }: Spelling) => text.slice(0, soughtLength)
    const spellings = groupBy(all, (each) => getSought(each).toLowerCase())
    const sought = [...new Set(all.map(getSought))].toSorted((a, b) => b.length - a.length)
    const pattern =
      sought.length === 0 ? null : new RegExp(sought.map(escapePattern).join('|'), 'gi')
    this.#known = { size: values.size, spellings, pattern, search: new QuoteSearch(values.keys()) }
    return this.#known
  }
}

/** Place in a text, end exclusive. */
interface Place {
  start: number
  end: number
}

/** Length of the beginning of a spelling that is sought: an engine refuses patterns of 32 KB. */
const soughtLength = 1000

/** How a secret may be spelt, and the text that replaces it. */
interface Spelling {
  text: string
  label: string
}

/** Search structures built from the secrets. */
interface Known {
  /** Number of the secrets. */
  size: number
  /** What is sought of spellings, in lower case → those that begin so. */
  spellings: Map<string, Spelling[]>
  /** Matches what is sought, the longest first; null without secrets. */
  pattern: RegExp | null
  search: QuoteSearch
}

/** Finds spellings in a text: of those that begin alike, the one of which the text has most. */
function findSpellings(text: string, pattern: RegExp, spellings: Known['spellings']) {
  const found: (Place & { label: string })[] = []
  for (const { 0: match, index } of text.matchAll(pattern)) {
    let [end, label] = [index + match.length, '(secret)']
    for (const each of spellings.get(match.toLowerCase()) ?? []) {
      const to = findCommonEnd(text, index + match.length, each.text.slice(match.length))
      if (to >= end) [end, label] = [to, each.label]
    }
    found.push({ start: index, end, label })
  }
  return found
}

/** Finds where a text that continues like a spelling, in any letter case, ceases to. */
function findCommonEnd(text: string, start: number, rest: string): number {
  let length = 0
  while (
    length < rest.length &&
    text[start + length]?.toLowerCase() === rest[length]?.toLowerCase()
  )
    length++
  return start + length
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
function findWords(text: string, names: ReadonlySet<string>): Place[] {
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

/**
 * Lists the spellings that a text may have inside another one: plain, escaped for JSON (once or
 * twice), for URLs and forms, or as base64. Longest first, so that replacing one leaves no part of
 * another.
 */
function listSpellings(text: string): string[] {
  const json = escapeJson(text)
  const bytes = Buffer.from(text)
  const url = encodeURIComponent(bytes.toString())
  const form = url.replaceAll('%20', '+')
  const base64 = [0, 1, 2]
    .map((before) => encodeWithin(bytes, before))
    .filter((part) => part.length >= minBase64)
  return [
    ...new Set([
      text,
      json,
      escapeJson(json),
      url,
      form,
      lowerCaseEscapes(url),
      lowerCaseEscapes(form),
      ...base64,
      ...base64.map((part) => part.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ].toSorted((a, b) => b.length - a.length)
}

/** Minimum length of a base64 part; a shorter one may be a part of anything. */
const minBase64 = 6

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Percent escapes may be in lower case. */
function lowerCaseEscapes(url: string): string {
  return url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
}

/**
 * Encodes bytes as base64 at an offset within a group of three, without the characters that depend
 * on neighbouring bytes.
 */
function encodeWithin(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/={1,2}$/, '')
  const start = before === 0 ? 0 : before + 1
  return text.slice(start, (before + bytes.length) % 3 === 0 ? undefined : -1)
}

/** Length of the parts of a secret that count as a quotation, in characters. */
const partLength = 8

/** Words of ordinary messages: a part of one of them is no quotation of a secret. */
const commonWords =
  'https://www. http://www. https://api. httpswww password production development environment ' +
  'certificate signature configuration authentication authorization authenticate credentials ' +
  'application administrator organization permission repository localhost:'

/**
 * Finds secrets in texts that may have changed them: other letter case, encodings, other or no
 * blanks and punctuation, or cut down to a part of eight characters.
 */
export class QuoteSearch {
  readonly #parts = new Set<string>()
  /** Secrets with fewer letters and digits, which count as whole words only. */
  readonly #short = new Set<string>()

  constructor(values: Iterable<string>) {
    for (const value of values) {
      const [squeezed, bare] = [squeeze(value), toBare(value)]
      const parts = [squeezed, bare].flatMap(listParts)
      const rare = parts.filter((part) => !isCommon(part))
      for (const part of rare.length > 0 ? rare : parts) this.#parts.add(part)
      if (bare.length >= minLength && bare.length < partLength) this.#short.add(bare)
    }
  }

  /**
   * Tests whether a text may quote one of the secrets.
   *
   * @param sent texts that it may repeat: what they have, too, is no quotation
   */
  isQuoted(text: string, sent: readonly string[] = []): boolean {
    if (text.length < minLength || (this.#parts.size === 0 && this.#short.size === 0)) return false
    const found = this.#findQuoted(text)
    if (found.size === 0 || sent.length === 0) return found.size > 0
    const echoed = new Set(sent.flatMap((each) => [...this.#findQuoted(each)]))
    return [...found].some((part) => !echoed.has(part))
  }

  /** Finds the parts of secrets in a text, in any reading of it. */
  #findQuoted(text: string): Set<string> {
    const found = new Set<string>()
    for (const reading of listReadings(text)) {
      for (const each of [squeeze(reading), toBare(reading)])
        for (let i = 0; i + partLength <= each.length; i++) {
          const part = each.slice(i, i + partLength)
          if (this.#parts.has(part)) found.add(part)
        }
      for (const word of this.#short.size === 0 ? [] : listWords(reading))
        if (this.#short.has(word)) found.add(word)
    }
    return found
  }
}

function listWords(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
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
