import type {
  CompressResponse,
  ErrorPageRewrite,
  Https,
  RateLimit,
  SmartCompression,
  SpeedLimit,
  VideoDrag,
} from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { Value } from '../../model/item.ts'
import { isSet, all, any, choose, map, mapBoth, some, Unknown, type Answer } from '../answer.ts'
import { askOnce, type Evaluation, type Question, type Questions } from '../evaluation.ts'
import { agree, findDeciders } from '../first-match.ts'
import {
  chooseForm,
  compilePattern,
  matchUrl,
  matchUrlRegex,
  type UrlPattern,
} from '../match/url.ts'
import { Regex } from '../match/regex.ts'
import { remember } from '../remember.ts'
import { notGiven, parseMinutes, readHeader } from '../request.ts'
import { createTimeZone } from '../../model/time/time-zone.ts'
import type { Text } from '../../model/secret.ts'
import { readPlain } from '../secret-text.ts'
import { formatAuthority, formatFull, parseArguments } from '../url.ts'
import { askDenied } from './access.ts'
import { askAccessHeader } from './headers.ts'
import { askFollow } from './origin-request.ts'
import { askSeen } from './seen.ts'
import { findZone } from './signature.ts'

export type Outcome = 'refused' | 'denied' | 'redirect' | 'served'

/** Tests whether the connection is refused: https without a certificate. */
export const askRefused = askOnce<boolean>((e) =>
  e.facts.url.scheme === 'http' ? false : map(readCertificate(e), (id) => id === 0),
)

function readHttps(e: Evaluation): Answer<Https> {
  return map(e.item('https'), (value) =>
    value === null ? { cert_id: 0 } : castAccepted<Https>(value),
  )
}

function readCertificate(e: Evaluation): Answer<number> {
  return map(readHttps(e), ({ cert_id: id }) => id)
}

/** Asks for the settings of the connection; null without a certificate. */
export const askSettings = askOnce<Record<string, unknown> | null>((e) =>
  map(readHttps(e), ({ cert_id: id, http2 = null, ocsp = null, ssl_protocol = null }) =>
    id === 0 ? null : { http2, ocsp, ssl_protocol },
  ),
)

/** Asks whether the request is redirected to https. */
export const askRedirected = askOnce<boolean>((e) => isSet(readRedirect(e)))

/** The status of the redirect to https; null for none. */
function readRedirect(e: Evaluation): Answer<301 | 302 | null> {
  if (e.facts.url.scheme === 'https') return null
  return map(readHttps(e), ({ cert_id: id, force_https: status }) =>
    id > 0 && (status === 301 || status === 302) ? status : null,
  )
}

/** Asks for the status of the redirect to https; null for none. */
export const askRedirect = askOnce<301 | 302 | null>(readRedirect)

/** Asks for the target of the redirect to https; null for none. */
export const askRedirectTarget = askOnce<string | null>((e, q) =>
  map(e.ask(askRedirected(q)), (isRedirected) => {
    if (!isRedirected) return null
    const { url } = e.facts
    const isKept = url.port !== null && e.reading('R78') === 'kept'
    const port = isKept ? url.port : null
    return formatAuthority({ ...url, scheme: 'https', port }) + formatFull(url)
  }),
)

/** Asks what becomes of the request (request semantics, 3.3). */
export const askOutcome = askOnce<Outcome>((e, q) => {
  if (e.suppose('refused', e.ask(askRefused(q)))) return 'refused'
  const isDenied = e.suppose('denied', e.ask(askDenied(q)))
  const isRedirected = e.suppose('redirected', e.ask(askRedirected(q)))
  if (isDenied && isRedirected) return e.reading('R16') === 'access-first' ? 'denied' : 'redirect'
  if (isDenied) return 'denied'
  return isRedirected ? 'redirect' : 'served'
})

type ErrorPages = ReadonlyMap<number, ErrorPageRewrite[number]>

function readErrorPages(e: Evaluation): Answer<ErrorPages> {
  return map(e.item('error_page_rewrite'), (value) =>
    value === null
      ? new Map()
      : new Map(
          castAccepted<ErrorPageRewrite>(value).map((rule) => [rule.error_status_code, rule]),
        ),
  )
}

/** Asks for status and location of the response (request semantics, 3.6). */
export const askStatus = remember((q: Questions): Question<Status> =>
  q.askAll((e) => {
    const outcome = e.ask(askOutcome(q))
    if (outcome instanceof Unknown) return { status: outcome, location: outcome }
    if (outcome === 'refused') return { status: null, location: null }
    if (outcome === 'redirect')
      return { status: e.ask(askRedirect(q)), location: e.ask(askRedirectTarget(q)) }
    return outcome === 'denied' ? readDenied(e) : readServed(e, q)
  }),
)

/** Status and location of a response. */
export interface Status {
  [name: string]: unknown
  status: Answer<number | null>
  location: Answer<string | null>
}

function readDenied(e: Evaluation): Status {
  const status = map(e.open('R17'), (code) => Number(code))
  const pages = readErrorPages(e)
  const isPlain = !(pages instanceof Unknown) && pages.size === 0
  if (isPlain || e.reading('R69') === 'origin-only') return { status, location: null }
  return mapStatus(status, pages)
}

function mapStatus(status: Answer<number>, pages: Answer<ErrorPages>): Status {
  const page = mapBoth(status, pages, (code, known) => known.get(code) ?? null)
  return {
    status: map(page, (found) => found?.redirect_status_code ?? status),
    location: map(page, (found) => readPlain(found?.redirect_url ?? null)),
  }
}

function readServed(e: Evaluation, q: Questions): Status {
  const { status: code } = e.facts.origin
  const status = code ?? notGiven('origin.status')
  const follow = e.ask(askFollow(q))
  const isFollowed =
    !(follow instanceof Unknown) && follow.length === 0
      ? false
      : mapBoth(follow, status, (codes, known) => codes.includes(known))
  const pages = readErrorPages(e)
  const isPlain = (code ?? 400) < 400 || (!(pages instanceof Unknown) && pages.size === 0)
  const mapped = isPlain ? { status, location: null } : mapStatus(status, pages)
  const followed = () => notGiven('origin.followed')
  return {
    status: choose<number | null>(isFollowed, followed, () => mapped.status),
    location: choose<string | null>(isFollowed, followed, () => mapped.location),
  }
}

type Algorithm = 'gzip' | 'br'

/** Asks for the compression of the response. */
export const askCompression = askOnce<Algorithm | 'none'>((e, q) => {
  const isUsed = (algorithm: Algorithm): Answer<boolean> =>
    all(
      () => isOffered(e, algorithm),
      () => isAccepted(e, q, algorithm),
    )
  const br = isUsed('br')
  const choosePair = (both: () => Algorithm, other: Algorithm | 'none') =>
    choose<Algorithm | 'none'>(br, both, () => other)
  return choose(
    isUsed('gzip'),
    () => choosePair(() => (e.reading('R74') === 'br' ? 'br' : 'gzip'), 'gzip'),
    () => choosePair(() => 'br', 'none'),
  )
})

function isOffered(e: Evaluation, algorithm: Algorithm): Answer<boolean> {
  const [simple, smart] = [e.item('compress_response'), e.item('smart_compression')]
  const bySmart = () => map(smart, (value) => offersSmart(e, algorithm, value))
  const bySimple = () => map(simple, (value) => offersSimple(e, algorithm, value))
  if (simple === null) return bySmart()
  if (smart === null) return bySimple()
  if (e.reading('R72') === 'both') return any(bySmart, bySimple)
  return choose(isSet(smart), bySmart, bySimple)
}

function offersSimple(e: Evaluation, algorithm: Algorithm, value: Value): Answer<boolean> {
  if (value === null) return false
  const item = castAccepted<CompressResponse>(value)
  return all(
    () => fits(e, item.content_type, item.min_size, item.min_size_unit),
    () => e.reading('R73') === algorithm,
  )
}

function offersSmart(e: Evaluation, algorithm: Algorithm, value: Value): Answer<boolean> {
  if (value === null) return false
  const item = castAccepted<SmartCompression>(value)
  const modes = item.compression_mode.split('&')
  if (!modes.includes(algorithm === 'br' ? 'brotli' : 'gzip')) return false
  return algorithm === 'br'
    ? fits(
        e,
        item.brotli_content_type ?? [],
        item.brotli_compression_value ?? 0,
        item.brotli_compression_unit ?? 'KB',
      )
    : fits(
        e,
        item.gzip_content_type ?? [],
        item.gzip_compression_value ?? 0,
        item.gzip_compression_unit ?? 'KB',
      )
}

/** Tests whether type and size of the origin's answer are compressed. */
function fits(
  e: Evaluation,
  types: readonly Text[],
  least: number,
  unit: 'KB' | 'MB',
): Answer<boolean> {
  return all(
    () =>
      map(readHeader(e.facts.origin.headers, 'content-type', 'origin.'), (text) =>
        text === null ? false : some(types, (type) => isListed(e, type, text)),
      ),
    () => {
      const { size } = e.facts.origin
      if (size === undefined) return notGiven('origin.size')
      const power = unit === 'KB' ? 1 : 2
      const [small, large] = [size >= least * 1000 ** power, size >= least * 1024 ** power]
      if (small === large) return small
      return e.reading('R29') === '1000' ? small : large
    },
  )
}

function isListed(e: Evaluation, type: Text, text: string): Answer<boolean> {
  return map(readPlain(type), (known) => {
    const is = (each = '') => known.trim().toLowerCase() === each.trim().toLowerCase()
    const [stripped, whole] = [is(text.split(';')[0]), is(text)]
    if (stripped === whole) return whole
    return e.reading('R70') === 'strip' ? stripped : whole
  })
}

/** Tests whether the client accepts an algorithm (R71). */
function isAccepted(e: Evaluation, q: Questions, algorithm: Algorithm): Answer<boolean> {
  const accepted = map(e.ask(askAccessHeader(q, 'accept-encoding')), (text) =>
    (text ?? '').split(',').some((part) => {
      const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase())
      const weight = parameters.find((each) => /^q\s*=/.test(each))
      return name === algorithm && Number(weight?.replace(/^q\s*=\s*/, '') ?? 1) > 0
    }),
  )
  if (accepted === true) return true
  return e.reading('R71') === 'always' ? true : accepted
}

type SpeedRule = SpeedLimit[number]

const compileSpeed = remember((rules: SpeedLimit) =>
  rules.map((rule, i) => ({
    rule,
    kiloBytes: Math.ceil(Number(rule.speed) / 8),
    pattern: compilePattern(rule.type, rule.pattern, `speed_limit/${i}/pattern`),
  })),
)

/** Asks for the speed limit in KB/s; null for none. */
export const askSpeedLimit = askOnce<number | null>((e, q) =>
  map(e.item('speed_limit'), (value) => {
    if (value === null) return null
    const rules = compileSpeed(castAccepted<SpeedLimit>(value)).map((each) => ({
      ...each,
      holds: all(
        () => e.ask(askSpeedMatch(q, each.pattern)),
        () => isInside(e, each.rule),
      ),
    }))
    const held = rules.filter(({ holds }) => holds !== false)
    const { deciders, unknown } = findDeciders(rankSpeeds(e, held), ({ holds }) => holds)
    return agree(
      deciders.map((decider) => decider?.kiloBytes ?? null),
      unknown,
    )
  }),
)

function askSpeedMatch(q: Questions, pattern: UrlPattern): Question<Answer<boolean>> {
  return q.keep(pattern, 'match', () =>
    q.ask((e) => matchUrl(e, pattern, e.ask(askSeen(q)), 'R6', 'W')),
  )
}

function rankSpeeds<T extends { kiloBytes: number; rule: SpeedRule }>(
  e: Evaluation,
  rules: T[],
): T[] {
  if (rules.length < 2) return rules
  const order = e.reading('R75')
  if (order === 'first') return rules
  if (order === 'last') return rules.toReversed()
  return rules.toSorted((a, b) => Number(a.rule.speed) - Number(b.rule.speed))
}

/** Tests whether the time is in the window of a rule; at its end R76 says. */
function isInside(e: Evaluation, { begin_time, end_time }: SpeedRule): Answer<boolean> {
  return map(readTime(e), (time) => {
    if (time === parseMinutes(end_time)) return e.reading('R76') === 'inside'
    return parseMinutes(begin_time) <= time && time < parseMinutes(end_time)
  })
}

/** Minutes since midnight by the clock of the service. */
function readTime(e: Evaluation): Answer<number> {
  const { time, at } = e.facts
  if (time !== undefined) return time
  if (at === undefined) return notGiven('time')
  return map(findZone(e), (zone) => {
    const local = createTimeZone(zone).toLocal(at * 1000)
    return Math.floor(local / 60_000) % 1440
  })
}

/** Asks for the limit of the rate of delivery; null for none. */
export const askRateLimit = askOnce<{ rate: string; after: string | null } | null>((e) =>
  map(e.item('rate_limit'), (value) => {
    if (value === null) return null
    const item = castAccepted<RateLimit>(value)
    const { leading_flow_count: count, leading_flow_unit: unit = 'MB' } = item
    return {
      rate: `${item.max_rate_count} ${item.max_rate_unit ?? 'MB'}`,
      after: count === undefined ? null : `${count} ${unit}`,
    }
  }),
)

const compileDrag = remember((item: VideoDrag) => new Regex(item.url, 'video_drag/url'))

/** Asks whether the request seeks in a video. */
export const askDrag = askOnce<boolean>((e, q) =>
  map(e.item('video_drag'), (value) => {
    if (value === null) return false
    const item = castAccepted<VideoDrag>(value)
    const seen = e.ask(askSeen(q))
    return all(
      () => map(seen, ({ forms }) => endsAsVideo(chooseForm(e, forms).path, item)),
      () => map(seen, ({ url }) => hasPosition(e, item, url.query)),
      () => matchUrlRegex(e, compileDrag(item), seen, 'R6'),
    )
  }),
)

function endsAsVideo(path: string | null, { mp4, flv }: VideoDrag): Answer<boolean> {
  if (path === null) return new Unknown(['undecidable video_drag/url'])
  return (path.endsWith('.mp4') && mp4 === 'on') || (path.endsWith('.flv') && flv === 'on')
}

/** Tests the arguments of the position (R77). */
function hasPosition(
  e: Evaluation,
  { start, end }: VideoDrag,
  query: string | null,
): Answer<boolean> {
  const names = new Set(parseArguments(query).map(({ name }) => name))
  const [hasStart, hasEnd] = [names.has(start), names.has(end)]
  if (hasStart === hasEnd) return hasStart
  const needed = e.reading('R77')
  if (needed === 'both') return false
  return needed === 'either' || hasStart
}
