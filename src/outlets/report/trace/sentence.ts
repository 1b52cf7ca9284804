import { isObject, toList, type Json, type JsonObject } from '../../../core/model/json.ts'
import { listAll, listSome } from '../../../core/model/text/words.ts'
import {
  describeCheckRule,
  describeChoice,
  describePlace,
  describeReasons,
  describeTargets,
  listChecks,
  listSigningReasons,
  part,
  readReasons,
  readValue,
  type ReadRule,
} from './answers.ts'
import { describeCache } from './cache-sentence.ts'
import { describeErrors, describeHeaders, describeTransfer } from './response-sentence.ts'

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
          describeOutcome(trace, readRule),
          describeCache(trace, readRule),
          describeOrigin(trace),
          describeErrors(trace, readRule),
          describeTransfer(trace, readRule),
          describeHeaders(trace),
          describePassing(trace),
        ]
      : [describeOutcome(trace, readRule)]
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

function describeOutcome(trace: JsonObject, readRule: ReadRule): string {
  const status = readValue(part(trace, 'response', 'status'))
  const location = readValue(part(trace, 'response', 'location'))
  const code = typeof status === 'number' ? ` with ${status}` : ''
  const to = typeof location === 'string' ? ` to ${location}` : ''
  switch (readValue(trace['outcome'])) {
    case 'served':
      return status === 200 ? 'Served.' : `Served${code}${to}.`
    case 'denied':
      return `Denied${code}${describeDenial(trace, readRule)}.`
    case 'redirect':
      return `Redirected${code}${to}.`
    case 'refused':
      return 'Refused: https without a certificate.'
    default: {
      const reasons = readReasons(trace['outcome'])
      const why = describeReasons(reasons, false, listSigningReasons(trace))
      return `Whether it is served is unknown: ${why}.`
    }
  }
}

function describeDenial(trace: JsonObject, readRule: ReadRule): string {
  const deciding = readValue(part(trace, 'access', 'deciding'))
  const check = listChecks(trace).find(({ item }) => item === deciding)
  if (check === undefined) return ''
  const rule = describeCheckRule(check, readRule)
  const place = describePlace(check['rule'])
  const where = place === '' ? '' : ` (${place})`
  return ` by ${String(deciding)}${rule === '' ? '' : `: ${rule}`}${where}`
}

/** Describes which checks let the request pass, and so who is blocked. */
function describePassing(trace: JsonObject): string {
  const names = listChecks(trace)
    .filter(({ state, result }) => state === 'set' && readValue(result) === 'pass')
    .map(({ item }) => String(item))
  if (names.length === 0) return ''
  const shown = names.length > 4 ? listSome(names) : listAll(names, 'and')
  return `Others are blocked by ${shown}.`
}

function describeOrigin(trace: JsonObject): string {
  const origin = part(trace, 'origin')
  const main = readValue(part(origin, 'main'))
  if (main === undefined) return describeUnknownOrigin(readReasons(part(origin, 'main')))
  if (main === null) return 'No origin is set.'
  const targets = listTargets(main)
  const how = describeTransport(
    readValue(part(origin, 'protocol')),
    readValue(part(origin, 'port')),
  )
  const url = readValue(part(origin, 'url'))
  const isRewritten = isObject(readValue(part(origin, 'rewrite'))) && typeof url === 'string'
  const backups = toList(readValue(part(origin, 'backups')))
  const backup =
    backups.length === 0 ? '' : `; if that fails, ${backups.map(listTargets).join(', then ')}`
  return `Fetched from ${targets}${how}${isRewritten ? `, as ${url}` : ''}${backup}.`
}

function describeUnknownOrigin(reasons: string[]): string {
  return reasons.includes('undecidable extend')
    ? 'Its origin is unknown, because extend may name another.'
    : `Its origin is unknown: ${describeReasons(reasons, false)}.`
}

/** Describes how the origin is reached; the usual port of a protocol is left out. */
function describeTransport(protocol: Json | undefined, port: Json | undefined): string {
  if (protocol === undefined || port === undefined) return ''
  const isUsual = port === (protocol === 'https' ? 443 : 80) && !Array.isArray(protocol)
  return ` over ${describeChoice(protocol)}${isUsual ? '' : `, port ${describeChoice(port)}`}`
}

function listTargets(targets: Json): string {
  return listAll(describeTargets(targets).split(', '), 'or')
}
