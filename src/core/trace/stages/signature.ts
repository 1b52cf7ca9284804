import { createHash } from 'node:crypto'
import type { VisitTimestamp } from '../../catalog/generated/items.ts'
import { createTimeZone } from '../../model/time/time-zone.ts'
import { all, choose, map, Unknown, type Answer } from '../answer.ts'
import { Regex } from '../match/regex.ts'
import { matchUrlRegex, type Subject } from '../match/url.ts'
import { remember } from '../remember.ts'
import { given } from '../request.ts'
import type { Run } from '../run.ts'
import { readText } from '../secret-text.ts'
import { BadRequest, buildForms, filterArguments, parseArguments, type RequestUrl } from '../url.ts'

/** The signature in a URL (request semantics, 3.2, "visit_timestamp"). */
interface Signature {
  key: string
  time: string
  /** The path that is signed. */
  uri: string
  /** Unix time. */
  seconds: number
}

const compileRegex = remember(
  (item: VisitTimestamp) => new Regex(item.pattern, 'visit_timestamp/pattern'),
)

/** Tests whether the item protects a URL: its pattern and the whole URL, with or without port. */
export function isProtected(run: Run, item: VisitTimestamp): Answer<boolean> {
  const withPort = run.facts.url.port === null || run.reading('R13') === 'with-port'
  return matchUrlRegex(run, compileRegex(item), run.facts, 'R6', 'W', withPort)
}

/** Finds the parts of the signature of the client's URL; null if it has none. */
function findSignature(run: Run, item: VisitTimestamp): Signature | null {
  const parts =
    item.req_uri_type < 3
      ? findArguments(run, item)
      : findSegments(run.facts.url, item.req_uri_type)
  const seconds = parts === null ? null : readTime(run, item.time_format, parts.time)
  return parts === null || seconds === null ? null : { ...parts, seconds }
}

function findArguments(
  run: Run,
  { req_uri_type, timename = 'time', keyname = 'key' }: VisitTimestamp,
): Omit<Signature, 'seconds'> | null {
  const { path, query } = run.facts.url
  const names = parseArguments(query)
  const find = (wanted: string) => names.findIndex(({ name }) => name === wanted)
  const [keyAt, timeAt] = [find(keyname), find(timename)]
  const [key, time] = [names[keyAt]?.value ?? '', names[timeAt]?.value ?? '']
  if (key === '' || time === '') return null
  const isInOrder = req_uri_type === 1 ? keyAt < timeAt : timeAt < keyAt
  return isInOrder || run.reading('R33') === 'loose' ? { key, time, uri: path } : null
}

function findSegments(url: RequestUrl, type: number): Omit<Signature, 'seconds'> | null {
  const [first, second, ...rest] = url.path.slice(1).split('/')
  if (first === undefined || second === undefined || rest.length === 0) return null
  const [key, time] = type === 3 ? [second, first] : [first, second]
  return { key, time, uri: `/${rest.join('/')}` }
}

/** Reads the time of a signature; null if it is none. */
function readTime(run: Run, format: VisitTimestamp['time_format'], text: string): number | null {
  if (format === 'timestamp') return /^\d{1,12}$/.test(text) ? Number(text) : null
  if (format === 'timestamp_hex')
    return /^[0-9a-f]{1,10}$/i.test(text) ? Number.parseInt(text, 16) : null
  const local = parseDate(text)
  return local === null ? null : Math.floor(createTimeZone(findZone(run)).toUtc(local) / 1000)
}

/** Parses a real date `YYYYmmddHHii` to milliseconds as if it were UTC; null for other text. */
function parseDate(text: string): number | null {
  const found = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text)
  if (found === null) return null
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0] = found.map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute)
  const isReal = date.toISOString().replace(/[-T:]/g, '').startsWith(text)
  return isReal ? date.getTime() : null
}

/** The zone of windows and dates (R31). */
export function findZone(run: Run): string {
  const zone = run.reading('R31')
  return zone === 'service' ? run.settings.timezone : zone
}

/** Why a protected URL is denied: a field, and whether it says so. */
export const signatureFaults = [
  ['/req_uri_type', isUnsigned],
  ['/deadtime', ifSigned(isOld)],
  ['/deadtime', ifSigned(isEarly)],
  ['/key', ifSigned(isForged)],
] as const

function isUnsigned(run: Run, item: VisitTimestamp): boolean {
  return findSignature(run, item) === null && run.reading('R32') === 'deny'
}

function ifSigned(
  test: (run: Run, item: VisitTimestamp, found: Signature) => Answer<boolean>,
): (run: Run, item: VisitTimestamp) => Answer<boolean> {
  return (run, item) => {
    const found = findSignature(run, item)
    return found === null ? false : test(run, item, found)
  }
}

function isOld(run: Run, item: VisitTimestamp, { seconds }: Signature): Answer<boolean> {
  return map(given(run.facts.at, 'at'), (now) => now - seconds > item.deadtime)
}

function isEarly(run: Run, _: VisitTimestamp, { seconds }: Signature): Answer<boolean> {
  if (run.reading('R36') === 'valid') return false
  return map(given(run.facts.at, 'at'), (now) => seconds > now)
}

/** Tests whether a signature is wrong, by computing it (R34 has one answer) or by the fact. */
function isForged(run: Run, item: VisitTimestamp, found: Signature): Answer<boolean> {
  const key = readText(run.facts, item.key)
  const { signature } = run.facts
  if (key instanceof Unknown) return signature === undefined ? key : signature === 'invalid'
  const computed = isForgedPlain(key, item.style, found)
  if (signature !== undefined && (signature === 'invalid') !== computed)
    throw new BadRequest(
      `signature: ${signature} contradicts the signature of the URL, which is ` +
        (computed ? 'invalid' : 'valid'),
    )
  return computed
}

/** Hashes a key, the path and the time in the order of a style. */
export function hashSignature(order: string, key: string, uri: string, time: string): string {
  const parts: Record<string, string> = { $ourkey: key, $uri: uri, $time: time }
  const text = order.replace(/\$(?:ourkey|uri|time)/g, (name) => parts[name] ?? '')
  return createHash('md5').update(text).digest('hex')
}

function isForgedPlain(
  keys: string,
  style: string | undefined,
  { key: sent, uri, time }: Signature,
): boolean {
  const order = style === undefined || style === '' ? '$ourkey$uri$time' : style
  return !keys
    .split(' ')
    .filter((key) => key !== '')
    .some((key) => hashSignature(order, key, uri, time) === sent.toLowerCase())
}

/**
 * Takes the signature out of the client's URL if it is protected and signed (request semantics,
 * 3.1, "strip").
 */
export function strip(run: Run): Answer<RequestUrl> {
  const { url } = run.facts
  return run.read('visit_timestamp', url, (item): Answer<RequestUrl> => {
    const signature = findSignature(run, item)
    if (signature === null) return url
    return choose(
      isProtected(run, item),
      () => takeOut(run, item, signature),
      () => url,
    )
  })
}

function takeOut(run: Run, item: VisitTimestamp, { time, uri }: Signature): RequestUrl {
  const { url } = run.facts
  if (item.req_uri_type < 3) return { ...url, query: removeSignature(run, item, url.query) }
  return { ...url, path: run.reading('R35') === 'key-only' ? `/${time}${uri}` : uri }
}

/** Removes the arguments of a signature from a query (R35). */
export function removeSignature(
  run: Run,
  { timename = 'time', keyname = 'key' }: VisitTimestamp,
  query: string | null,
): string | null {
  const keepsTime = run.reading('R35') === 'key-only'
  return filterArguments(query, ({ name }) => name !== keyname && (keepsTime || name !== timename))
}

/** A URL with its forms. */
export function createSubject(url: RequestUrl): Subject {
  return { url, forms: buildForms(url) }
}

/** Tests whether the client's URL is protected and signed. */
export function isSignedUrl(run: Run, item: VisitTimestamp): Answer<boolean> {
  return all(
    () => findSignature(run, item) !== null,
    () => isProtected(run, item),
  )
}
