import { toSeconds } from '../../catalog/cache-time.ts'
import type { CacheRule, CacheRuleList } from '../../catalog/generated/items.ts'
import { map, mapBoth, Unknown, type Answer } from '../answer.ts'
import { agree, findDeciders, type Deciders } from '../first-match.ts'
import type { CaseRule } from '../match/case.ts'
import { compilePattern, matchUrl, type Subject, type UrlPattern } from '../match/url.ts'
import { remember } from '../remember.ts'
import { createRule, type Rule } from '../rule.ts'
import type { Run } from '../run.ts'
import type { Plain, Text } from '../../model/secret.ts'
import { readPlain, splitText } from '../secret-text.ts'
import { filterArguments, formatFull, splitFull } from '../url.ts'
import { rewriteUrl, seeUrl } from './seen.ts'
import { createSubject } from './signature.ts'

/** What a rule does with the query: of the cache key, and of the request to the origin. */
type QueryChange = 'none' | 'as-sent' | { way: 'keep' | 'remove'; params: Text[] }

/** A rule of `cache_rule` or `cache_rule_list`. */
export interface CompiledRule {
  rule: Rule
  pattern: UrlPattern
  caseRule: CaseRule
  sees: 'W' | 'R5'
  /** Undefined in `cache_rule`, and for a rule without one. */
  priority: number | undefined
  policy: 'cache' | 'bypass'
  /** Seconds; unknown where R41 gives them. */
  seconds: number | 'R41'
  followsOrigin: boolean
  obeysNoCache: boolean
  keyQuery: QueryChange
  originQuery: QueryChange
  /** Whether R47 says if the query is changed although nothing is cached. */
  mayChangeIdle: boolean
}

const kinds = { 1: 'ext', 2: 'dir', 3: 'route', 4: 'regex' } as const

/** Compiles the rules of `cache_rule`, in their order. */
export const compileRules = remember((rules: CacheRule): CompiledRule[] =>
  rules.map((rule, i) => {
    const seconds = toSeconds(rule.time, rule.timeunit ?? 's')
    const query = rule.ignore_query === 'on' ? 'none' : 'as-sent'
    return {
      rule: createRule('cache_rule', `/${i}`, rule.pattern),
      pattern: compilePattern(kinds[rule.type], rule.pattern, `cache_rule/${i}/pattern`),
      caseRule: 'R6',
      sees: 'W',
      priority: undefined,
      policy: seconds > 0 ? 'cache' : 'bypass',
      seconds,
      followsOrigin: rule.ignore_expired === 'off',
      obeysNoCache: rule.ignore_no_cache !== 'on',
      keyQuery: query,
      originQuery: query,
      mayChangeIdle: false,
    }
  }),
)

/** Compiles the rules of `cache_rule_list`, in their order. */
export const compileRuleList = remember((rules: CacheRuleList): CompiledRule[] =>
  rules.map((rule, i) => {
    const time = toSeconds(rule.expire, rule.expire_unit ?? 's')
    const isCached = rule.cache_or_not === undefined ? time > 0 : rule.cache_or_not === 'yes'
    const query = compileQuery(rule)
    return {
      rule: createRule('cache_rule_list', `/${i}`, rule.pattern),
      pattern: compilePattern(rule.match_method, rule.pattern, `cache_rule_list/${i}/pattern`),
      caseRule: rule.case_ignore !== 'no',
      sees: 'R5',
      priority: rule.priority,
      policy: isCached ? 'cache' : 'bypass',
      seconds: isCached && time === 0 ? 'R41' : time,
      followsOrigin: rule.follow_expired === 'yes',
      obeysNoCache: rule.ignore_no_cache_headers !== 'yes',
      keyQuery: query,
      originQuery:
        typeof query === 'object' && rule.query_params_op_when === 'cache' ? 'as-sent' : query,
      mayChangeIdle: (rule.query_params_op ?? 'do_nothing') !== 'do_nothing',
    }
  }),
)

/** R46: without one of its fields `customer` does nothing. */
function compileQuery(rule: CacheRuleList[number]): QueryChange {
  if (rule.query_params_op === 'cache_back_source_remove') return 'none'
  if (rule.query_params_op !== 'customer') return 'as-sent'
  const { query_params_op_way: way, query_params_op_when: when, params } = rule
  if (way === undefined || when === undefined || params === undefined) return 'as-sent'
  return { way, params: splitText(params, ',') }
}

/** The URL that cache rules see: as other items, or with the rewritten path and query (R3). */
function findSubject(run: Run): Answer<Subject> {
  const { full, isRewritten } = rewriteUrl(run)
  const seen = seeUrl(run)
  if (isRewritten === false || run.reading('R3') === 'cache-first') return seen
  return mapBoth(seen, full, ({ url }, text) => createSubject({ ...url, ...splitFull(text) }))
}

/** Tests whether a rule matches the URL that cache rules see. */
export function matchRule(run: Run, { pattern, caseRule, sees }: CompiledRule): Answer<boolean> {
  return run.keep(pattern, () => matchUrl(run, pattern, run.once(findSubject), caseRule, sees))
}

/** The rules in rank order; an item that is not known counts as one rule that is not known. */
type Ranked = CompiledRule | Unknown

/** Ranks the rules of both items (R38, R39, R14). */
function rankRules(run: Run): Ranked[] {
  const rules = toRanked(run.read('cache_rule', null, compileRules))
  const list = toRanked(
    run.read('cache_rule_list', null, (item) => rankList(run, compileRuleList(item))),
  )
  if (rules === null || list === null) return [...(list ?? []), ...(rules ?? [])]
  switch (run.reading('R38')) {
    case 'list-first':
      return [...list, ...rules]
    case 'rule-first':
      return [...rules, ...list]
    case 'list-only':
      return list
    default:
      return rules
  }
}

function toRanked(rules: Answer<Ranked[] | null>): Ranked[] | null {
  return rules instanceof Unknown ? [rules] : rules
}

/** Ranks rules by priority; R39 places those without one, R14 orders them among themselves. */
function rankList(run: Run, rules: CompiledRule[]): CompiledRule[] {
  const { ranked, others } = splitRules(rules)
  const isReversed = others.length > 1 && run.reading('R14') === 'last'
  const ordered = isReversed ? others.toReversed() : others
  if (ranked.length === 0 || others.length === 0) return [...ranked, ...ordered]
  return run.reading('R39') === 'after' ? [...ranked, ...ordered] : [...ordered, ...ranked]
}

const splitRules = remember((rules: CompiledRule[]) => ({
  ranked: rules
    .filter(({ priority }) => priority !== undefined)
    .toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0)),
  others: rules.filter(({ priority }) => priority === undefined),
}))

/** The rules that may decide. */
function findRules(run: Run): Deciders<Ranked> {
  return findDeciders(rankRules(run), (rule) =>
    rule instanceof Unknown ? rule : matchRule(run, rule),
  )
}

/** Answers by each rule that may decide; null: by none. */
function byRule<T>(run: Run, read: (rule: CompiledRule | null) => Answer<T>): Answer<T> {
  const { deciders, unknown } = run.once(findRules)
  return agree(
    deciders.map((rule) => (rule instanceof Unknown ? rule : read(rule))),
    unknown,
  )
}

/** What requests must have in common to get one cached object. */
export interface CacheKey {
  domains: string[]
  scheme: 'http' | 'https' | 'any'
  path: string
  query: string | null
}

/** What the deciding cache rule says (request semantics, 3.4); seconds null: the origin's. */
export const cache = {
  rule: (run: Run) => byRule<Rule | null>(run, (rule) => rule?.rule ?? null),
  policy: (run: Run) => byRule(run, (rule) => readPolicy(run, rule)),
  seconds: (run: Run) => byRule(run, (rule) => readSeconds(run, rule)),
  followsOrigin: (run: Run) => byRule(run, (rule) => readFlag(run, rule, rule?.followsOrigin)),
  obeysNoCache: (run: Run) => byRule(run, (rule) => readFlag(run, rule, rule?.obeysNoCache)),
  key: (run: Run) => byRule(run, (rule) => readKey(run, rule)),
}

/** The policy of a rule, or without one (R40). */
function readPolicy(run: Run, rule: CompiledRule | null): 'cache' | 'bypass' | 'origin' {
  return rule?.policy ?? (run.reading('R40') === 'bypass' ? 'bypass' : 'origin')
}

function readSeconds(run: Run, rule: CompiledRule | null): number | null {
  if (readPolicy(run, rule) === 'bypass') return 0
  if (rule === null) return null
  if (rule.seconds !== 'R41') return rule.seconds
  const seconds = run.settled('R41')
  return typeof seconds === 'number' ? seconds : null
}

function readFlag(run: Run, rule: CompiledRule | null, flag = true): boolean {
  return flag && readPolicy(run, rule) !== 'bypass'
}

function readKey(run: Run, rule: CompiledRule | null): Answer<CacheKey | null> {
  if (readPolicy(run, rule) === 'bypass') return null
  const change = readPlain(rule?.keyQuery ?? 'as-sent')
  const how = mapBoth(change, readShare(run), (query, share) => ({ query, share }))
  return mapBoth(run.once(findSubject), how, ({ url }, { query, share }) => ({
    ...share,
    path: url.path,
    query: changeQuery(query, url.query),
  }))
}

function changeQuery(change: Plain<QueryChange>, query: string | null): string | null {
  if (change === 'as-sent' || query === null) return query
  if (change === 'none') return null
  const { way, params } = change
  return filterArguments(query, ({ name }) => params.includes(name) === (way === 'keep'))
}

/** The query that the origin gets of a text with path and query, by the deciding rule. */
export function changeOriginQuery(run: Run, full: Answer<string>): Answer<string> {
  return byRule(run, (rule) =>
    mapBoth(full, readPlain(readOriginQuery(run, rule)), (text, change) => {
      const { path, query } = splitFull(text)
      return formatFull({ path, query: changeQuery(change, query) })
    }),
  )
}

function readOriginQuery(run: Run, rule: CompiledRule | null): QueryChange {
  if (rule === null) return 'as-sent'
  const isChanged =
    rule.policy === 'cache' || (rule.mayChangeIdle && run.reading('R47') === 'applies')
  return isChanged ? rule.originQuery : 'as-sent'
}

type Share = Pick<CacheKey, 'domains' | 'scheme'>

/** Domains and scheme of the cache key (`cache_share`, R48). */
function readShare(run: Run): Answer<Share> {
  const { host, scheme } = run.facts.url
  if (run.item('cache_share') === null)
    return { domains: [host], scheme: run.reading('R48') === 'shared' ? 'any' : scheme }
  const own: Share = { domains: [host], scheme }
  return run.read('cache_share', own, ({ share_way: way, domain }) => {
    const others = way === 'inner_share' || domain === undefined ? [] : [domain]
    return map(readPlain(others), (known) => ({
      domains: [...new Set([host, ...known])].toSorted(),
      scheme: way === 'cross_single_share' ? scheme : 'any',
    }))
  })
}

/** The rules that match beside the deciding one, and those of which it is not known. */
export interface OtherRules {
  also: Rule[]
  maybe: Rule[]
}

/** Lists the rules of the cache, in the order of the items. */
export function listRules(run: Run): CompiledRule[] {
  return run.once(collectRules)
}

function collectRules(run: Run): CompiledRule[] {
  const rules = [
    run.read('cache_rule', [], compileRules),
    run.read('cache_rule_list', [], compileRuleList),
  ]
  return rules.flatMap((list) => (list instanceof Unknown ? [] : list))
}
