import { nameRule, splitList, type Items, type RuleName } from './items.ts'
import { isInsensitive, matchPattern, type PatternKind } from './matching.ts'
import { firstMatch, isNo, map, unknownOf, type Cond, type Result } from './result.ts'
import { rewritten } from './rewrite.ts'
import { seen } from './seen.ts'
import type { Source } from './subjects.ts'
import type { World } from './trace.ts'
import { filterArguments } from './url.ts'

type OldRule = Items['cache_rule'][number]
type NewRule = Items['cache_rule_list'][number]

/** What happens to the query. */
export type QueryUse = (query: string | null) => string | null

/** What a rule says, in the terms of the output (request semantics, 3.4). */
export interface Fields {
  policy: string
  seconds: number | null
  followsOrigin: boolean
  obeysNoCache: boolean
  keyQuery: QueryUse
  originQuery: QueryUse
}

const asSent: QueryUse = (query) => query
const none: QueryUse = () => null

const units: Record<string, number> = {
  Y: 31_536_000,
  year: 31_536_000,
  M: 2_628_000,
  month: 2_628_000,
  D: 86_400,
  day: 86_400,
  h: 3600,
  hour: 3600,
  i: 60,
  minute: 60,
  s: 1,
  second: 1,
}

export function toSeconds(count: number, unit: string): number {
  return count * (units[unit] ?? Number.NaN)
}

const bypass: Omit<Fields, 'originQuery' | 'keyQuery'> = {
  policy: 'bypass',
  seconds: 0,
  followsOrigin: false,
  obeysNoCache: false,
}

function readOldRule(rule: OldRule): Fields {
  if (rule.time === 0) return { ...bypass, keyQuery: asSent, originQuery: asSent }
  const query = rule.ignore_query === 'on' ? none : asSent
  return {
    policy: 'cache',
    seconds: toSeconds(rule.time, rule.timeunit ?? 's'),
    followsOrigin: rule.ignore_expired === 'off',
    obeysNoCache: rule.ignore_no_cache !== 'on',
    keyQuery: query,
    originQuery: query,
  }
}

function readNewRule(world: World, rule: NewRule): Fields {
  const { cache_or_not, expire } = rule
  const isCached = cache_or_not === undefined ? expire > 0 : cache_or_not === 'yes'
  if (!isCached) {
    const { query_params_op = 'do_nothing' } = rule
    const applies = query_params_op !== 'do_nothing' && world.is('R47', 'applies')
    const originQuery = applies ? readQueryUses(rule).originQuery : asSent
    return { ...bypass, keyQuery: asSent, originQuery }
  }
  return {
    policy: 'cache',
    seconds:
      expire === 0
        ? world.is('R41', 'origin')
          ? null
          : Number(world.settled('R41'))
        : toSeconds(expire, rule.expire_unit ?? 's'),
    followsOrigin: rule.follow_expired === 'yes',
    obeysNoCache: rule.ignore_no_cache_headers !== 'yes',
    ...readQueryUses(rule),
  }
}

function readQueryUses(rule: NewRule): Pick<Fields, 'keyQuery' | 'originQuery'> {
  const { query_params_op = 'do_nothing' } = rule
  const { query_params_op_way: way, query_params_op_when: when, params } = rule
  if (query_params_op === 'do_nothing') return { keyQuery: asSent, originQuery: asSent }
  if (query_params_op === 'cache_back_source_remove') return { keyQuery: none, originQuery: none }
  if (way === undefined || when === undefined || params === undefined)
    return { keyQuery: asSent, originQuery: asSent }
  const names = splitList(params)
  const use: QueryUse = (query) =>
    filterArguments(query, (name) => names.includes(name) === (way === 'keep'))
  return { keyQuery: use, originQuery: when === 'cache' ? asSent : use }
}

/** The fields while no rule matches. */
function readNoRule(world: World): Fields {
  const query = { keyQuery: asSent, originQuery: asSent }
  if (world.is('R40', 'bypass')) return { ...bypass, ...query }
  return {
    policy: 'origin',
    seconds: null,
    followsOrigin: true,
    obeysNoCache: true,
    ...query,
  }
}

/** A rule of either item. */
export interface CacheRule {
  name: RuleName
  priority: number | null
  match: (world: World, source: Source) => Cond
  fields: (world: World) => Fields
}

const oldKinds: Record<OldRule['type'], PatternKind> = {
  1: 'ext',
  2: 'dir',
  3: 'route',
  4: 'regex',
}

export function listOldRules(rules: Items['cache_rule']): CacheRule[] {
  return rules.map((rule, i) => ({
    name: nameRule('cache_rule', `/${i}`, rule.pattern),
    priority: null,
    match: (world, source) => {
      const where = `cache_rule/${i}/pattern`
      const kind = oldKinds[rule.type]
      const ci = isInsensitive(world)
      const regexSubject = 'whole-url'
      return matchPattern(world, { kind, pattern: rule.pattern, ci, where, source, regexSubject })
    },
    fields: () => readOldRule(rule),
  }))
}

export function listNewRules(rules: Items['cache_rule_list']): CacheRule[] {
  return rules.map((rule, i) => ({
    name: nameRule('cache_rule_list', `/${i}`, rule.pattern),
    priority: rule.priority ?? null,
    match: (world, source) => {
      const where = `cache_rule_list/${i}/pattern`
      const { match_method: kind, pattern, case_ignore = 'yes' } = rule
      return matchPattern(world, { kind, pattern, ci: case_ignore === 'yes', where, source })
    },
    fields: (world) => readNewRule(world, rule),
  }))
}

/** Which URL the rules match, and the key shows. */
export function readCacheSource(world: World): Source {
  return world.is('R3', 'cache-first') ? seen : rewritten
}

interface Ranked {
  rule: CacheRule
  match: Cond
  i: number
}

/** Rules that may match, by rank. */
function rank(world: World, rules: Ranked[]): Ranked[] {
  const hasPlain = rules.some(({ rule }) => rule.priority === null)
  const hasRanked = rules.some(({ rule }) => rule.priority !== null)
  const plainRank = hasPlain && hasRanked && world.is('R39', 'before') ? -Infinity : Infinity
  const ranks = rules.map(({ rule }) => rule.priority ?? plainRank)
  const hasEqual = new Set(ranks).size < ranks.length
  const place = hasEqual && world.is('R14', 'last') ? -1 : 1
  const rankOf = ({ rule }: Ranked): number => rule.priority ?? plainRank
  return rules.toSorted((a, b) => {
    const [left, right] = [rankOf(a), rankOf(b)]
    return left === right ? place * (a.i - b.i) : left < right ? -1 : 1
  })
}

/** A rule that may match; null for an item that is not known. */
interface Decider {
  rule: CacheRule | null
  match: Cond
}

function readList(
  world: World,
  source: Source,
  item: Result<CacheRule[] | null>,
  order: (rules: Ranked[]) => Ranked[],
): Decider[] {
  if (!item.known) return [{ rule: null, match: unknownOf(item.reasons) }]
  const rules = (item.value ?? [])
    .map((rule, i) => ({ rule, i, match: rule.match(world, source) }))
    .filter(({ match }) => !isNo(match))
  return order(rules)
}

/** The rules of both items that may match, by rank. */
export function rankRules(world: World, source: Source): Decider[] {
  const [newer, older] = [
    map(world.item('cache_rule_list'), (rules) => rules && listNewRules(rules)),
    map(world.item('cache_rule'), (rules) => rules && listOldRules(rules)),
  ]
  const first = readList(world, source, newer, (rules) => rank(world, rules))
  const last = readList(world, source, older, (rules) => rules)
  const isAlone = [newer, older].some((item) => item.known && item.value === null)
  const way = isAlone ? 'list-first' : world.reading('R38')
  if (way === 'list-only') return first
  if (way === 'rule-only') return last
  return way === 'list-first' ? [...first, ...last] : [...last, ...first]
}

/** Decides a field by the first rule that matches. */
export function decideField<T>(
  world: World,
  source: Source,
  pick: (fields: Fields, rule: CacheRule | null) => Result<T>,
): Result<T> {
  const candidates = rankRules(world, source).map(({ rule, match }) => ({
    match,
    field: () => (rule === null ? (match as Result<never>) : pick(rule.fields(world), rule)),
  }))
  return firstMatch(candidates, () => pick(readNoRule(world), null))
}
