import { readEffective } from '../effects/effective.ts'
import { NoLanguage, type Language } from '../effects/patterns/languages.ts'
import type { ItemKey, Value } from '../model/item.ts'
import { isObject, toList, type Json, type JsonObject } from '../model/json.ts'
import { append, getOrAdd } from '../model/lists.ts'
import { canonicalizeJson } from '../model/text/canonical-json.ts'
import { isUnknownValue, type Candidate } from '../trace/candidates.ts'
import type { Settings } from '../trace/readings.ts'
import { createRule, type Rule } from '../trace/rule.ts'
import { checkAnyMatch, listAnyMatch } from './any-match.ts'
import { Desk, maxStates } from './desk.ts'
import { createUncompared, type Finding } from './finding.ts'
import { checkFirstMatch, createUndecided, findEmpty } from './first-match.ts'
import { checkValues } from './idle-values.ts'
import { listEntries } from '../effects/patterns/list-patterns.ts'
import { listTexts, type Entry } from '../effects/patterns/pattern.ts'
import { listRanked, readRules, type Items } from '../effects/patterns/ranked-rules.ts'
import { listFlips } from './rests.ts'

/** Results over a fleet, by values. */
export type KnownResults = Map<string, Shared>
interface Shared {
  first: Known
  /** The patterns that see a host, and results by what they see; as soon as domains share it. */
  seeing: Entry[]
  byHost: Map<string, Known>
}
type Known = { domain: string; findings: Finding[]; states: number }

/** What one run may still do, as if nothing were known from an earlier one. */
export interface RunBudget {
  states: number
  /** States that one list may take. */
  listStates: number
  /** States for lists whose result is not known; beyond them, these wait for the next turn. */
  turn: number
  counted: Set<Known>
}

/** Creates the budget of a run, beyond which no list is begun. */
export function createBudget(listStates = maxStates, turn = Infinity): RunBudget {
  return { states: 2 * maxStates, listStates, turn, counted: new Set() }
}

/**
 * Finds facts about the rule lists of one domain (request semantics, 7): rules that never decide,
 * redundant entries, values without effect. Deterministic, and bounded in time.
 *
 * @param items canonical values of the items that are set; others count as absent
 * @param known results of other domains under the same settings, which are used and added to
 * @param run what may still be done
 */
export function findRuleListFindings(
  domain: string,
  items: ReadonlyMap<ItemKey, Candidate>,
  settings: Settings,
  known: KnownResults = new Map(),
  run = createBudget(),
): Finding[] {
  const read = new Map<ItemKey, Value>()
  const unknown: Finding[] = []
  for (const [key, value] of items)
    if (isUnknownValue(value)) unknown.push(createUndecided(createRule(key), value.secrets ?? []))
    else if (value !== null) read.set(key, value)
  const found = splitItems(read).flatMap((part) => tryPart(domain, part, settings, known, run))
  return [...found, ...checkValues(read, settings), ...unknown]
}

/** Finds facts about a part; none where a question has no answer. */
function tryPart(...[domain, part, ...others]: Parameters<typeof findPart>): Finding[] {
  try {
    return findPart(domain, part, ...others)
  } catch (error) {
    if (!(error instanceof NoLanguage)) throw error
    return [...part.keys()].map((key) => createUndecided(createRule(key), null))
  }
}

/** Items whose rules have to do with each other. */
const joined: ItemKey[] = ['cache_rule', 'cache_rule_list', 'source_url_rewrite']
/** Items that are checked alone, with the fields that count; all of them for null. */
const alone: [ItemKey, string[] | null][] = [
  ['speed_limit', null],
  ['ip_black_list', null],
  ['ip_white_list', null],
  ['referer', ['list']],
  ['combined_ban', null],
  ['deny_url', null],
  ['user_agent', null],
  ['visit_deny_whitelist', null],
  ['head_control', null],
  ['video_drag', ['url']],
  ['visit_timestamp', ['pattern']],
  ['vendor_origin_auth', ['match_method', 'pattern']],
]

/** Splits the items of a domain into parts with results of their own. */
function splitItems(items: Items): Items[] {
  const both = new Map([...items].filter(([key]) => joined.includes(key)))
  const others = alone.flatMap(([key, fields]) => {
    const value = items.get(key)
    if (value === undefined) return []
    const kept = fields !== null && isObject(value) ? pickFields(value, fields) : value
    return [new Map([[key, kept]])]
  })
  return both.size === 0 ? others : [both, ...others]
}

function pickFields(value: JsonObject, fields: string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => fields.includes(name)))
}

function findPart(
  domain: string,
  read: Items,
  settings: Settings,
  known: KnownResults,
  run: RunBudget,
): Finding[] {
  if (run.states <= 0) return [createUncompared([...read.keys()][0])]
  const name = [...read].map(([key, value]) => `${key} ${nameValue(value)}`).join()
  const shared = known.get(name)
  const find = () => {
    if (run.turn <= 0) return null
    const own = { domain, ...check(domain, read, settings, run.listStates) }
    run.turn -= own.states
    return own
  }
  let found = shared?.first ?? find()
  if (found === null) return []
  if (shared === undefined) known.set(name, { first: found, seeing: [], byHost: new Map() })
  else if (domain !== found.domain) {
    const { seeing, byHost } = shared
    if (byHost.size === 0) {
      append(seeing, listSeeing(read, new Desk(domain, settings, 0)))
      byHost.set(nameHost(found.domain, seeing, settings), found)
    }
    const host = nameHost(domain, seeing, settings)
    found = byHost.get(host) ?? find()
    if (found === null) return []
    byHost.set(host, found)
    run.states -= seeing.length / 4
  }
  run.states -= found.findings.length / 4 + (run.counted.has(found) ? 0 : found.states)
  run.counted.add(found)
  return moveFindings(found.findings, found.domain, domain)
}

const names = new WeakMap<object, string>()

/** The canonical text of a value; equal domains share most values. */
function nameValue(value: Value): string {
  if (typeof value !== 'object' || value === null) return canonicalizeJson(value)
  return getOrAdd(names, value, () => canonicalizeJson(value))
}

function listSeeing(items: Items, desk: Desk): Entry[] {
  const entries = listPatterns(items, desk).flatMap((each) => each.entries)
  return entries.filter(({ seesHost, isDecidable }) => seesHost && isDecidable)
}

function check(
  domain: string,
  items: Items,
  settings: Settings,
  states: number,
): { findings: Finding[]; states: number } {
  const desk = new Desk(domain, settings, states)
  const ranked = listRanked(items, settings).flatMap((list) => checkFirstMatch(list, desk))
  const warned = new Set(
    ranked
      .filter(({ severity }) => severity === 'warning')
      .map(({ rule }) => `${rule.item}${rule.pointer}`),
  )
  const others = [
    ...checkAnyMatch(items, desk),
    ...checkLone(listLonePatterns(items), desk),
  ].filter(
    ({ rule }) =>
      !warned.has(`${rule.item}${/^\/\d+/.exec(rule.pointer)?.[0] ?? ''}`) ||
      rule.item === 'combined_ban',
  )
  const ended = desk.isSpent ? [createUncompared([...items.keys()][0])] : []
  return { findings: [...ranked, ...others, ...ended], states: desk.close() }
}

/** A pattern that stands by itself, or in a list of which each rule acts. */
interface Lone {
  rule: Rule
  entries: Entry[]
}

/** Fields with the one pattern of an item. */
const patternFields: Record<ItemKey, string | undefined> = {
  video_drag: 'url',
  visit_timestamp: 'pattern',
  vendor_origin_auth: 'pattern',
  user_agent: 'url_pattern',
}

/** Lists the patterns of items that are no rule lists, and the rules of `head_control`. */
function listLonePatterns(items: Items): Lone[] {
  return [...items].flatMap(([item, value]) => {
    if (!isObject(value)) return []
    const form = readEffective(item, value)
    const field = patternFields[item]
    const rules = item === 'head_control' ? toList(value['list']) : []
    const create = (pointer: string, text: Json | undefined, at: Json | undefined): Lone => ({
      rule: createRule(item, pointer, text),
      entries: listEntries(at),
    })
    const patterns = rules.map((rule, i) => {
      const text = isObject(rule) ? rule['regex'] : ''
      return create(`/list/${i}`, text, readEffective(item, { list: [rule] }))
    })
    if (field !== undefined && isObject(form))
      patterns.push(create(`/${field}`, value[field], form['at']))
    return patterns.filter(({ entries }) => entries.length > 0)
  })
}

function checkLone(patterns: Lone[], desk: Desk): Finding[] {
  return patterns.flatMap(({ rule, entries }) => {
    if (desk.isSpent) return []
    const found = findEmpty(rule, entries, desk)
    if (found !== null) return [found]
    return entries.every(({ isDecidable }) => isDecidable)
      ? []
      : [createUndecided(rule, listTexts(entries))]
  })
}

/** Lists every pattern of a domain with its rule. */
function listPatterns(items: Items, desk: Desk): Lone[] {
  const keys = ['cache_rule', 'cache_rule_list', 'speed_limit', 'source_url_rewrite'] as const
  const lists = listAnyMatch(items, desk).flatMap(({ rules, texts, entry }) =>
    rules.flatMap((rule, i) => {
      const text = texts[i]
      return entry !== undefined && typeof text === 'string' ? { rule, entries: [entry(text)] } : []
    }),
  )
  return [...keys.flatMap((key) => readRules(key, items)), ...listLonePatterns(items), ...lists]
}

/** Names what patterns for whole URLs see of a host; empty if there are none. */
function nameHost(domain: string, seeing: Entry[], settings: Settings): string {
  if (domain.startsWith('.')) return domain
  const begin = ({ automaton }: Language) =>
    ['https', 'http'].map((scheme) =>
      Array.from(`${scheme}://${domain}`).reduce(
        (at, char) => automaton.step(at, char.charCodeAt(0)),
        automaton.start,
      ),
    )
  const states = seeing.flatMap((entry) =>
    [settings, ...listFlips(settings, entry.readings).map(([, other]) => other)].flatMap((each) =>
      entry.languages(each).flatMap((language) => (language.sees === 'W' ? begin(language) : [])),
    ),
  )
  return states.join()
}

/** The findings of another domain, with its name in requests and details replaced. */
function moveFindings(findings: Finding[], from: string, to: string): Finding[] {
  if (from === to) return findings
  const move = (request: JsonObject): JsonObject =>
    typeof request['url'] === 'string'
      ? { ...request, url: request['url'].replace(`://${from}`, `://${to}`) }
      : request
  return findings.map((each) => ({
    ...each,
    witness: each.witness && move(each.witness),
    detail:
      each.code === 'rule-never-matches'
        ? each.detail.replace(`of ${from} `, `of ${to} `)
        : each.detail,
  }))
}
