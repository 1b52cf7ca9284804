import { createHash } from 'node:crypto'
import type { VisitTimestamp } from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { Value } from '../../model/item.ts'
import { createTimeZone } from '../../model/time/time-zone.ts'
import { isSet, all, any, choose, map, uniteUnknown, Unknown, type Answer } from '../answer.ts'
import type { Evaluation } from '../evaluation.ts'
import { matchUrlRegex } from '../match/url.ts'
import { Regex } from '../match/regex.ts'
import { remember } from '../remember.ts'
import { notGiven } from '../request.ts'
import { readText } from '../secret-text.ts'
import { BadRequest, buildForms, filterArguments, parseArguments, type RequestUrl } from '../url.ts'

/** The signature in a URL (request semantics, 3.2, "visit_timestamp"). */
interface Signature {
  key: string
  time: string
  /** The path that is signed. */
  uri: string
  /** Seconds; null if the time is none, and the URL unsigned. */
  seconds: Answer<number | null>
}

const compileRegex = remember(
  (value: VisitTimestamp) => new Regex(value.pattern, 'visit_timestamp/pattern'),
)

/** Tests whether the item protects a URL: its pattern and the whole URL, with or without port. */
export function isProtected(e: Evaluation, value: Value): Answer<boolean> {
  const regex = compileRegex(castAccepted<VisitTimestamp>(value))
  const { url, forms } = e.facts
  const withPort = url.port === null || e.reading('R13') === 'with-port'
  return matchUrlRegex(e, regex, { url, forms }, 'R6', 'W', withPort)
}

/** Finds the parts of the signature of the client's URL; null if it has none. */
function findSignature(e: Evaluation, value: Value): Signature | null {
  const item = castAccepted<VisitTimestamp>(value)
  const parts =
    item.req_uri_type < 3 ? findArguments(e, item) : findSegments(e.facts.url, item.req_uri_type)
  if (parts === null) return null
  const seconds = readTime(e, item.time_format, parts.time)
  return seconds === null ? null : { ...parts, seconds }
}

function findArguments(
  e: Evaluation,
  { req_uri_type, timename = 'time', keyname = 'key' }: VisitTimestamp,
): Omit<Signature, 'seconds'> | null {
  const found = parseArguments(e.facts.url.query)
  const [key, time] = [keyname, timename].map((name) =>
    found.findIndex((argument) => argument.name === name),
  )
  const [keyText, timeText] = [found[key ?? -1]?.value ?? '', found[time ?? -1]?.value ?? '']
  if (keyText === '' || timeText === '') return null
  const isInOrder = req_uri_type === 1 ? Number(key) < Number(time) : Number(time) < Number(key)
  if (!isInOrder && e.reading('R33') === 'strict') return null
  return { key: keyText, time: timeText, uri: e.facts.url.path }
}

function findSegments(url: RequestUrl, type: number): Omit<Signature, 'seconds'> | null {
  const [first, second, ...rest] = url.path.slice(1).split('/')
  if (first === undefined || second === undefined || rest.length === 0) return null
  const [key, time] = type === 3 ? [second, first] : [first, second]
  return { key, time, uri: `/${rest.join('/')}` }
}

/** Reads the time of a signature; null if it is none. */
function readTime(
  e: Evaluation,
  format: VisitTimestamp['time_format'],
  text: string,
): Answer<number | null> {
  if (format === 'timestamp') return /^\d{1,12}$/.test(text) ? Number(text) : null
  if (format === 'timestamp_hex')
    return /^[0-9a-f]{1,10}$/i.test(text) ? Number.parseInt(text, 16) : null
  const local = parseDate(text)
  if (local === null) return null
  return map(findZone(e), (zone) => Math.floor(createTimeZone(zone).toUtc(local) / 1000))
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
export function findZone(e: Evaluation): Answer<string> {
  return map(e.open('R31'), (zone) => {
    if (zone !== 'service') return String(zone)
    return e.settings.timezone ?? new Unknown(['not-specified R31'])
  })
}

/** Why a URL is denied, by the field that says so. */
export interface SignatureFault {
  pointer: '/req_uri_type' | '/deadtime' | '/key'
  holds: Answer<boolean>
}

/** Why the client's URL is denied: unsigned, old, of the future, or forged; in this order. */
export function findSignatureFaults(e: Evaluation, value: Value): SignatureFault[] {
  const item = castAccepted<VisitTimestamp>(value)
  const signature = findSignature(e, value)
  const isSigned = map(signature?.seconds ?? null, (seconds) => seconds !== null)
  const ifSigned = (test: (found: Signature) => Answer<boolean>): Answer<boolean> =>
    signature === null
      ? false
      : choose(
          isSigned,
          () => test(signature),
          () => false,
        )
  return [
    {
      pointer: '/req_uri_type',
      holds: choose(
        isSigned,
        () => false,
        () => e.reading('R32') === 'deny',
      ),
    },
    { pointer: '/deadtime', holds: ifSigned((found) => isOld(e, item, found)) },
    { pointer: '/deadtime', holds: ifSigned((found) => isEarly(e, found)) },
    { pointer: '/key', holds: ifSigned((found) => isForged(e, item, found)) },
  ]
}

function isOld(e: Evaluation, item: VisitTimestamp, { seconds }: Signature): Answer<boolean> {
  const at = e.facts.at ?? notGiven('at')
  return uniteUnknown([at, seconds]) ?? map(at, (now) => now - Number(seconds) > item.deadtime)
}

function isEarly(e: Evaluation, { seconds }: Signature): Answer<boolean> {
  const at = e.facts.at ?? notGiven('at')
  const isAhead = uniteUnknown([at, seconds]) ?? map(at, (now) => Number(seconds) > now)
  if (isAhead === false || e.reading('R36') === 'valid') return false
  return isAhead
}

/** Tests whether a signature is wrong, by computing it or by the fact. */
function isForged(e: Evaluation, item: VisitTimestamp, found: Signature): Answer<boolean> {
  const text = e.open('R34')
  const key = readText(e.facts, item.key)
  const { signature } = e.facts
  if (text === 'plain' && !(key instanceof Unknown)) {
    const computed = isForgedPlain(key, item.style, found)
    if (signature !== undefined && (signature === 'invalid') !== computed)
      throw new BadRequest(
        `signature: ${signature} contradicts the signature of the URL, which is ` +
          (computed ? 'invalid' : 'valid'),
      )
    return computed
  }
  if (signature !== undefined) return signature === 'invalid'
  return text instanceof Unknown || !(key instanceof Unknown)
    ? new Unknown(['not-specified R34'])
    : key
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
  { key: given, uri, time }: Signature,
): boolean {
  const order = style === undefined || style === '' ? '$ourkey$uri$time' : style
  return !keys
    .split(' ')
    .filter((key) => key !== '')
    .some((key) => hashSignature(order, key, uri, time) === given.toLowerCase())
}

/**
 * Takes the signature out of the client's URL if it is protected and signed (request semantics,
 * 3.1, "strip").
 */
export function strip(e: Evaluation): Answer<RequestUrl> {
  const { url } = e.facts
  return map(e.item('visit_timestamp'), (value): Answer<RequestUrl> => {
    if (value === null) return url
    const signature = findSignature(e, value)
    if (signature === null) return url
    return choose(
      isSignedUrl(e, value),
      () => takeOut(e, castAccepted<VisitTimestamp>(value), url, signature),
      () => url,
    )
  })
}

function takeOut(
  e: Evaluation,
  item: VisitTimestamp,
  url: RequestUrl,
  { time, uri }: Signature,
): RequestUrl {
  const keepsTime = e.reading('R35') === 'key-only'
  if (item.req_uri_type >= 3) return { ...url, path: keepsTime ? `/${time}${uri}` : uri }
  return { ...url, query: removeSignature(item, url.query, keepsTime) }
}

/** Removes the arguments of a signature from a query. */
export function removeSignature(
  { timename = 'time', keyname = 'key' }: VisitTimestamp,
  query: string | null,
  keepsTime: boolean,
): string | null {
  return filterArguments(query, ({ name }) => name !== keyname && (keepsTime || name !== timename))
}

/** A URL with its forms. */
export function createSubject(url: RequestUrl): {
  url: RequestUrl
  forms: ReturnType<typeof buildForms>
} {
  return { url, forms: buildForms(url) }
}

/** The check of signed URLs: denied if the URL is protected, and unsigned or a fault holds. */
export function deniesSignature(e: Evaluation, value: Value): Answer<boolean> {
  return all(
    () => isProtected(e, value),
    () => {
      const item = castAccepted<VisitTimestamp>(value)
      const signature = findSignature(e, value)
      if (signature === null) return e.reading('R32') === 'deny'
      return choose(
        isSet(signature.seconds),
        () =>
          any(
            () => isOld(e, item, signature),
            () => isEarly(e, signature),
            () => isForged(e, item, signature),
          ),
        () => e.reading('R32') === 'deny',
      )
    },
  )
}

/** Tests whether the client's URL is protected and signed. */
export function isSignedUrl(e: Evaluation, value: Value): Answer<boolean> {
  return all(
    () => isProtected(e, value),
    () => isSet(findSignature(e, value)?.seconds ?? null),
  )
}
