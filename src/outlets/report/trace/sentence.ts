import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { listSome } from '../../../core/model/text/words.ts'
import {
  describeCheckRule,
  describeChoice,
  describePlace,
  describeReasons,
  describeRule,
  describeTargets,
  part,
  readReasons,
  readValue,
  type ReadRule,
} from './answers.ts'
import { formatSecondsInWords } from './duration.ts'

/**
 * Describes in sentences what happens to a request: its outcome and what decides it; if it may be
 * served, how it is cached, where it comes from, and what else is done to the response.
 *
 * @param trace `edgewise.trace/1`
 */
export function describeTrace(trace: JsonObject, readRule: ReadRule): string {
  const outcome = readValue(trace['outcome'])
  const sentences =
    outcome === undefined || outcome === 'served'
      ? [
          describeOutcome(trace),
          describeCache(trace, readRule),
          describeOrigin(trace),
          describeResponse(trace),
        ]
      : [describeOutcome(trace)]
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

function within(rule: Json | undefined): string {
  const place = describePlace(rule)
  return place === '' ? '' : ` (${place})`
}

function describeOutcome(trace: JsonObject): string {
  const status = readValue(part(trace, 'response', 'status'))
  const code = typeof status === 'number' ? ` with ${status}` : ''
  switch (readValue(trace['outcome'])) {
    case 'served':
      return status === undefined || status === 200 ? 'Served.' : `Served${code}.`
    case 'denied':
      return `Denied${code}${describeDenial(trace)}.`
    case 'redirect':
      return `Redirected${code} to ${String(readValue(part(trace, 'response', 'location')))}.`
    case 'refused':
      return 'Refused: https without a certificate.'
    default:
      return `Whether it is served is unknown: ${describeReasons(readReasons(trace['outcome']), false)}.`
  }
}

function describeDenial(trace: JsonObject): string {
  const deciding = readValue(part(trace, 'access', 'deciding'))
  const check = toList(part(trace, 'access', 'checks'))
    .filter(isObject)
    .find(({ item }) => item === deciding)
  if (check === undefined) return ''
  const rule = describeCheckRule(check)
  return ` by ${String(deciding)}${rule === '' ? '' : `: ${rule}`}${within(check['rule'])}`
}

function describeCache(trace: JsonObject, readRule: ReadRule): string {
  const cache = part(trace, 'cache')
  const rule = readValue(part(cache, 'rule'))
  const named = describeRule(rule, readRule)
  const by = rule === null || named === '' ? '' : ` by "${named}"${within(rule)}`
  const follows = readValue(part(cache, 'followsOrigin'))
  const seconds = readValue(part(cache, 'seconds'))
  const time = typeof seconds === 'number' ? ` for ${formatSecondsInWords(seconds)}` : ''
  const isStored = readValue(part(cache, 'stored'))
  const end = `${describeKeyChange(trace)}.${isStored === false ? ' This response is not stored.' : ''}`
  switch (readValue(part(cache, 'policy'))) {
    case 'cache':
      return `Cached${time}${by}, ${follows === true ? 'unless the origin says otherwise' : 'whatever the origin says'}${end}`
    case 'bypass':
      return `Not cached${by || ': no cache rule matches'}.`
    case 'origin':
      return isStored === false
        ? 'Not cached: no cache rule matches, and the origin names no time.'
        : `Cached as long as the origin says: no cache rule matches${end}`
    default: {
      const reasons = readReasons(part(cache, 'policy'))
      return `Whether it is cached is unknown: ${describeReasons(reasons, false)}.`
    }
  }
}

/** Describes what the key does with the query of the request. */
function describeKeyChange(trace: JsonObject): string {
  const url = String(part(trace, 'request', 'url'))
  const sent = url.includes('?') ? url.slice(url.indexOf('?') + 1) : null
  const key = readValue(part(trace, 'cache', 'key'))
  const kept = part(key, 'query')
  if (!isObject(key) || kept === sent) return ''
  if (kept === null) return '; the key drops the query'
  const names = String(kept)
    .split('&')
    .map((argument) => argument.replace(/=.*/s, ''))
  return `; the key keeps only ${listSome(names)}`
}

function describeOrigin(trace: JsonObject): string {
  const origin = part(trace, 'origin')
  const main = readValue(part(origin, 'main'))
  if (main === undefined)
    return `Its origin is unknown: ${describeReasons(readReasons(part(origin, 'main')), false)}.`
  if (main === null) return 'No origin is set.'
  const targets = describeTargets(main).replaceAll(', ', ' or ')
  const [protocol, port] = [readValue(part(origin, 'protocol')), readValue(part(origin, 'port'))]
  const how =
    protocol === undefined || port === undefined
      ? ''
      : ` over ${describeChoice(protocol)}, port ${describeChoice(port)}`
  const backups = toList(readValue(part(origin, 'backups')))
  const backup = backups.map(describeTargets).join('; ')
  return `Fetched from ${targets}${how}${backup === '' ? '' : `; if that fails, ${backup}`}.`
}

/** Describes what is done to the response beside serving it. */
function describeResponse(trace: JsonObject): string {
  const response = part(trace, 'response')
  const [limit, rate] = [
    readValue(part(response, 'speedLimit')),
    readValue(part(response, 'rateLimit')),
  ]
  const compression = readValue(part(response, 'compression'))
  const sent = nameHeaders(part(trace, 'origin', 'headers'))
  const set = nameHeaders(part(response, 'headers'))
  const errors = Object.entries(toObject(readValue(part(trace, 'cache', 'errorSeconds'))))
  const done = [
    ...(typeof compression === 'string' && compression !== 'none'
      ? [`${compression} compressed`]
      : []),
    ...(typeof limit === 'number' ? [`at most ${limit} KB/s`] : []),
    ...(isObject(rate) ? [`at most ${String(rate['rate'])}/s`] : []),
    ...(set === '' ? [] : [`with ${set}`]),
    ...(sent === '' ? [] : [`${sent} sent to the origin`]),
    ...(errors.length === 0 ? [] : [`errors ${describeErrors(errors)}`]),
  ]
  const [first = '', ...others] = done
  return first === ''
    ? ''
    : `${[first.charAt(0).toUpperCase() + first.slice(1), ...others].join(', ')}.`
}

function describeErrors(errors: [string, Json][]): string {
  const times = new Map<number, string[]>()
  for (const [status, seconds] of errors)
    times.set(Number(seconds), [...(times.get(Number(seconds)) ?? []), status])
  return Array.from(times, ([seconds, codes]) =>
    seconds === 0
      ? `${listSome(codes)} not cached`
      : `${listSome(codes)} cached for ${formatSecondsInWords(seconds)}`,
  ).join(', ')
}

function nameHeaders(headers: Json | undefined): string {
  return listSome(Object.keys(toObject(headers)))
}

function toObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
