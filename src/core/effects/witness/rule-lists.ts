import { isObject, type Json, type JsonObject, toList } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import type { Settings } from '../../trace/readings.ts'
import { parseMinutes } from '../../trace/request.ts'
import type { Compiled } from '../../trace/trace.ts'
import { readEffective, type PatternForm } from '../effective.ts'
import type { Sides } from '../sides.ts'
import { NoLanguage, settle } from './languages.ts'
import { listPatterns, matchAll, readCertain } from './matching.ts'
import type { Proof, Proven } from './proof.ts'

/** A rule of a list of which the first that matches decides. */
interface RankedRule {
  patterns: PatternForm[]
  /** What it decides, as text; and when, in minutes from and before. */
  effect: string
  from?: number
  to?: number
}

/** Compares what two lists decide for every URL, and every time that makes a difference. */
export function proveRules(sides: Sides, list: (compiled: Compiled) => RankedRule[]): Proven {
  const [before, after] = [list(sides.before), list(sides.after)]
  const { urls, matches } = matchAll(
    sides,
    [...before, ...after].flatMap((each) => each.patterns),
  )
  const limits = [...before, ...after].flatMap(({ from = 0, to = 0 }) => [from, to])
  const times = [...new Set([0, ...limits])]
  const decide = (rules: RankedRule[], url: number, time: number) =>
    rules.find(
      ({ patterns, from = 0, to = 1440 }) =>
        from <= time && time < to && patterns.some((each) => matches(each, url)),
    )?.effect
  const differing = urls.filter((_, i) =>
    times.some((time) => decide(before, i, time) !== decide(after, i, time)),
  )
  if (differing.length > 0) return { reasons: [], urls: differing }
  return { proof: nameProof(before, after) }
}

function nameProof(before: RankedRule[], after: RankedRule[]): Proof {
  const [left, right] = [before, after].map((rules) =>
    rules.map((rule) => canonicalizeJson(rule as unknown as Json)),
  )
  const gone = left?.filter((rule) => right?.includes(rule) === false) ?? []
  const come = right?.filter((rule) => left?.includes(rule) === false) ?? []
  if (gone.length === 0 && come.length === 0)
    return left?.length === right?.length ? 'reordered' : 'covered'
  const areReplaced = gone.length > 0 && come.length > 0
  const isRegex = [...before, ...after].some(({ patterns }) =>
    patterns.some(({ kind }) => kind === 'regex'),
  )
  return areReplaced && isRegex ? 'automaton' : 'covered'
}

function toRule(form: Json, more: Omit<RankedRule, 'patterns' | 'effect'> = {}): RankedRule {
  const { at, ...effect } = isObject(form) ? form : {}
  return {
    patterns: [...listPatterns(at ?? null).values()].flat(),
    effect: canonicalizeJson(effect),
    ...more,
  }
}

/** The rules of both items of the cache in their order (R38, R39, R14). */
export function readCacheRules(compiled: Compiled): RankedRule[] {
  const { settings } = compiled
  if (readCertain(compiled, 'source_url_rewrite') !== null && settle(settings, 3) !== 'cache-first')
    throw new NoLanguage('source_url_rewrite changes what cache rules see')
  const rules = readEffective('cache_rule', readCertain(compiled, 'cache_rule'))
  const list = readEffective('cache_rule_list', readCertain(compiled, 'cache_rule_list'))
  const plain = Array.isArray(rules) ? rules.map((rule) => toRule(rule)) : []
  const ranked = isObject(list) ? rankList(settleQueries(list, settings), settings) : []
  if (rules === null || list === null) return [...plain, ...ranked]
  const order = settle(settings, 38)
  if (order === 'list-first') return [...ranked, ...plain]
  if (order === 'rule-first') return [...plain, ...ranked]
  return order === 'list-only' ? ranked : plain
}

/** Rules whose query stays as sent where settled readings say so (R46, R47). */
function settleQueries(list: JsonObject, { answers }: Settings): JsonObject {
  const settleRule = (rule: Json): Json => {
    if (!isObject(rule)) return rule
    if (rule['policy'] === 'bypass' && answers[47] === 'idle') return { ...rule, query: 'as-sent' }
    return mapObject(rule, (each) => (each === 'R46' ? 'as-sent' : each))
  }
  return mapObject(list, (rules) => (Array.isArray(rules) ? rules.map(settleRule) : rules))
}

function mapObject(object: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, each]) => [name, change(each)]))
}

function rankList({ ranked, others }: JsonObject, settings: Settings): RankedRule[] {
  const [first, rest] = [ranked, others].map((each) => toList(each).map((rule) => toRule(rule)))
  if (first === undefined || rest === undefined || rest.length === 0) return first ?? []
  const last = rest.length > 1 && settle(settings, 14) === 'last' ? rest.toReversed() : rest
  if (first.length === 0) return last
  return settle(settings, 39) === 'after' ? [...first, ...last] : [...last, ...first]
}

/** The rules of `speed_limit` with their windows (R75, R76). */
export function readSpeedRules(compiled: Compiled): RankedRule[] {
  const form = readEffective('speed_limit', readCertain(compiled, 'speed_limit'))
  if (!Array.isArray(form)) return []
  const rules = form.flatMap((each) => (isObject(each) ? [each] : []))
  const isInside = settle(compiled.settings, 76) === 'inside'
  const made = rules.map(({ begin, end, ...rest }) => ({
    speed: Number(rest['kiloBytes']),
    rule: toRule(rest, {
      from: parseMinutes(String(begin)),
      to: parseMinutes(String(end)) + Number(isInside),
    }),
  }))
  const order = made.length < 2 ? 'first' : settle(compiled.settings, 75)
  if (order === 'lowest') made.sort((a, b) => a.speed - b.speed)
  if (order === 'last') made.reverse()
  return made.map(({ rule }) => rule)
}

/** The rules of `source_url_rewrite` in their order (R58). */
export function readRewriteRules(compiled: Compiled): RankedRule[] {
  const form = readEffective('source_url_rewrite', readCertain(compiled, 'source_url_rewrite'))
  const rules = Array.isArray(form) ? form.map((rule) => toRule(rule)) : []
  const order = rules.length < 2 ? 'first' : settle(compiled.settings, 58)
  if (order === 'chain') throw new NoLanguage('source_url_rewrite is a chain (R58)')
  return order === 'last' ? rules.toReversed() : rules
}
