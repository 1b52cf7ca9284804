import { compareKeys } from '../model/lists.ts'
import { findIpVersion } from '../catalog/value/ip-version.ts'
import { canonicalizeAddress } from '../catalog/value/formats.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { Unknown, type Answer } from './answer.ts'
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
  method: string | undefined
  headers: Headers
  /** Canonical; null: on none of the lists that there are. */
  ip: string | null | undefined
  country: string | null | undefined
  isp: Carrier | undefined
  /** Unix seconds. */
  at: number | undefined
  /** Minutes since midnight. */
  time: number | undefined
  /** Bytes. */
  bodySize: number | undefined
  signature: 'valid' | 'invalid' | undefined
  secrets: ReadonlyMap<string, string>
  origin: { status: number | undefined; headers: Headers; size: number | undefined }
}

/**
 * What holds for facts that nobody gave: those of a usual visitor and an origin that answers 200,
 * or nothing (request semantics, 1).
 */
export type Visitor = 'usual' | 'unknown'

/** The facts that a request may have. */
export const requestFacts: ReadonlySet<string> = new Set([
  'url',
  'method',
  'headers',
  'ip',
  'country',
  'isp',
  'at',
  'time',
  'bodySize',
  'signature',
  'secrets',
  'origin',
])
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Parses a request of a domain; `.d` stands for each host below d.
 *
 * @throws BadRequest for a bad fact
 */
export function parseRequest(request: Json, domain: string): Facts {
  if (!isObject(request)) throw new BadRequest('a request must be an object with a url')
  refuseUnknown(request, requestFacts, '')
  const origin = request['origin'] ?? {}
  if (!isObject(origin)) throw new BadRequest('origin must be an object')
  refuseUnknown(origin, new Set(['status', 'headers', 'size']), 'origin.')
  const url = parseUrl(readText(request, 'url') ?? fail('url', 'is missing'), domain)
  return {
    url,
    forms: buildForms(url),
    method: readMatching(request, 'method', token, 'a method')?.toUpperCase(),
    headers: readHeaders(request['headers'], 'headers'),
    ip: readAddress(request),
    country: readMatching(request, 'country', /^[^A-Z\p{Cc}]+$/u, 'a name in lower case'),
    isp: readOneOf(request, 'isp', carriers),
    at: readInstant(request['at']),
    time: readTime(request),
    bodySize: readNumber(request, 'bodySize', '', 0, Number.MAX_SAFE_INTEGER),
    signature: readOneOf(request, 'signature', ['valid', 'invalid'] as const),
    secrets: readSecrets(request['secrets']),
    origin: {
      status: readNumber(origin, 'status', 'origin.', 100, 599),
      headers: readHeaders(origin['headers'], 'origin.headers'),
      size: readNumber(origin, 'size', 'origin.', 0, Number.MAX_SAFE_INTEGER),
    },
  }
}

const usualHeaders = [
  ['accept-encoding', 'gzip, deflate, br'],
  ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
] as const

/** Completes the facts of a request by those of a visitor. */
export function completeFacts(facts: Facts, visitor: Visitor): Facts {
  if (visitor === 'unknown') return facts
  const { method = 'GET', ip = null, country = null, isp = 'other', bodySize = 0 } = facts
  const { headers, origin } = facts
  return {
    ...facts,
    method,
    ip,
    country,
    isp,
    bodySize,
    headers: headers.isComplete
      ? headers
      : { given: new Map([...usualHeaders, ...headers.given]), isComplete: true },
    origin: {
      ...origin,
      status: origin.status ?? 200,
      headers: origin.headers.isComplete
        ? origin.headers
        : { given: origin.headers.given, isComplete: true, open: 'content-type' },
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
export function hasMethod({ method }: Facts, ...wanted: string[]): Answer<boolean> {
  return method === undefined ? notGiven('method') : wanted.includes(method)
}

/** An answer that depends on a fact that is not given. */
export function notGiven(fact: string): Unknown {
  return new Unknown([`not-given ${fact}`])
}

function fail(name: string, text: string): never {
  throw new BadRequest(`${name} ${text}`)
}

function refuseUnknown(object: JsonObject, names: ReadonlySet<string>, prefix: string): void {
  for (const name of Object.keys(object))
    if (!names.has(name)) fail(`${prefix}${name}`.slice(0, 100), 'is not a fact of a request')
}

function readText(object: JsonObject, name: string): string | undefined {
  const value = object[name]
  if (value === undefined || typeof value === 'string') return value
  return fail(name, 'must be a text')
}

function readMatching(
  object: JsonObject,
  name: string,
  pattern: RegExp,
  what: string,
): string | undefined {
  const text = readText(object, name)
  return text === undefined || pattern.test(text) ? text : fail(name, `must be ${what}`)
}

function readOneOf<T extends string>(
  object: JsonObject,
  name: string,
  values: readonly T[],
): T | undefined {
  const text = readText(object, name)
  if (text === undefined) return undefined
  return values.find((value) => value === text) ?? fail(name, `must be ${values.join(', ')}`)
}

function readNumber(
  object: JsonObject,
  name: string,
  prefix: string,
  min: number,
  max: number,
): number | undefined {
  const value = object[name]
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max)
    return value
  return fail(prefix + name, `must be a whole number from ${min}${max < 1e9 ? ` to ${max}` : ''}`)
}

function readAddress(request: JsonObject): string | undefined {
  const text = readText(request, 'ip')
  if (text === undefined) return undefined
  return parseAddress(text) ?? fail('ip', 'must be an IPv4 or IPv6 address')
}

/**
 * Parses an IP address to its canonical form, an IPv4 address that is mapped to IPv6 to IPv4; null
 * for other text.
 */
export function parseAddress(text: string): string | null {
  if (text.includes('%') || findIpVersion(text) === 0) return null
  const address = canonicalizeAddress(text)
  const mapped = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]+):([0-9a-f]+))$/.exec(address)
  if (mapped === null) return address
  if (mapped[1] !== undefined) return mapped[1]
  const [high, low] = [mapped[2] ?? '', mapped[3] ?? ''].map((part) => Number.parseInt(part, 16))
  return [high ?? 0, low ?? 0].flatMap((part) => [part >> 8, part & 255]).join('.')
}

function readHeaders(value: Json | undefined, path: string): Headers {
  if (value === undefined) return { given: new Map(), isComplete: false }
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
    named.set(lower, before === undefined || before === null ? text : `${before}, ${text}`)
  }
  return { given: named, isComplete: Object.hasOwn(value, '*') }
}

function readSecrets(value: Json | undefined): ReadonlyMap<string, string> {
  if (value === undefined) return new Map()
  if (!isObject(value)) return fail('secrets', 'must be an object')
  return new Map(
    Object.entries(value).map(([name, text]) => [
      name,
      typeof text === 'string' ? text : fail('secrets', 'must have texts'),
    ]),
  )
}

const instant = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

function readInstant(value: Json | undefined): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return Math.floor(value)
  if (typeof value === 'string' && /^\d{1,12}(?:\.\d+)?$/.test(value))
    return Math.floor(Number(value))
  if (typeof value === 'string' && instant.test(value)) {
    const ms = Date.parse(value.replace(' ', 'T').toUpperCase())
    if (!Number.isNaN(ms) && isDay(value)) return Math.floor(ms / 1000)
  }
  return fail('at', 'must be a date and time with a zone, such as 2026-01-31T18:00:00Z, or seconds')
}

/** Tests whether the day of a date is one of its month, which JavaScript does not. */
function isDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number)
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function readTime(request: JsonObject): number | undefined {
  const text = readMatching(request, 'time', /^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time such as 08:30')
  return text === undefined ? undefined : parseMinutes(text)
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
