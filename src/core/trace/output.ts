import { compareKeys } from '../model/lists.ts'
import type { Domain } from '../model/item.ts'
import { isObject, pickDefined, type Json, type JsonObject } from '../model/json.ts'
import type { Variation } from './assumed.ts'
import { formatMinutes, type Facts } from './request.ts'
import type { Rule } from './rule.ts'
import type { Reply } from './reply.ts'
import type { Trace } from './trace.ts'
import { formatAuthority, formatFull, type RequestUrl } from './url.ts'

/** Adds the place of a rule's text, where it is known. */
export type Locate = (rule: Rule) => JsonObject

/** Builds `edgewise.trace/1` of a trace (request semantics, 5). */
export function buildOutput(domain: Domain, of: string, trace: Trace, locate: Locate): JsonObject {
  const place = (rule: Rule | null): Json =>
    rule === null
      ? null
      : { item: rule.item, pointer: rule.pointer, pattern: rule.pattern, ...locate(rule) }
  const get = (name: string): JsonObject => placeReply(trace.replies.get(name), place)
  const pick = (stage: string, names: readonly string[]): JsonObject =>
    Object.fromEntries(names.map((name) => [name, get(`${stage}.${name}`)]))
  return {
    format: 'edgewise.trace/1',
    domain,
    of,
    request: describeRequest(trace.facts),
    visitor: trace.visitor,
    ...(trace.assumed === null ? {} : { assumed: trace.assumed }),
    ...(trace.variations === null ? {} : { vary: listVaried(trace.variations, place) }),
    unmanaged: trace.unmanaged,
    notes: trace.notes,
    outcome: get('outcome'),
    connection: pick('connection', ['decision', 'settings']),
    access: {
      ...pick('access', ['decision', 'deciding']),
      checks: trace.checks.map((report) => ({
        item: report.item,
        state: report.state,
        result: get(`checks.${report.item}`),
        exempt: place(report.exempt),
        also: report.also.map(place),
        maybe: report.maybe.map(place),
        rule: place(report.rule),
      })),
    },
    redirect: pick('redirect', ['decision', 'status', 'location']),
    cache: {
      ...pick('cache', ['rule']),
      also: trace.cacheRules.also.map(place),
      maybe: trace.cacheRules.maybe.map(place),
      ...pick('cache', ['policy', 'seconds', 'followsOrigin', 'obeysNoCache', 'key']),
      ...pick('cache', ['errorSeconds', 'lifetime', 'stored']),
    },
    origin: {
      ...pick('origin', ['item', 'main', 'backups', 'protocol', 'port', 'host', 'url', 'rewrite']),
      headers: pick('origin.headers', trace.originHeaders),
      ...pick('origin', ['otherHeaders', 'auth', 'range', 'follow', 'timeout', 'connectTimeout']),
    },
    response: {
      ...pick('response', ['status', 'location']),
      headers: pick('response.headers', trace.responseHeaders),
      ...pick('response', ['otherHeaders', 'compression', 'speedLimit', 'rateLimit', 'drag']),
    },
  }
}

function listVaried(variations: readonly Variation[], place: (rule: Rule | null) => Json): Json {
  return variations.map(({ reading, answer, changes }) => ({
    reading,
    answer,
    changes: changes.map(({ field, before, after }) => ({
      field,
      before: placeReply(before, place),
      after: placeReply(after, place),
    })),
  }))
}

/** An answer as JSON; a rule in it with its place. */
function placeReply(reply: Reply | undefined, place: (rule: Rule | null) => Json): JsonObject {
  if (reply === undefined) throw new RangeError('a field of a trace has an answer')
  if ('unknown' in reply) return reply
  return { value: isRule(reply.value) ? place(reply.value) : reply.value }
}

function isRule(value: Json): value is JsonObject & Rule {
  return isObject(value) && 'pointer' in value && 'item' in value
}

/** The facts of a request as they were taken, in one order; without secrets. */
function describeRequest(facts: Facts): JsonObject {
  const { url, headers, time, origin, secrets: _, forms: __, ...others } = facts
  const answer = { status: origin.status, size: origin.size, headers: listHeaders(origin.headers) }
  const isGiven = Object.values(answer).some((each) => each !== undefined)
  const clock = time === undefined ? undefined : formatMinutes(time)
  const given = { ...others, time: clock, headers: listHeaders(headers) }
  return {
    url: formatUrl(url),
    ...pickDefined(given),
    ...(isGiven ? { origin: pickDefined(answer) } : {}),
  }
}

function listHeaders({ given, isComplete }: Facts['headers']): JsonObject | undefined {
  if (given.size === 0 && !isComplete) return undefined
  const sorted = [...given].toSorted(compareKeys)
  return Object.fromEntries(isComplete ? [...sorted, ['*', null]] : sorted)
}

function formatUrl(url: RequestUrl): string {
  return formatAuthority(url) + formatFull(url)
}
