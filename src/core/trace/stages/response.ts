import type {
  ErrorPageRewrite,
  Https,
  SmartCompression,
  SpeedLimit,
  VideoDrag,
} from '../../catalog/generated/items.ts'
import type { Text } from '../../model/secret.ts'
import { createTimeZone } from '../../model/time/time-zone.ts'
import { all, any, choose, isSet, map, mapBoth, not, some, type Answer } from '../answer.ts'
import { agree, findDeciders } from '../first-match.ts'
import { Regex } from '../match/regex.ts'
import { chooseForm, compilePattern, matchUrl, matchUrlRegex } from '../match/url.ts'
import { remember } from '../remember.ts'
import { given, notGiven, parseMinutes, readHeader } from '../request.ts'
import type { Run } from '../run.ts'
import { readPlain } from '../secret-text.ts'
import { formatAuthority, formatFull, parseArguments } from '../url.ts'
import { isDenied } from './access.ts'
import { readAccessHeader } from './headers.ts'
import { readFollow } from './origin-request.ts'
import { seeUrl } from './seen.ts'
import { findZone } from './signature.ts'

export type Outcome = 'refused' | 'denied' | 'redirect' | 'served'

/** Reads `https` if it has a certificate; null without one. */
function readHttps<T>(run: Run, read: (item: Https) => T): Answer<T | null> {
  return run.read('https', null, (item) => (item.cert_id === 0 ? null : read(item)))
}

/** Whether the connection is refused: https without a certificate. */
export function isRefused(run: Run): Answer<boolean> {
  return run.facts.url.scheme === 'https' && not(isSet(readHttps(run, () => true)))
}

/** The settings of the connection; null without a certificate. */
export function readSettings(run: Run): Answer<Record<string, unknown> | null> {
  return readHttps(run, ({ http2 = null, ocsp = null, ssl_protocol = null }) => ({
    http2,
    ocsp,
    ssl_protocol,
  }))
}

/** The status of the redirect to https; null for none. */
export function readRedirect(run: Run): Answer<301 | 302 | null> {
  if (run.facts.url.scheme === 'https') return null
  return readHttps(run, ({ force_https: status }) => status || null)
}

/** The target of the redirect to https; null for none. */
export function readTarget(run: Run): Answer<string | null> {
  return map(readRedirect(run), (status) => {
    if (status === null) return null
    const { url } = run.facts
    const port = url.port !== null && run.reading('R78') === 'kept' ? url.port : null
    return formatAuthority({ ...url, scheme: 'https', port }) + formatFull(url)
  })
}

/** What becomes of the request (request semantics, 3.3). */
export function readOutcome(run: Run): Answer<Outcome> {
  return run.once(findOutcome)
}

function findOutcome(run: Run): Answer<Outcome> {
  const isRedirected = isSet(readRedirect(run))
  const findBoth = () => (run.reading('R16') === 'access-first' ? 'denied' : 'redirect')
  return choose(isRefused(run), 'refused', () =>
    choose(
      isDenied(run),
      () => choose(isRedirected, findBoth, 'denied'),
      () => choose(isRedirected, 'redirect', 'served'),
    ),
  )
}

/** The status of the response (request semantics, 3.6); null if there is none. */
export function readStatus(run: Run): Answer<number | null> {
  return map(run.once(findStatus), ({ status }) => status)
}

/** Where the response sends the client; null for nowhere. */
export function readLocation(run: Run): Answer<string | null> {
  return map(run.once(findStatus), ({ location }) => location)
}

interface Status {
  status: Answer<number | null>
  location: Answer<string | null>
}

function findStatus(run: Run): Answer<Status> {
  return map(readOutcome(run), (outcome): Status => {
    if (outcome === 'refused') return { status: null, location: null }
    if (outcome === 'redirect') return { status: readRedirect(run), location: readTarget(run) }
    if (outcome === 'served') return readServed(run)
    const status = Number(run.settled('R17'))
    return run.reading('R69') === 'all' ? mapStatus(run, status) : { status, location: null }
  })
}

/** Finds what `error_page_rewrite` makes of a status; the last rule for it counts. */
function mapStatus(run: Run, status: Answer<number>): Status {
  const pages = run.read('error_page_rewrite', [], (rules) => rules)
  const isError = all(
    map(status, (code) => code >= 400),
    () => map(pages, ({ length }) => length > 0),
  )
  const find = (rules: ErrorPageRewrite, code: number) =>
    rules.findLast((rule) => rule.error_status_code === code) ?? null
  const page = choose(isError, () => mapBoth(pages, status, find), null)
  return {
    status: map(page, (found) => found?.redirect_status_code ?? status),
    location: map(page, (found) => readPlain(found?.redirect_url ?? null)),
  }
}

function readServed(run: Run): Status {
  const status = given(run.facts.origin.status, 'origin.status')
  const codes = readFollow(run)
  const isRedirect = (code: number) => code === 301 || code === 302
  const isFollowed = all(
    map(codes, (known) => known.some(isRedirect)),
    map(status, isRedirect),
    mapBoth(codes, status, (known, code) => known.includes(code)),
  )
  const mapped = mapStatus(run, status)
  const followed = notGiven('origin.followed')
  return {
    status: choose(isFollowed, followed, mapped.status),
    location: choose(isFollowed, followed, mapped.location),
  }
}

type Algorithm = 'gzip' | 'br'

/** The compression of the response (R74). */
export function readCompression(run: Run): Answer<Algorithm | 'none'> {
  const isUsed = (algorithm: Algorithm) =>
    all(isOffered(run, algorithm), () => isAccepted(run, algorithm))
  const br = isUsed('br')
  return choose(
    isUsed('gzip'),
    () => choose(br, () => (run.reading('R74') === 'gzip' ? 'gzip' : 'br'), 'gzip'),
    () => choose(br, 'br', 'none'),
  )
}

/** Tests whether an item offers an algorithm (R72, R73). */
function isOffered(run: Run, algorithm: Algorithm): Answer<boolean> {
  const bySmart = () =>
    run.read('smart_compression', false, (item) => offersSmart(run, algorithm, item))
  const bySimple = () =>
    run.read('compress_response', false, (item) =>
      all(
        fits(run, item.content_type, item.min_size, item.min_size_unit),
        () => run.reading('R73') === algorithm,
      ),
    )
  if (run.item('compress_response') === null) return bySmart()
  if (run.reading('R72') === 'both') return any(bySmart, bySimple)
  return choose(isSet(run.item('smart_compression')), bySmart, bySimple)
}

function offersSmart(run: Run, algorithm: Algorithm, item: SmartCompression): Answer<boolean> {
  const name = algorithm === 'br' ? 'brotli' : 'gzip'
  const types = item[`${name}_content_type` as const] ?? []
  const least = item[`${name}_compression_value` as const] ?? 0
  const unit = item[`${name}_compression_unit` as const] ?? 'KB'
  return item.compression_mode.split('&').includes(name) && fits(run, types, least, unit)
}

/** Tests whether type and size of the origin's answer are compressed (R29, R70). */
function fits(run: Run, types: readonly Text[], least: number, unit: 'KB' | 'MB'): Answer<boolean> {
  const { headers, size } = run.facts.origin
  const isListed = (text: string) => {
    const isStripped = text.includes(';') && run.reading('R70') === 'strip'
    const [sent = ''] = isStripped ? text.split(';') : [text]
    const name = (type: string) => type.trim().toLowerCase()
    return some(types, (type) => map(readPlain(type), (known) => name(known) === name(sent)))
  }
  return all(
    map(readHeader(headers, 'content-type', 'origin.'), (text) => text !== null && isListed(text)),
    () =>
      map(given(size, 'origin.size'), (bytes) => {
        const kilo = run.reading('R29') === '1000' ? 1000 : 1024
        return bytes >= least * kilo ** (unit === 'KB' ? 1 : 2)
      }),
  )
}

/** Tests whether the client accepts an algorithm (R71). */
function isAccepted(run: Run, algorithm: Algorithm): Answer<boolean> {
  if (run.reading('R71') === 'always') return true
  return map(readAccessHeader(run, 'accept-encoding'), (text) =>
    (text ?? '').split(',').some((part) => {
      const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase())
      const weight = parameters.find((each) => /^q\s*=/.test(each))
      return name === algorithm && Number(weight?.replace(/^q\s*=\s*/, '') ?? 1) > 0
    }),
  )
}

const compileSpeed = remember((rules: SpeedLimit) =>
  rules.map((rule, i) => ({
    begin: parseMinutes(rule.begin_time),
    end: parseMinutes(rule.end_time),
    speed: Number(rule.speed),
    pattern: compilePattern(rule.type, rule.pattern, `speed_limit/${i}/pattern`),
  })),
)

type SpeedRule = ReturnType<typeof compileSpeed>[number]

/** The speed limit in KB/s; null for none (R75). */
export function readSpeedLimit(run: Run): Answer<number | null> {
  return run.read('speed_limit', null, (item) => {
    const rules = [...compileSpeed(item)]
    const order = run.reading('R75')
    if (order === 'last') rules.reverse()
    if (order === 'lowest') rules.sort((a, b) => a.speed - b.speed)
    const found = findDeciders(rules, (rule) => holdsNow(run, rule))
    return agree(found, (rule) => (rule === null ? null : Math.ceil(rule.speed / 8)))
  })
}

/** Tests whether a rule matches in its window; at its end R76 says. */
function holdsNow(run: Run, { pattern, begin, end }: SpeedRule): Answer<boolean> {
  return all(matchUrl(run, pattern, seeUrl(run), 'R6', 'W'), () =>
    map(readTime(run), (time) =>
      time === end ? run.reading('R76') === 'inside' : begin <= time && time < end,
    ),
  )
}

/** Minutes since midnight by the clock of the service. */
function readTime(run: Run): Answer<number> {
  const { time, at } = run.facts
  if (time !== undefined) return time
  return map(given(at, 'time'), (seconds) => {
    const local = createTimeZone(findZone(run)).toLocal(seconds * 1000)
    return Math.floor(local / 60_000) % 1440
  })
}

/** The limit of the rate of delivery; null for none. */
export function readRateLimit(run: Run): Answer<{ rate: string; after: string | null } | null> {
  return run.read('rate_limit', null, (item) => {
    const { leading_flow_count: count, leading_flow_unit: unit = 'MB' } = item
    return {
      rate: `${item.max_rate_count} ${item.max_rate_unit ?? 'MB'}`,
      after: count === undefined ? null : `${count} ${unit}`,
    }
  })
}

const compileDrag = remember((item: VideoDrag) => new Regex(item.url, 'video_drag/url'))

/** Whether the request seeks in a video (R77). */
export function isDrag(run: Run): Answer<boolean> {
  return run.read('video_drag', false, (item) => {
    const regex = compileDrag(item)
    return all(
      map(seeUrl(run), ({ url, forms }) => {
        const names = parseArguments(url.query).map(({ name }) => name)
        const [hasStart, hasEnd] = [names.includes(item.start), names.includes(item.end)]
        const needed = run.reading('R77')
        const hasPosition =
          needed === 'start'
            ? hasStart
            : needed === 'both'
              ? hasStart && hasEnd
              : hasStart || hasEnd
        const { path } = chooseForm(run, forms)
        if (path === null) return hasPosition && regex.undecidable
        const kinds = (['mp4', 'flv'] as const).filter((kind) => item[kind] === 'on')
        return hasPosition && kinds.some((kind) => path.endsWith(`.${kind}`))
      }),
      () => matchUrlRegex(run, regex, seeUrl(run), 'R6'),
    )
  })
}
