import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { listAll, listSome } from '../../../core/model/text/words.ts'
import { parseUrl } from '../../../core/trace/url.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import {
  describeAnswer,
  describeCheckRule,
  describeChoice,
  describePlace,
  describeRule,
  explainUnknown,
  countReached,
  listChecks,
  listEntries,
  listTargets,
  part,
  passes,
  readReasons,
  readValue,
  type ReadRule,
  type TracedText,
} from './answers.ts'
import { describeCaching, formatSeconds, listCodes, listErrorTimes } from './duration.ts'

/** Names a request and its visitor: `GET https://www.example.com/ by a usual visitor`. */
export function nameRequest({ request, visitor }: JsonObject): string {
  const isUsual = visitor === 'usual'
  const method = part(request, 'method') ?? (isUsual ? 'GET' : '')
  const named = `${String(method)} ${String(part(request, 'url'))}`.trim()
  return `${named} by ${isUsual ? 'a usual' : 'an unknown'} visitor`
}

/** A trace that is told in sentences. */
export type ToldTrace = Pick<TracedText, 'output' | 'readRule'>

/** Names a request, and describes in sentences what happens to it, in one line. */
export function introduceTrace(traced: ToldTrace): string {
  return `${escapeInvisible(nameRequest(traced.output))}: ${describeTrace(traced)}`
}

/**
 * Describes in sentences what happens to a request: its outcome and what decides it; if it may be
 * served, how it is cached, where it comes from, whom else it would not reach, what follows errors,
 * and what else is done to the response.
 */
export function describeTrace({ output, readRule }: ToldTrace): string {
  const sentences = [
    describeOutcome(output, readRule),
    describeCache(output, readRule),
    describeOrigin(output),
    describePassing(output),
    describeErrors(output, readRule),
    describeHeaders(output),
    describeTransfer(output),
    describeForced(output, readRule),
  ]
  const reached = countReached(output) < 3 ? sentences.slice(0, 1) : sentences
  return escapeInvisible(reached.filter((sentence) => sentence !== '').join(' '))
}

/** Says of an answer that it is unknown, and why. */
function explain(trace: JsonObject, subject: string, field: string): string {
  return `${subject} is unknown: ${explainUnknown(trace, part(trace, field))}`
}

function describeOutcome(trace: JsonObject, readRule: ReadRule): string {
  const outcome = readValue(trace, 'outcome')
  if (outcome === undefined) return `${explain(trace, 'Whether it is served', 'outcome')}.`
  if (outcome === 'refused') return 'Refused: https without a certificate.'
  const status = readValue(trace, 'response.status')
  const location = readValue(trace, 'response.location')
  const to = typeof location === 'string' ? ` to ${location}` : ''
  const code = typeof status === 'number' ? ` with ${status}${to}` : ''
  if (outcome === 'denied') return `Denied${code}${describeDenial(trace, readRule)}.`
  if (outcome === 'redirect') return `Redirected${code}.`
  return `Served${status === 200 ? '' : code}.`
}

/** Describes what the URL would meet with http. */
function describeForced(trace: JsonObject, readRule: ReadRule): string {
  const isHttps = String(part(trace, 'request.url')).startsWith('https:')
  const status = Number(readRule({ item: 'https', pointer: '/force_https' }))
  return isHttps && status > 0 ? `With http it is redirected with ${status}.` : ''
}

function describeDenial(trace: JsonObject, readRule: ReadRule): string {
  const deciding = readValue(trace, 'access.deciding')
  const check = listChecks(trace).find(({ item }) => item === deciding)
  if (check === undefined) return ''
  const rule = describeCheckRule(check, readRule)
  return ` by ${String(deciding)}${rule && `: ${rule}`}${locate(check['rule'])}`
}

/** Describes where a rule stands, behind it: ` (domains/www.yaml:21)`. */
function locate(rule: Json | undefined): string {
  const place = describePlace(rule)
  return place && ` (${place})`
}

/** Describes whether, by which rule and for how long a response is cached, and under which key. */
function describeCache(trace: JsonObject, readRule: ReadRule): string {
  const policy = readValue(trace, 'cache.policy')
  if (policy === undefined) return `${explain(trace, 'Whether it is cached', 'cache.policy')}.`
  const status = String(part(trace, 'request.origin.status'))
  const error = part(trace, `cache.errorSeconds.value.${status}`)
  if (typeof error === 'number') return `Error ${status} is ${describeCaching(error)}.`
  const rule = nameRule(readValue(trace, 'cache.rule'), readRule)
  if (policy === 'bypass' || readValue(trace, 'cache.stored') === false) {
    const why = policy === 'bypass' ? '' : findObstacle(trace)
    return rule === ''
      ? `Not cached: no cache rule matches${why && `, and ${why}`}.`
      : `Not cached: rule ${rule} ${why === '' ? 'forbids it' : `matches, but ${why}`}.`
  }
  return `${describeTime(trace, rule)}; ${describeKeyParts(trace)}.`
}

/** Most characters of a pattern in a sentence. */
const maxPattern = 50

/** Names the deciding rule with its place; empty if there is none, or it is unknown. */
function nameRule(rule: Json | undefined, readRule: ReadRule): string {
  const named = describeRule(rule, readRule)
  const short = named.length > maxPattern ? `${named.slice(0, maxPattern)}…` : named
  return named && `"${short}"${locate(rule)}`
}

/** Finds why a response is not stored although no rule forbids it. */
function findObstacle(trace: JsonObject): string {
  const method = part(trace, 'request.method') ?? 'GET'
  if (method !== 'GET' && method !== 'HEAD') return `${String(method)} is not cached`
  const status = part(trace, 'request.origin.status') ?? 200
  if (!String(status).startsWith('2')) return `status ${String(status)} is not cached`
  const lifetime = readValue(trace, 'cache.lifetime')
  if (lifetime === null) return 'it names no time'
  return lifetime === 0 ? 'the origin names no time' : 'the origin forbids it'
}

function describeTime(trace: JsonObject, rule: string): string {
  const isOrigins = readValue(trace, 'cache.followsOrigin') === true
  const time = readValue(trace, isOrigins ? 'cache.lifetime' : 'cache.seconds')
  const by = rule && ` by ${rule}`
  if (typeof time !== 'number')
    return `Cached as long as the origin says${by || ': no cache rule matches'}`
  const obeys = readValue(trace, 'cache.obeysNoCache') !== false
  const rest = obeys ? 'unless the origin forbids it' : 'whatever the origin says'
  return `Cached for ${formatSeconds(time)}${by}, ${isOrigins ? 'as the origin says' : rest}`
}

/** Describes what the key keeps of the request, and with which requests it is shared. */
function describeKeyParts(trace: JsonObject): string {
  const key = readValue(trace, 'cache.key')
  if (!isObject(key)) return explain(trace, 'the key', 'cache.key')
  const { host, query } = parseUrl(String(part(trace, 'request.url')), null)
  const others = toList(key['domains'])
    .map(String)
    .filter((domain) => domain !== host)
  return [
    `the key ${describeQuery(query, key['query'] ?? null)}`,
    ...(key['scheme'] === 'any' ? ['alike for http and https'] : []),
    ...(others.length === 0 ? [] : [`shared with ${listSome(others)}`]),
  ].join(', ')
}

function describeQuery(sent: string | null, kept: Json): string {
  if (kept === sent) return sent === null ? 'is the URL' : 'is the URL with its query'
  if (kept === null) return 'drops the query'
  const names = String(kept)
    .split('&')
    .map((argument) => argument.replace(/=.*/s, ''))
  return `keeps only ${listSome([...new Set(names)])}`
}

function describeOrigin(trace: JsonObject): string {
  const main = readValue(trace, 'origin.main')
  if (readReasons(part(trace, 'origin.main')).includes('undecidable extend'))
    return 'Its origin is unknown, because extend may name another.'
  if (main === undefined) return `${explain(trace, 'Its origin', 'origin.main')}.`
  if (main === null) return 'No origin is set.'
  const url = readValue(trace, 'origin.url')
  const isRewritten = isObject(readValue(trace, 'origin.rewrite')) && typeof url === 'string'
  const backups = toList(readValue(trace, 'origin.backups')).map((each) =>
    nameTwo(listTargets(each), 'or'),
  )
  const as = isRewritten ? `, as ${url}` : ''
  const from = nameTwo(listTargets(main), 'or') + describeTransport(trace)
  return `Fetched from ${[from + as, ...backups].join(', else from ')}.`
}

/** Describes how the origin is reached; the usual port of a protocol is left out. */
function describeTransport(trace: JsonObject): string {
  const protocol = readValue(trace, 'origin.protocol')
  const port = readValue(trace, 'origin.port')
  if (protocol === undefined || port === undefined) return ''
  const isUsual = port === (protocol === 'https' ? 443 : 80) && !Array.isArray(protocol)
  return ` over ${describeChoice(protocol)}${isUsual ? '' : `, port ${describeChoice(port)}`}`
}

/** Names two, or one and the number of the others. */
function nameTwo([first = '', ...others]: string[], word: 'and' | 'or'): string {
  return listAll([first, ...(others.length > 1 ? [`${others.length} more`] : others)], word)
}

/** Describes which checks let the request pass, and so who is blocked. */
function describePassing(trace: JsonObject): string {
  const set = listChecks(trace).filter((check) => check['state'] === 'set' && passes(check))
  const names = set.map(({ item }) => String(item))
  return names.length === 0 ? '' : `Others are blocked by ${listAll(names, 'and')}.`
}

/** Describes what follows errors of the origin: another page, or how long they are cached. */
function describeErrors(trace: JsonObject, readRule: ReadRule): string {
  // Of several pages for a status, the last one counts.
  const pages = new Map(
    toList(readRule({ item: 'error_page_rewrite', pointer: '' })).map((each) => [
      String(part(each, 'error_status_code')),
      `redirected to ${String(part(each, 'redirect_url'))}`,
    ]),
  )
  const clauses = [...listCodes(pages), ...listErrorTimes(readValue(trace, 'cache.errorSeconds'))]
  return clauses.length === 0 ? '' : `Errors: ${clauses.join(', ')}.`
}

/** Describes which headers are set or taken away, of the response and of the origin's request. */
function describeHeaders(trace: JsonObject): string {
  const clauses = ['response', 'origin'].flatMap((message) => {
    const names = listEntries(part(trace, `${message}.headers`)).map(
      ([name, answer]) => (part(answer, 'value') === null ? 'no ' : '') + name,
    )
    const to = message === 'origin' ? 'to the origin ' : ''
    return names.length === 0 ? [] : [to + nameTwo(names, 'and')]
  })
  return clauses.length === 0 ? '' : `Sends ${clauses.join(', ')}.`
}

/** Describes how a response is sent: how fast, and compressed or not. */
function describeTransfer(trace: JsonObject): string {
  const limits = ['response.speedLimit', 'response.rateLimit']
    .filter((field) => readValue(trace, field) !== null)
    .map((field) => `speed limit ${describeAnswer(field, part(trace, field))}`)
  const clauses = [
    ...limits,
    describeCompression(trace),
    ...(limits.length === 0 ? ['no speed limit'] : []),
    ...(readValue(trace, 'response.drag') === true ? ['a part of the video'] : []),
  ]
  return `${clauses.join(', ').replace(/^./, (first) => first.toUpperCase())}.`
}

/** Facts of the origin's answer that nobody gives for a usual request. */
const facts: Record<string, string | undefined> = {
  'not-given origin.headers.content-type': 'content type',
  'not-given origin.size': 'size',
}

/** Describes whether a response is compressed. */
export function describeCompression(trace: JsonObject): string {
  const value = readValue(trace, 'response.compression')
  const named = readReasons(part(trace, 'response.compression')).map((reason) => facts[reason])
  if (value === 'none') return 'not compressed'
  if (value !== undefined) return `compressed with ${String(value)}`
  return named.includes(undefined)
    ? explain(trace, 'compression', 'response.compression')
    : `compressed if its ${named.join(' and ')} ${named.length === 1 ? 'fits' : 'fit'}`
}
