import { catalogue } from '../catalog/catalogue.ts'
import type { Domain, ItemKey, Value } from '../model/item.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { Unknown } from './answer.ts'
import { findAssumed, listVariations, type Variation } from './assumed.ts'
import type { Candidates } from './candidates.ts'
import { checkKeys } from './check-keys.ts'
import { readItems, Runs, type Items } from './doubt.ts'
import { fields, findField, getHeaderField, type Field } from './fields.ts'
import { listHeaders } from './header-fields.ts'
import { reply, type Reply } from './reply.ts'
import type { Settings } from './readings.ts'
import { completeFacts, parseRequest, type Facts, type Visitor } from './request.ts'
import { Run } from './run.ts'
import { reportCheck, type CheckReport } from './stages/access.ts'
import { listRules, matchRule, type OtherRules } from './stages/cache.ts'

/** A configuration that requests can be traced through. */
export interface Compiled {
  domain: Domain
  candidates: Candidates
  items: Items
  settings: Settings
  unmanaged: ItemKey[]
}

/**
 * Compiles the configuration of a domain.
 *
 * @param candidates by item, in canonical form; an item without a key is unmanaged
 */
export function compile(domain: Domain, candidates: Candidates, settings: Settings): Compiled {
  const unmanaged = [...catalogue.keys()].filter((key) => !candidates.has(key)).toSorted()
  return { domain, candidates, items: readItems(candidates), settings, unmanaged }
}

/**
 * Opens the trace of a request whose facts are complete. Answers are found when asked for.
 *
 * @param asks whether also what they rest on
 */
export function openRuns({ items, settings }: Compiled, facts: Facts, asks = false): Runs {
  const { values, doubts, bits } = items
  const isWatched = asks || doubts.length > 0
  return new Runs(new Run({ facts, settings, values, bits, isWatched }), doubts)
}

/** What a configuration does to a request (request semantics, 5). */
export interface Trace {
  /** As they were given. */
  facts: Facts
  visitor: Visitor
  /** Null unless asked for. */
  assumed: JsonObject | null
  variations: Variation[] | null
  unmanaged: ItemKey[]
  notes: string[]
  /** Answers by their paths. */
  replies: Map<string, Reply>
  checks: CheckReport[]
  cacheRules: OtherRules
}

/**
 * Traces a request through a configuration. Deterministic; asks nothing but its arguments.
 *
 * @param options `asks`: find the readings on which the answers rest, which takes longer; `varies`:
 *   also what their other answers would change
 * @throws BadRequest for a bad fact
 */
export function trace(
  compiled: Compiled,
  request: Json,
  { visitor, asks, varies = false }: { visitor: Visitor; asks: boolean; varies?: boolean },
): Trace {
  const facts = parseRequest(request, compiled.domain)
  const runs = openRuns(compiled, completeFacts(facts, visitor), asks || varies)
  const all = [...fields, ...listHeaders(runs)]
  const replies = new Map(all.map(({ path, read }) => [path, reply(runs.answer(read))]))
  return {
    facts,
    visitor,
    assumed: asks ? findAssumed(compiled.settings, runs, all) : null,
    variations: varies ? listVariations(compiled.settings, runs, all) : null,
    unmanaged: compiled.unmanaged,
    notes: readSingle(compiled, 'extend') === null ? [] : ['extend-set'],
    replies,
    checks: checkKeys.map((item) => describeCheck(compiled, runs, item)),
    cacheRules: listOtherRules(compiled, runs),
  }
}

/** An answer to ask for: its name, or a header of a message. */
export interface Asked {
  path: string
  header: { message: 'request' | 'response'; name: string } | null
}

/**
 * Answers some fields of a trace only, in much less time. Equal to what `trace` replies.
 *
 * @param asked names of answers, or headers, which need no operation
 * @throws BadRequest for a bad fact
 */
export function askReplies(
  compiled: Compiled,
  request: Json,
  asked: Asked[],
  visitor: Visitor,
): Reply[] {
  const facts = completeFacts(parseRequest(request, compiled.domain), visitor)
  const runs = openRuns(compiled, facts)
  return asked.map(({ path, header }) => {
    const read =
      header === null ? readField(path) : getHeaderField(header.message, header.name).read
    return reply(runs.answer(read))
  })
}

function readField(path: string): Field['read'] {
  const field = findField(path)
  if (field === undefined) throw new RangeError(`expected an answer of a trace, got ${path}`)
  return field.read
}

/** The only known value of an item; null if it is absent, unmanaged, or in doubt. */
function readSingle(compiled: Compiled, key: ItemKey): Value {
  return findState(compiled, key) === 'set' ? (compiled.items.values.get(key) as Value) : null
}

/** Describes a check: its state, its rule, and what else matches. */
export function describeCheck(compiled: Compiled, runs: Runs, item: ItemKey): CheckReport {
  return reportCheck(
    (read) => runs.answer(read),
    item,
    runs.answer(readField(`checks.${item}`)),
    findState(compiled, item),
    readSingle(compiled, item),
    readSingle(compiled, 'visit_deny_whitelist'),
  )
}

function findState({ items, settings }: Compiled, item: ItemKey): CheckReport['state'] {
  const value = items.values.get(item)
  if (value === undefined) return settings.isTakenAsAbsent(item) ? 'absent' : 'unmanaged'
  if (items.bits.has(item) || value instanceof Unknown) return 'in-doubt'
  return value === null ? 'absent' : 'set'
}

/** Lists the cache rules that match beside the deciding one, and those that may. */
function listOtherRules({ items }: Compiled, runs: Runs): OtherRules {
  const decided = runs.answer(readField('cache.rule'))
  const found: OtherRules = { also: [], maybe: [] }
  for (const each of listRules(runs.first)) {
    const { rule } = each
    if (decided === rule || items.bits.has(rule.item)) continue
    const match = runs.answer((run) => matchRule(run, each))
    if (match === true) found.also.push(rule)
    else if (match !== false) found.maybe.push(rule)
  }
  return found
}
