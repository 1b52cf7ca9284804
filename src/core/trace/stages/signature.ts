import { createHash } from 'node:crypto'
import type { VisitTimestamp } from '../../catalog/generated/items.ts'
import { createTimeZone } from '../../model/time/time-zone.ts'
import { all, choose, map, Unknown, type Answer } from '../answer.ts'
import { Regex } from '../match/regex.ts'
import { matchUrlRegex } from '../match/url.ts'
import { remember } from '../remember.ts'
import { given } from '../request.ts'
import type { Run } from '../run.ts'
import { readText } from '../secret-text.ts'
import { BadRequest, filterArguments, parseArguments, type RequestUrl } from '../url.ts'

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
  const parts = item.req_uri_type < 3 ? findArguments(run, item) : findSegments(run, item)
  const seconds = parts && readTime(run, item.time_format, parts.time)
  return parts === null || seconds === null ? null : { ...parts, seconds }
}

type Parts = Omit<Signature, 'seconds'> | null

function findArguments(run: Run, item: VisitTimestamp): Parts {
  const { path: uri, query } = run.facts.url
  const sent = parseArguments(query)
  const [keyAt = -1, timeAt = -1] = [item.keyname ?? 'key', item.timename ?? 'time'].map((wanted) =>
    sent.findIndex(({ name }) => name === wanted),
  )
  const { value: key } = sent[keyAt] ?? {}
  const { value: time } = sent[timeAt] ?? {}
  if (!key || !time) return null
  const isInOrder = (item.req_uri_type === 1) === keyAt < timeAt
  return isInOrder || run.reading('R33') === 'loose' ? { key, time, uri } : null
}

function findSegments({ facts }: Run, { req_uri_type: type }: VisitTimestamp): Parts {
  const [, first = '', second = '', ...rest] = facts.url.path.split('/')
  if (rest.length === 0) return null
  const [time, key] = type === 3 ? [first, second] : [second, first]
  return { key, time, uri: `/${rest.join('/')}` }
}

/** Reads the time of a signature; null if it is none. */
function readTime(run: Run, format: VisitTimestamp['time_format'], text: string): number | null {
  if (format === 'timestamp') return /^\d{1,12}$/.test(text) ? Number(text) : null
  if (format === 'timestamp_hex') return /^[0-9a-f]{1,10}$/i.test(text) ? Number(`0x${text}`) : null
  // A date of the calendar, YYYYmmddHHii.
  const date = text.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3T$4:$5')
  const ms = date === text ? Number.NaN : Date.parse(`${date}Z`)
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(date)) return null
  return Math.floor(createTimeZone(findZone(run)).toUtc(ms) / 1000)
}

/** The zone of windows and dates (R31). */
export function findZone(run: Run): string {
  const zone = run.reading('R31')
  return zone === 'service' ? run.settings.timezone : zone
}

/** The fields by which a protected URL may be denied. */
export function listFaults(
  item: VisitTimestamp,
): { pointer: string; matches: (run: Run) => Answer<boolean> }[] {
  const read = (
    pointer: string,
    holds: (run: Run, found: Signature | null) => Answer<boolean>,
  ) => ({
    pointer,
    matches: (run: Run) => holds(run, findSignature(run, item)),
  })
  return [
    read('/req_uri_type', (run, found) => found === null && run.reading('R32') === 'deny'),
    read('/deadtime', (run, found) => found !== null && isOutOfTime(run, item, found)),
    read('/key', (run, found) => found !== null && isForged(run, item, found)),
  ]
}

/** Tests whether a signature is old, or of the future (R36). */
function isOutOfTime(run: Run, item: VisitTimestamp, { seconds }: Signature): Answer<boolean> {
  return map(
    given(run.facts.at, 'at'),
    (now) => now - seconds > item.deadtime || (seconds > now && run.reading('R36') === 'invalid'),
  )
}

/** Tests whether a signature is wrong, by computing it (R34 has one answer) or by the fact. */
function isForged(
  { facts }: Run,
  { key, style }: VisitTimestamp,
  found: Signature,
): Answer<boolean> {
  const keys = readText(facts, key)
  const said = facts.signature
  if (keys instanceof Unknown) return said === undefined ? keys : said === 'invalid'
  const order = style === undefined || style === '' ? '$ourkey$uri$time' : style
  const known = keys.split(' ').filter((each) => each !== '')
  const hashes = known.map((each) => hashSignature(order, each, found.uri, found.time))
  const truth = hashes.includes(found.key.toLowerCase()) ? 'valid' : 'invalid'
  if (said !== undefined && said !== truth)
    throw new BadRequest(
      `signature: ${said} contradicts the signature of the URL, which is ${truth}`,
    )
  return truth === 'invalid'
}

/** Hashes a key, the path and the time in the order of a style. */
export function hashSignature(order: string, key: string, uri: string, time: string): string {
  const parts: Record<string, string> = { $ourkey: key, $uri: uri, $time: time }
  const text = order.replace(/\$(?:ourkey|uri|time)/g, (name) => parts[name] ?? '')
  return createHash('md5').update(text).digest('hex')
}

/** Tests whether the client's URL is protected and signed. */
export function isSignedUrl(run: Run, item: VisitTimestamp): Answer<boolean> {
  return all(findSignature(run, item) !== null, () => isProtected(run, item))
}

/**
 * Takes the signature out of the client's URL if it is protected and signed (request semantics,
 * 3.1, "strip").
 */
export function strip(run: Run): Answer<RequestUrl> {
  const { url } = run.facts
  return run.read('visit_timestamp', url, (item) =>
    choose(isSignedUrl(run, item), () => takeOut(run, item, url), url),
  )
}

function takeOut(run: Run, item: VisitTimestamp, url: RequestUrl): RequestUrl {
  if (item.req_uri_type < 3) return removeSignature(run, item, url)
  const { time = '', uri = '' } = findSignature(run, item) ?? {}
  return { ...url, path: run.reading('R35') === 'key-only' ? `/${time}${uri}` : uri }
}

/** Removes the arguments of a signature (R35). */
export function removeSignature<Url extends { query: string | null }>(
  run: Run,
  { timename = 'time', keyname = 'key' }: VisitTimestamp,
  url: Url,
): Url {
  const removed = run.reading('R35') === 'key-only' ? [keyname] : [keyname, timename]
  return { ...url, query: filterArguments(url.query, ({ name }) => !removed.includes(name)) }
}
