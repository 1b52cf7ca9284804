import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { parseUrl } from '../../../core/trace/url.ts'
import { listSome } from '../../../core/model/text/words.ts'
import {
  describePlace,
  describeReasons,
  describeRule,
  part,
  readReasons,
  readValue,
  type ReadRule,
} from './answers.ts'
import { formatSecondsInWords } from './duration.ts'

/** Describes whether, by which rule and for how long a response is cached, and under which key. */
export function describeCache(trace: JsonObject, readRule: ReadRule): string {
  const cache = part(trace, 'cache')
  const policy = readValue(part(cache, 'policy'))
  if (policy === undefined)
    return `Whether it is cached is unknown: ${explain(part(cache, 'policy'))}.`
  const error = describeError(trace)
  if (error !== null) return error
  const rule = nameRule(part(cache, 'rule'), readRule)
  if (policy === 'bypass')
    return rule === null
      ? 'Not cached: no cache rule matches.'
      : `Not cached: rule ${rule} forbids it.`
  const isStored = readValue(part(cache, 'stored'))
  if (isStored === false) return describeNotStored(trace, rule)
  const by = rule === null ? '' : ` by ${rule}`
  return `${describeTime(cache, by)}${describeKeyParts(trace)}.`
}

function explain(answer: Json | undefined): string {
  return describeReasons(readReasons(answer), false)
}

/** Most characters of a pattern in a sentence. */
const maxPattern = 50

/** Names the deciding rule with its place; null if there is none, or it is unknown. */
function nameRule(answer: Json | undefined, readRule: ReadRule): string | null {
  const rule = readValue(answer)
  const named = describeRule(rule, readRule)
  const place = describePlace(rule)
  const short = named.length > maxPattern ? `${named.slice(0, maxPattern)}…` : named
  return named === '' ? null : `"${short}"${place === '' ? '' : ` (${place})`}`
}

/** Describes how long an error of the origin is cached; null if its status is none listed. */
function describeError(trace: JsonObject): string | null {
  const status = String(part(trace, 'request', 'origin', 'status'))
  const seconds = part(readValue(part(trace, 'cache', 'errorSeconds')), status)
  if (typeof seconds !== 'number') return null
  return seconds === 0
    ? `Error ${status} is not cached.`
    : `Error ${status} is cached for ${formatSecondsInWords(seconds)}.`
}

function describeNotStored(trace: JsonObject, rule: string | null): string {
  const match = rule === null ? 'no cache rule matches, and' : `rule ${rule} matches, but`
  return `Not cached: ${match} ${findObstacle(trace)}.`
}

/** Finds why a response is not stored although no rule forbids it. */
function findObstacle(trace: JsonObject): string {
  const method = part(trace, 'request', 'method') ?? 'GET'
  if (method !== 'GET' && method !== 'HEAD') return `${String(method)} is not cached`
  const status = part(trace, 'request', 'origin', 'status') ?? 200
  if (Number(status) < 200 || Number(status) > 299) return `status ${String(status)} is not cached`
  const lifetime = readValue(part(trace, 'cache', 'lifetime'))
  if (lifetime === null) return 'it names no time'
  return lifetime === 0 ? 'the origin names no time' : 'the origin forbids it'
}

function describeTime(cache: Json | undefined, by: string): string {
  const [seconds, lifetime] = [
    readValue(part(cache, 'seconds')),
    readValue(part(cache, 'lifetime')),
  ]
  const isOrigins = readValue(part(cache, 'followsOrigin')) === true
  const time = isOrigins ? lifetime : seconds
  if (typeof time !== 'number') {
    const why = by === '' ? ': no cache rule matches' : by
    return `Cached as long as the origin says${why}`
  }
  const rest = isOrigins
    ? 'as the origin says'
    : readValue(part(cache, 'obeysNoCache')) === false
      ? 'whatever the origin says'
      : 'unless the origin forbids it'
  return `Cached for ${formatSecondsInWords(time)}${by}, ${rest}`
}

/** Describes what the key keeps of the request, and with which requests it is shared. */
function describeKeyParts(trace: JsonObject): string {
  const answer = part(trace, 'cache', 'key')
  const key = readValue(answer)
  if (key === undefined) return `; the key is unknown: ${explain(answer)}`
  if (!isObject(key)) return ''
  const domains = toList(key['domains']).map(String)
  const { host } = parseUrl(String(part(trace, 'request', 'url')), null)
  const others = domains.filter((domain) => domain !== host)
  return [
    `; the key ${describeQuery(trace, key)}`,
    ...(key['scheme'] === 'any' ? ['alike for http and https'] : []),
    ...(others.length === 0 ? [] : [`shared with ${listSome(others)}`]),
  ].join(', ')
}

function describeQuery(trace: JsonObject, key: JsonObject): string {
  const url = String(part(trace, 'request', 'url'))
  const sent = url.includes('?') ? url.slice(url.indexOf('?') + 1) : null
  const kept = key['query'] ?? null
  if (kept === sent) return sent === null ? 'is the URL' : 'is the URL with its query'
  if (kept === null) return 'drops the query'
  const names = String(kept)
    .split('&')
    .map((argument) => argument.replace(/=.*/s, ''))
  return `keeps only ${listSome([...new Set(names)])}`
}
