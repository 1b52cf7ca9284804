import { withheldMessage } from '../../core/model/secret.ts'
import type { ForeignText } from '../../core/model/text/text-makers.ts'
import { groupBy } from '../../core/model/lists.ts'
import { listReadings } from '../manifests/readings.ts'

/** Minimum length of a secret that is looked for; a shorter one would match too often. */
const minLength = 4

/** Removes secrets from texts: parts of them from those of others, whole ones from any text. */
export class Scrubber {
  readonly #listValues: () => Map<string, string>
  #known: Known = { size: 0, spellings: new Map(), pattern: null, parts: new Set(), short: [] }

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
    const known = this.#load()
    const { pattern, spellings } = known
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
    const quoted = findQuoted(others + foreign.slice(from), known)
    const echoed = quoted.size === 0 ? [] : sent.flatMap((each) => [...findQuoted(each, known)])
    for (const part of echoed) quoted.delete(part)
    return quoted.size > 0 ? withheldMessage : this.#replace(text, own)
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
    return this.holds(text) || findQuoted(text, this.#load()).size > 0
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
    // The scheme of an address is no part of its secret.
    const bare = [...values.keys()].map((value) => value.replace(/^https?:\/\//i, ''))
    const parts = new Set(bare.flatMap(listParts))
    const short = bare
      .map(toPlain)
      .filter(({ length }) => length >= minLength && length < partLength)
    this.#known = { size: values.size, spellings, pattern, parts, short }
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
  /** All parts of secrets, and whole ones that are shorter than a part. */
  parts: Set<string>
  short: string[]
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

/** Lists the parts of a text. */
function listParts(text: string): string[] {
  const squeezed = squeeze(text)
  return Array.from({ length: Math.max(0, squeezed.length - partLength + 1) }, (_, i) =>
    squeezed.slice(i, i + partLength),
  )
}

/** Removes blanks, also those of forms: `+`. */
function squeeze(text: string): string {
  return toPlain(text).replace(/[\s+]+/g, '')
}

/** Undoes letter case, and other characters for the same letters. */
function toPlain(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Finds what any reading of a text has of secrets. */
function findQuoted(text: string, { parts, short }: Pick<Known, 'parts' | 'short'>): Set<string> {
  const found = new Set<string>()
  if (parts.size + short.length === 0) return found
  for (const reading of listReadings(text)) {
    for (const part of listParts(reading)) if (parts.has(part)) found.add(part)
    const plain = toPlain(reading)
    for (const value of short) if (plain.includes(value)) found.add(value)
  }
  return found
}
