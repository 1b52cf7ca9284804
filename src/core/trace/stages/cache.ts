import { toSeconds } from '../../catalog/cache-time.ts'
import type { CacheRule, CacheRuleList } from '../../catalog/generated/items.ts'
import type { Plain, Text } from '../../model/secret.ts'
import { map, mapBoth, orElse, Unknown, type Answer } from '../answer.ts'
import { agree, findDeciders, type Deciders } from '../first-match.ts'
import type { CaseRule } from '../match/case.ts'
import { compilePattern, matchUrl, type Subject, type UrlPattern } from '../match/url.ts'
import { remember } from '../remember.ts'
import { createRule, type Rule } from '../rule.ts'
import type { Run } from '../run.ts'
import { readPlain, splitText } from '../secret-text.ts'
import { filterArguments, formatFull, splitFull, type Argument, type RequestUrl } from '../url.ts'
import { createSubject, rewriteUrl, seeUrl } from './seen.ts'

/** What a rule does with the query: of the cache key, and of the request to the origin. */
type QueryChange = 'none' | 'as-sent' | { way: 'keep' | 'remove'; params: Text[] }

/** What the rule that decides says. */
interface Decision {
  rule: Rule | null
  policy: 'cache' | 'bypass' | 'origin'
  /** Null: the origin's; unknown where R41 gives them. */
  seconds: number | 'R41' | null
  followsOrigin: boolean
  obeysNoCache: boolean
  keyQuery: QueryChange
  originQuery: QueryChange
  /** Whether R47 says if the query is changed although nothing is cached. */
  mayChangeIdle?: boolean
}

/** A rule of `cache_rule` or `cache_rule_list`. */
export interface CompiledRule extends Decision {
  rule: Rule
  pattern: UrlPattern
  caseRule: CaseRule
  sees: 'W' | 'R5'
  /** Only in `cache_rule_list`, where a rule may have one. */
  priority?: number
}

/** What holds without a rule (R40). */
function findDefault(run: Run): Decision {
  const isBypass = run.reading('R40') === 'bypass'
  return {
    rule: null,
    policy: isBypass ? 'bypass' : 'origin',
    seconds: isBypass ? 0 : null,
    followsOrigin: !isBypass,
    obeysNoCache: !isBypass,
    keyQuery: 'as-sent',
    originQuery: 'as-sent',
  }
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
      policy: seconds > 0 ? 'cache' : 'bypass',
      seconds,
      followsOrigin: seconds > 0 && rule.ignore_expired === 'off',
      obeysNoCache: seconds > 0 && rule.ignore_no_cache !== 'on',
      keyQuery: query,
      originQuery: query,
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
      seconds: isCached ? time || 'R41' : 0,
      followsOrigin: isCached && rule.follow_expired === 'yes',
      obeysNoCache: isCached && rule.ignore_no_cache_headers !== 'yes',
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

/** Ranks the rules of both items (R38). */
function rankRules(run: Run): Ranked[] {
  const [rules = [], list = []] = [
    run.read('cache_rule', [], compileRules),
    run.read('cache_rule_list', [], (item) => rankList(run, compileRuleList(item))),
  ].map((found): Ranked[] => (found instanceof Unknown ? [found] : found))
  if (rules.length === 0 || list.length === 0) return [...list, ...rules]
  const order = run.reading('R38')
  const [first, second] = order.startsWith('list') ? [list, rules] : [rules, list]
  return order.endsWith('only') ? first : [...first, ...second]
}

/** Ranks rules by priority; R39 places those without one, R14 orders them among themselves. */
function rankList(run: Run, rules: CompiledRule[]): CompiledRule[] {
  const isRanked = rules.every(({ priority }) => priority !== undefined)
  const isReversed = !isRanked && run.reading('R14') === 'last'
  const others = isRanked || run.reading('R39') === 'after' ? Number.MAX_VALUE : -Number.MAX_VALUE
  const rank = ({ priority = others }: CompiledRule) => priority
  return (isReversed ? rules.toReversed() : rules).toSorted((a, b) => rank(a) - rank(b))
}

/** The rules that may decide. */
function findRules(run: Run): Deciders<Ranked> {
  return findDeciders(rankRules(run), (rule) =>
    rule instanceof Unknown ? rule : matchRule(run, rule),
  )
}

/** Answers by each rule that may decide. */
function byRule<T>(read: (run: Run, rule: Decision) => Answer<T>): (run: Run) => Answer<T> {
  return (run) =>
    agree(run.once(findRules), (rule) =>
      rule instanceof Unknown ? rule : read(run, rule ?? findDefault(run)),
    )
}

/** What the deciding cache rule says (request semantics, 3.4); seconds null: the origin's. */
export const cache = {
  rule: byRule((_, { rule }) => rule),
  policy: byRule((_, { policy }) => policy),
  seconds: byRule((run, { seconds }) => {
    const settled = seconds === 'R41' ? run.settled(seconds) : seconds
    return typeof settled === 'number' ? settled : null
  }),
  followsOrigin: byRule((_, { followsOrigin }) => followsOrigin),
  obeysNoCache: byRule((_, { obeysNoCache }) => obeysNoCache),
  key: byRule(readKey),
}

/** What requests must have in common to get one cached object. */
export interface CacheKey {
  domains: string[]
  scheme: 'http' | 'https' | 'any'
  path: string
  query: string | null
}

function readKey(run: Run, { policy, keyQuery }: Decision): Answer<CacheKey | null> {
  if (policy === 'bypass') return null
  const seen = mapBoth(run.once(findSubject), readPlain(keyQuery), ({ url }, change) => ({
    ...changeQuery(change, url),
    scheme: url.scheme,
  }))
  return mapBoth(seen, readShare(run), ({ scheme, path, query }, { domains, isShared }) => ({
    domains,
    scheme: isShared ? 'any' : scheme,
    path,
    query,
  }))
}

/** A part of a URL. */
type PathAndQuery = Pick<RequestUrl, 'path' | 'query'>

function changeQuery(change: Plain<QueryChange>, { path, query }: PathAndQuery): PathAndQuery {
  if (change === 'as-sent' || query === null) return { path, query }
  if (change === 'none') return { path, query: null }
  const { way, params } = change
  const isKept = ({ name }: Argument) => params.includes(name) === (way === 'keep')
  return { path, query: filterArguments(query, isKept) }
}

/** The query that the origin gets of a text with path and query, by the deciding rule (R47). */
export function changeOriginQuery(run: Run, full: Answer<string>): Answer<string> {
  return byRule((_, { policy, mayChangeIdle, originQuery }) => {
    const isChanged = policy === 'cache' || (mayChangeIdle && run.reading('R47') === 'applies')
    return mapBoth(full, readPlain(isChanged ? originQuery : 'as-sent'), (text, change) =>
      formatFull(changeQuery(change, splitFull(text))),
    )
  })(run)
}

/** Which domains share cached objects, and whether their schemes do (`cache_share`, R48). */
function readShare(run: Run): Answer<{ domains: string[]; isShared: boolean }> {
  const { host } = run.facts.url
  const shared = run.read('cache_share', null, ({ share_way: way, domain = host }) =>
    map(readPlain(way === 'inner_share' ? host : domain), (other) => ({
      domains: [...new Set([host, other])].toSorted(),
      isShared: way !== 'cross_single_share',
    })),
  )
  return orElse(shared, () => ({ domains: [host], isShared: run.reading('R48') === 'shared' }))
}

/** The rules that match beside the deciding one, and those of which it is not known. */
export interface OtherRules {
  also: Rule[]
  maybe: Rule[]
}

/** Lists the rules of the cache, in the order of the items. */
export function listRules(run: Run): CompiledRule[] {
  return [
    run.read('cache_rule', [], compileRules),
    run.read('cache_rule_list', [], compileRuleList),
  ].flatMap((list) => (list instanceof Unknown ? [] : list))
}
