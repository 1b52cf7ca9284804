import { compareKeys } from '../model/lists.ts'
import type { Domain } from '../model/item.ts'
import { isObject, pickDefined, setOwn, type Json, type JsonObject } from '../model/json.ts'
import type { Variation } from './assumed.ts'
import { formatMinutes, type Facts } from './request.ts'
import type { Rule } from './rule.ts'
import type { Reply } from './reply.ts'
import type { Trace } from './trace.ts'
import { formatAuthority, formatFull } from './url.ts'

/** Adds the place of a rule's text, where it is known. */
export type Locate = (rule: Rule) => JsonObject

/** Describes a rule with its place. */
type Place = (rule: Rule | null) => Json

/** Builds `edgewise.trace/1` of a trace (request semantics, 5). */
export function buildOutput(domain: Domain, of: string, trace: Trace, locate: Locate): JsonObject {
  const place: Place = (rule) =>
    rule === null
      ? null
      : { item: rule.item, pointer: rule.pointer, pattern: rule.pattern, ...locate(rule) }
  const stages = groupReplies(trace.replies, place)
  const { connection = {}, checks = {}, redirect = {}, cache = {}, origin = {} } = stages
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
    ...stages[''],
    connection,
    access: {
      ...stages['access'],
      checks: trace.checks.map(({ item, state, exempt, also, maybe, rule }) => ({
        item,
        state,
        result: checks[item] ?? null,
        exempt: place(exempt),
        also: also.map(place),
        maybe: maybe.map(place),
        rule: place(rule),
      })),
    },
    redirect,
    cache: {
      rule: cache['rule'] ?? null,
      also: trace.cacheRules.also.map(place),
      maybe: trace.cacheRules.maybe.map(place),
      ...cache,
    },
    origin,
    response: stages['response'] ?? {},
  }
}

/** Groups answers by stage; those about single headers stand before what is said of others. */
function groupReplies(replies: Trace['replies'], place: Place): Record<string, JsonObject> {
  const stages: Record<string, JsonObject> = {}
  for (const [path, reply] of replies) {
    const [, stage = '', name = path] = /^(\w+(?:\.headers)?)\.(.*)$/s.exec(path) ?? []
    const own = (stages[stage] ??= {})
    if (name === 'otherHeaders') own['headers'] = stages[`${stage}.headers`] ??= {}
    setOwn(own, name, placeReply(reply, place))
  }
  return stages
}

function listVaried(variations: readonly Variation[], place: Place): Json {
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
function placeReply(reply: Reply, place: Place): JsonObject {
  if ('unknown' in reply) return reply
  return { value: isRule(reply.value) ? place(reply.value) : reply.value }
}

function isRule(value: Json): value is JsonObject & Rule {
  return isObject(value) && 'pointer' in value && 'item' in value
}

/** The facts of a request as they were taken, in one order; without secrets. */
function describeRequest(facts: Facts): JsonObject {
  const { url, headers, time, origin, secrets: _, forms: __, ...others } = facts
  const { status, size } = origin
  const answer = pickDefined({ status, size, headers: listHeaders(origin.headers) })
  return {
    url: formatAuthority(url) + formatFull(url),
    ...pickDefined({
      ...others,
      time: time === undefined ? undefined : formatMinutes(time),
      headers: listHeaders(headers),
      origin: Object.keys(answer).length === 0 ? undefined : answer,
    }),
  }
}

function listHeaders({ given, isComplete }: Facts['headers']): JsonObject | undefined {
  if (given.size === 0 && !isComplete) return undefined
  const sorted = [...given].toSorted(compareKeys)
  return Object.fromEntries(isComplete ? [...sorted, ['*', null]] : sorted)
}
