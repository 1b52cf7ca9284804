import { compareKeys } from '../model/lists.ts'
import { canonicalizeAddress, isAddress } from '../catalog/value/formats.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { map, Unknown, type Answer } from './answer.ts'
import { carriers, type Carrier } from './carrier.ts'
import { BadRequest, buildForms, parseUrl, type Forms, type RequestUrl } from './url.ts'

/** Headers of a message: name in lower case → text; null: known to be absent. */
export interface Headers {
  given: ReadonlyMap<string, string | null>
  /** Whether all others are known to be absent. */
  isComplete: boolean
  /** One of which it is not known all the same. */
  open?: string
}

/** A request as `trace --json` and files of requests have it (request semantics, section 1). */
export interface TracedRequest {
  url: string
  method?: string
  headers?: Record<string, string | null>
  ip?: string
  country?: string
  isp?: string
  at?: string | number
  time?: string
  bodySize?: number
  signature?: string
  /** Values of secrets by name; never printed. */
  secrets?: Record<string, string>
  origin?: { status?: number; headers?: Record<string, string | null>; size?: number }
}

/** What is known of a request. A fact that is not given is undefined. */
export interface Facts {
  url: RequestUrl
  forms: Forms
  /** Upper case. */
  method?: string
  headers: Headers
  /** Canonical; null: on none of the lists that there are. */
  ip?: string | null
  country?: string | null
  isp?: Carrier
  /** Unix seconds. */
  at?: number
  /** Minutes since midnight. */
  time?: number
  /** Bytes. */
  bodySize?: number
  signature?: 'valid' | 'invalid'
  secrets: ReadonlyMap<string, string>
  origin: { status?: number; headers: Headers; size?: number }
}

/**
 * What holds for facts that nobody gave: those of a usual visitor and an origin that answers 200,
 * or nothing (request semantics, 1).
 */
export type Visitor = 'usual' | 'unknown'

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const originReaders = {
  status: readNumber(100, 599),
  headers: readHeaders,
  size: readNumber(0, Number.MAX_SAFE_INTEGER),
}

/** How each fact is read that a request may have. */
const readers = {
  url: readText,
  method: (value: Json, path: string) => readMatching(token, 'a method')(value, path).toUpperCase(),
  headers: readHeaders,
  ip: readAddress,
  country: readMatching(/^[^A-Z\p{Cc}]+$/u, 'a name in lower case'),
  isp: readOneOf(carriers),
  at: readInstant,
  time: readTime,
  bodySize: originReaders.size,
  signature: readOneOf(['valid', 'invalid'] as const),
  secrets: readSecrets,
  origin: (value: Json, path: string) =>
    readFacts(isObject(value) ? value : fail(path, 'must be an object'), originReaders, 'origin.'),
}

/**
 * Parses a request of a domain; `.d` stands for each host below d.
 *
 * @throws BadRequest for a bad fact
 */
export function parseRequest(request: Json, domain: string): Facts {
  if (!isObject(request)) throw new BadRequest('a request must be an object with a url')
  const { url: text, ...facts } = readFacts(request, readers)
  const url = parseUrl(text ?? fail('url', 'is missing'), domain)
  const headers: Headers = { given: new Map(), isComplete: false }
  return {
    url,
    forms: buildForms(url),
    headers,
    secrets: new Map(),
    ...facts,
    origin: { headers, ...facts.origin },
  }
}

const usualHeaders = [
  ['accept-encoding', 'gzip, deflate, br'],
  ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
] as const

const usualFacts = { method: 'GET', ip: null, country: null, isp: 'other', bodySize: 0 } as const

/** Completes the facts of a request by those of a visitor. */
export function completeFacts(facts: Facts, visitor: Visitor): Facts {
  if (visitor === 'unknown') return facts
  const { headers, origin } = facts
  return {
    ...usualFacts,
    ...facts,
    headers: headers.isComplete
      ? headers
      : { given: new Map([...usualHeaders, ...headers.given]), isComplete: true },
    origin: {
      status: 200,
      ...origin,
      headers: origin.headers.isComplete
        ? origin.headers
        : { ...origin.headers, isComplete: true, open: 'content-type' },
    },
  }
}

/** Reads a header: its text, null if it is absent; unknown if it is not given. */
export function readHeader(headers: Headers, name: string, prefix = ''): Answer<string | null> {
  const found = headers.given.get(name)
  if (found !== undefined) return found
  return headers.isComplete && headers.open !== name ? null : notGiven(`${prefix}headers.${name}`)
}

/** A fact; unknown if it is not given. */
export function given<T>(fact: T | undefined, name: string): Answer<T> {
  return fact === undefined ? notGiven(name) : fact
}

/** Tests whether the method is one of these. */
export function hasMethod({ method }: Facts, ...wanted: (string | undefined)[]): Answer<boolean> {
  return map(given(method, 'method'), (known) => wanted.includes(known))
}

/** An answer that depends on a fact that is not given. */
export function notGiven(fact: string): Unknown {
  return new Unknown([`not-given ${fact}`])
}

function fail(path: string, text: string): never {
  throw new BadRequest(`${path} ${text}`)
}

/** Reads the value of a fact, which messages name by its path. */
type Reader<T> = (value: Json, path: string) => T

/** Reads the facts of an object, each of which may be left out, in one order. */
function readFacts<Readers extends Record<string, Reader<unknown>>>(
  facts: JsonObject,
  known: Readers,
  prefix = '',
): { [Name in keyof Readers]?: ReturnType<Readers[Name]> } {
  for (const name of Object.keys(facts))
    if (!Object.hasOwn(known, name))
      fail(`${prefix}${name}`.slice(0, 100), 'is not a fact of a request')
  const found: Record<string, unknown> = {}
  for (const name in known)
    if (facts[name] !== undefined) found[name] = known[name]?.(facts[name], prefix + name)
  return found as { [Name in keyof Readers]?: ReturnType<Readers[Name]> }
}

function readText(value: Json, path: string): string {
  return typeof value === 'string' ? value : fail(path, 'must be a text')
}

function readMatching(pattern: RegExp, what: string): Reader<string> {
  return (value, path) =>
    pattern.test(readText(value, path)) ? String(value) : fail(path, `must be ${what}`)
}

function readOneOf<T extends string>(values: readonly T[]): Reader<T> {
  return (value, path) => {
    const text = readText(value, path)
    return values.find((each) => each === text) ?? fail(path, `must be ${values.join(', ')}`)
  }
}

function readNumber(min: number, max: number): Reader<number> {
  return (value, path) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? value
      : fail(path, `must be a whole number from ${min}${max < 1e9 ? ` to ${max}` : ''}`)
}

function readAddress(value: Json, path: string): string {
  return parseAddress(readText(value, path)) ?? fail(path, 'must be an IPv4 or IPv6 address')
}

/**
 * Parses an IP address to its canonical form, an IPv4 address that is mapped to IPv6 to IPv4; null
 * for other text.
 */
export function parseAddress(text: string): string | null {
  if (!isAddress(text)) return null
  const address = canonicalizeAddress(text)
  const [, ...mapped] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address) ?? []
  if (mapped.length === 0) return address
  const parts = mapped.map((part) => Number.parseInt(part, 16))
  return parts.flatMap((part) => [part >> 8, part & 255]).join('.')
}

function readHeaders(value: Json, path: string): Headers {
  if (!isObject(value)) return fail(path, 'must be an object')
  const named = new Map<string, string | null>()
  // Sorted, so that the order of keys is never that of the values of one header.
  for (const [name, text] of Object.entries(value).toSorted(compareKeys)) {
    const lower = name.toLowerCase()
    if (name === '*') {
      if (text !== null) fail(`${path}.*`, 'must be null: all that are not named are absent')
      continue
    }
    if (!token.test(name)) fail(path, `has an invalid name: ${JSON.stringify(name.slice(0, 100))}`)
    // oxlint-disable-next-line no-control-regex
    if (text !== null && (typeof text !== 'string' || /[\0-\x08\x0a-\x1f\x7f]/.test(text)))
      fail(`${path}.${lower}`, 'must be a text in one line, or null')
    const before = named.get(lower)
    if (before !== undefined && (before === null) !== (text === null))
      fail(`${path}.${lower}`, 'is both given and absent')
    named.set(lower, typeof before === 'string' ? `${before}, ${text}` : text)
  }
  return { given: named, isComplete: Object.hasOwn(value, '*') }
}

function readSecrets(value: Json, path: string): ReadonlyMap<string, string> {
  if (!isObject(value)) return fail(path, 'must be an object')
  const texts = Object.entries(value).map(([name, text]): [string, string] => [
    name,
    typeof text === 'string' ? text : fail(path, 'must have texts'),
  ])
  return new Map(texts)
}

const instant = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

function readInstant(value: Json, path: string): number {
  const text = typeof value === 'string' ? value : ''
  if (Number.isFinite(value) ? Number(value) >= 0 : /^\d{1,12}(?:\.\d+)?$/.test(text))
    return Math.floor(Number(value))
  const ms = instant.test(text) ? Date.parse(text.replace(' ', 'T').toUpperCase()) : Number.NaN
  if (!Number.isNaN(ms) && isDay(text)) return Math.floor(ms / 1000)
  return fail(path, 'must be a date and time with a zone, such as 2026-01-31T18:00:00Z, or seconds')
}

/** Tests whether the day of a date is one of its month, which JavaScript does not. */
function isDay(text: string): boolean {
  const date = text.slice(0, 10)
  return new Date(`${date}T00:00Z`).toISOString().startsWith(date)
}

function readTime(value: Json, path: string): number {
  const read = readMatching(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time such as 08:30')
  return parseMinutes(read(value, path))
}

/** Parses `HH:MM` to minutes since midnight. */
export function parseMinutes(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5))
}

/** Formats minutes since midnight as `HH:MM`. */
export function formatMinutes(minutes: number): string {
  const parts = [Math.floor(minutes / 60), minutes % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
