import { toSeconds } from '../../catalog/cache-time.ts'
import type { CacheRule, CacheRuleList, CacheShare } from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import { map, mapBoth, Unknown, type Answer } from '../answer.ts'
import {
  askOnce,
  isUnknownValue,
  type Evaluation,
  type Question,
  type Questions,
} from '../evaluation.ts'
import { agree, findDeciders, type Deciders } from '../first-match.ts'
import type { CaseRule } from '../match/case.ts'
import { compilePattern, matchUrl, type Subject, type UrlPattern } from '../match/url.ts'
import { remember } from '../remember.ts'
import { createRule, type Rule } from '../rule.ts'
import type { Plain, Text } from '../../model/secret.ts'
import { readPlain, splitText } from '../secret-text.ts'
import { filterArguments, formatFull, splitFull } from '../url.ts'
import { askRewritten, askSeen } from './seen.ts'
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
  keyQuery: QueryChange | 'R46'
  originQuery: QueryChange | 'R46'
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
        query !== 'R46' &&
        rule.query_params_op === 'customer' &&
        rule.query_params_op_when === 'cache'
          ? 'as-sent'
          : query,
      mayChangeIdle: (rule.query_params_op ?? 'do_nothing') !== 'do_nothing',
    }
  }),
)

function compileQuery(rule: CacheRuleList[number]): QueryChange | 'R46' {
  if (rule.query_params_op === 'cache_back_source_remove') return 'none'
  if (rule.query_params_op !== 'customer') return 'as-sent'
  const { query_params_op_way: way, query_params_op_when: when, params } = rule
  if (way === undefined || when === undefined || params === undefined) return 'R46'
  return { way, params: splitText(params, ',') }
}

/** Asks whether a rule matches the seen URL, or the rewritten one. */
function askMatch(
  q: Questions,
  rule: CompiledRule,
  sees: 'seen' | 'rewritten',
): Question<Answer<boolean>> {
  return q.keep(rule, sees, () =>
    q.ask((e) => matchUrl(e, rule.pattern, e.ask(askSubject(q, sees)), rule.caseRule, rule.sees)),
  )
}

/** The URL that cache rules see: as other items, or with the rewritten path and query. */
function askSubject(q: Questions, sees: 'seen' | 'rewritten'): Question<Answer<Subject>> {
  return sees === 'seen' ? askSeen(q) : askRewrittenSubject(q)
}

const askRewrittenSubject = askOnce<Subject>((e, q) => {
  const { full } = e.ask(askRewritten(q))
  return mapBoth(e.ask(askSeen(q)), full, (seen, text) =>
    text === formatFull(seen.url) ? seen : createSubject({ ...seen.url, ...splitFull(text) }),
  )
})

/** Which URL cache rules see in this world (R3). */
function chooseSubject(e: Evaluation, q: Questions): 'seen' | 'rewritten' {
  const { isRewritten } = e.ask(askRewritten(q))
  if (isRewritten === false) return 'seen'
  return e.reading('R3') === 'rewrite-first' ? 'rewritten' : 'seen'
}

/** The rules in rank order; an item that is not known counts as one rule that is not known. */
type Ranked = CompiledRule | Unknown

/** Ranks the rules of both items in this world (R38, R39, R14). */
function rankRules(e: Evaluation): Ranked[] {
  const rules = readRules(e, 'cache_rule', (value) => compileRules(castAccepted<CacheRule>(value)))
  const list = readRules(e, 'cache_rule_list', (value) =>
    rankList(e, compileRuleList(castAccepted<CacheRuleList>(value))),
  )
  if (rules === null || list === null) return [...(list ?? []), ...(rules ?? [])]
  switch (e.reading('R38')) {
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

function readRules(
  e: Evaluation,
  key: ItemKey,
  compile: (value: Value) => CompiledRule[],
): Ranked[] | null {
  const value = e.item(key)
  if (value instanceof Unknown) return [value]
  return value === null ? null : compile(value)
}

/** Ranks rules by priority; R39 places those without one, R14 orders them among themselves. */
function rankList(e: Evaluation, rules: CompiledRule[]): CompiledRule[] {
  const { ranked, others } = splitRules(rules)
  if (others.length === 0) return ranked
  const isReversed = others.length > 1 && e.reading('R14') === 'last'
  const ordered = isReversed ? others.toReversed() : others
  if (ranked.length === 0) return ordered
  return e.reading('R39') === 'after' ? [...ranked, ...ordered] : [...ordered, ...ranked]
}

const splitRules = remember((rules: CompiledRule[]) => ({
  ranked: rules
    .filter(({ priority }) => priority !== undefined)
    .toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0)),
  others: rules.filter(({ priority }) => priority === undefined),
}))

/** The possible deciders in this world, and the URL they see. */
function decide(e: Evaluation, q: Questions): Deciders<Ranked> & { sees: 'seen' | 'rewritten' } {
  const sees = chooseSubject(e, q)
  const found = findDeciders(rankRules(e), (rule) =>
    rule instanceof Unknown ? rule : e.ask(askMatch(q, rule, sees)),
  )
  return { ...found, sees }
}

/** The answers of the stage that the deciding rule gives. */
export interface CacheAnswers {
  [name: string]: unknown
  rule: Answer<Rule | null>
  policy: Answer<'cache' | 'bypass' | 'origin'>
  /** Null where the origin says. */
  seconds: Answer<number | null>
  followsOrigin: Answer<boolean>
  obeysNoCache: Answer<boolean>
  key: Answer<CacheKey | null>
}

/** What requests must have in common to get one cached object. */
export interface CacheKey {
  domains: string[]
  scheme: 'http' | 'https' | 'any'
  path: string
  query: string | null
}

/** Asks what the deciding rule of the cache says (request semantics, 3.4). */
export const askCache = remember((q: Questions): Question<CacheAnswers> =>
  q.askAll((e) => {
    const { deciders, unknown, sees } = decide(e, q)
    const each = <T>(read: (rule: CompiledRule | null) => Answer<T>): Answer<T> =>
      agree(
        deciders.map((rule) => (rule instanceof Unknown ? rule : read(rule))),
        unknown,
      )
    return {
      rule: each<Rule | null>((rule) => rule?.rule ?? null),
      policy: each<'cache' | 'bypass' | 'origin'>((rule) => rule?.policy ?? policyWithout(e)),
      seconds: each((rule) => readSeconds(e, rule)),
      followsOrigin: each((rule) => readFlag(e, rule, rule?.followsOrigin)),
      obeysNoCache: each((rule) => readFlag(e, rule, rule?.obeysNoCache)),
      key: each((rule) => readKey(e, q, rule, sees)),
    }
  }),
)

/** The policy if no rule matches (R40). */
function policyWithout(e: Evaluation): Answer<'origin' | 'bypass'> {
  return map(e.open('R40'), (answer) => (answer === 'bypass' ? 'bypass' : 'origin'))
}

function readSeconds(e: Evaluation, rule: CompiledRule | null): Answer<number | null> {
  if (rule === null) return map(policyWithout(e), (policy) => (policy === 'bypass' ? 0 : null))
  if (rule.policy === 'bypass') return 0
  return rule.seconds === 'R41' ? map(e.open('R41'), (answer) => Number(answer)) : rule.seconds
}

function readFlag(
  e: Evaluation,
  rule: CompiledRule | null,
  flag: boolean | undefined,
): Answer<boolean> {
  if (rule === null) return map(policyWithout(e), (policy) => policy !== 'bypass')
  return rule.policy === 'cache' && flag === true
}

function readKey(
  e: Evaluation,
  q: Questions,
  rule: CompiledRule | null,
  sees: 'seen' | 'rewritten',
): Answer<CacheKey | null> {
  if (rule?.policy === 'bypass') return null
  const policy = rule === null ? policyWithout(e) : rule.policy
  return map(policy, (known) => {
    if (known === 'bypass') return null
    const change = rule === null ? 'as-sent' : settle(e, rule.keyQuery)
    const how = mapBoth(change, readShare(e), (settled, share) => ({ settled, share }))
    return mapBoth(e.ask(askSubject(q, sees)), how, ({ url }, { settled, share }) => ({
      domains: share.domains,
      scheme: share.scheme,
      path: url.path,
      query: changeQuery(settled, url.query),
    }))
  })
}

function settle(e: Evaluation, change: QueryChange | 'R46'): Answer<Plain<QueryChange>> {
  if (change !== 'R46') return readPlain(change)
  return map(e.open('R46'), () => 'as-sent' as const)
}

function changeQuery(change: Plain<QueryChange>, query: string | null): string | null {
  if (change === 'as-sent' || query === null) return query
  if (change === 'none') return null
  const { way, params } = change
  return filterArguments(query, ({ name }) => params.includes(name) === (way === 'keep'))
}

/** The query that the origin gets of a text with path and query, by the deciding rule. */
export function changeOriginQuery(
  e: Evaluation,
  q: Questions,
  full: Answer<string>,
): Answer<string> {
  const { deciders, unknown } = decide(e, q)
  return agree(
    deciders.map((rule) => {
      const change = rule === null || rule instanceof Unknown ? rule : readOriginQuery(e, rule)
      return mapBoth(full, change, (text, known) => {
        const { path, query } = splitFull(text)
        return formatFull({ path, query: changeQuery(known ?? 'as-sent', query) })
      })
    }),
    unknown,
  )
}

function readOriginQuery(e: Evaluation, rule: CompiledRule): Answer<Plain<QueryChange>> {
  if (rule.policy === 'cache') return settle(e, rule.originQuery)
  if (!rule.mayChangeIdle || e.reading('R47') === 'idle') return 'as-sent'
  return settle(e, rule.originQuery)
}

/** Domains and scheme of the cache key (`cache_share`, R48). */
function readShare(e: Evaluation): Answer<Pick<CacheKey, 'domains' | 'scheme'>> {
  const { host, scheme } = e.facts.url
  return map(e.item('cache_share'), (value): Answer<Pick<CacheKey, 'domains' | 'scheme'>> => {
    if (value === null)
      return { domains: [host], scheme: e.reading('R48') === 'shared' ? 'any' : scheme }
    const { share_way: way, domain } = castAccepted<CacheShare>(value)
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

/** Lists the rules that match beside the deciding one, if it is known. */
export function listOtherRules(e: Evaluation, q: Questions, rule: Answer<Rule | null>): OtherRules {
  const { isRewritten } = e.ask(askRewritten(q))
  const order = e.settings.answers[3]
  const subjects: ('seen' | 'rewritten')[] =
    isRewritten === false || order === 'cache-first'
      ? ['seen']
      : order === 'rewrite-first'
        ? ['rewritten']
        : ['seen', 'rewritten']
  const found: OtherRules = { also: [], maybe: [] }
  for (const each of listRules(e)) {
    if (isSameRule(each.rule, rule)) continue
    const matches = subjects.map((sees) => e.ask(askMatch(q, each, sees)))
    if (matches.every((match) => match === true)) found.also.push(each.rule)
    else if (!matches.every((match) => match === false)) found.maybe.push(each.rule)
  }
  return found
}

function isSameRule(rule: Rule, decided: Answer<Rule | null>): boolean {
  if (decided instanceof Unknown || decided === null) return false
  return decided.item === rule.item && decided.pointer === rule.pointer
}

function listRules(e: Evaluation): CompiledRule[] {
  const read = (key: ItemKey): Value => {
    const candidates = e.items.get(key)
    const value = candidates?.length === 1 ? (candidates[0] ?? null) : null
    return isUnknownValue(value) ? null : value
  }
  const [rules, list] = [read('cache_rule'), read('cache_rule_list')]
  return [
    ...(rules === null ? [] : compileRules(castAccepted<CacheRule>(rules))),
    ...(list === null ? [] : compileRuleList(castAccepted<CacheRuleList>(list))),
  ]
}
