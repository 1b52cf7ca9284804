import { readEffective } from '../effective.ts'
import { settle } from './languages.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import { isObject, type Json, type JsonObject, toList } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import { lowerAscii } from '../../model/text/lower-ascii.ts'
import type { Settings } from '../../trace/readings.ts'
import { parseMinutes } from '../../trace/request.ts'
import { createRule, type Rule } from '../../trace/rule.ts'
import { listEntries } from './list-patterns.ts'
import type { Entry } from './pattern.ts'

/** A rule of a list of which the first that matches decides. */
export interface RankedRule {
  rule: Rule
  entries: Entry[]
  /** Kind, case and entries as text. */
  name: string
  /** What it decides, as text. */
  effect: string
  priority: number | null
  /** When it applies, in minutes of the day; null for always. */
  window: { from: number; to: number } | null
}

/** Rules of which the first that matches decides. */
export interface RankedList {
  /** In the order that the readings give them. */
  rules: RankedRule[]
  /** The readings that order two rules. */
  readings(a: RankedRule, b: RankedRule): number[]
  /** Whether a ranks before b. */
  isBefore(a: RankedRule, b: RankedRule, settings: Settings): boolean
}
/** How rules are ordered. */
type Order = Omit<RankedList, 'rules'>

/** Items of a domain that manifests set. */
export type Items = ReadonlyMap<ItemKey, Value>

const patternFields = ['pattern', 'origin_url']

/** Reads the rules of an item with their patterns and effects. */
export function readRules(item: ItemKey, items: Items): RankedRule[] {
  const value = items.get(item)
  if (!Array.isArray(value)) return []
  const last = known.get(item)
  const rules = last?.value === value ? last.rules : parseRules(item, value)
  known.set(item, { value, rules })
  return rules
}

/** The last rules of each item: more would keep the automata of a fleet. */
const known = new Map<ItemKey, { value: Json[]; rules: RankedRule[] }>()

function parseRules(item: ItemKey, value: Json[]): RankedRule[] {
  return value.flatMap((each, i) => {
    const form = readFirst(readEffective(item, [each]))
    if (!isObject(form) || !isObject(each)) return []
    const { at, origin_url: _, begin, end, ...effect } = form
    const entries = listEntries(at)
    const text = patternFields.map((field) => each[field]).find((field) => field !== undefined)
    const names = entries.map(({ form: { kind, text: own, folds } }) => {
      const bare = kind === 'ext' ? own.replace(/^\./, '') : own
      return `${kind} ${folds} ${folds === true && kind !== 'regex' ? lowerAscii(bare) : bare}`
    })
    const { priority } = each
    return [
      {
        rule: createRule(item, `/${i}`, text),
        entries,
        name: [...new Set(names)].toSorted().join(','),
        effect: canonicalizeJson(effect),
        priority: typeof priority === 'number' ? priority : null,
        window:
          typeof begin === 'string' && typeof end === 'string'
            ? { from: parseMinutes(begin), to: parseMinutes(end) }
            : null,
      },
    ]
  })
}

function readFirst(form: Json): Json {
  if (Array.isArray(form)) return form[0] ?? null
  const { ranked, others }: JsonObject = isObject(form) ? form : {}
  const list = [ranked, others].flatMap((part) => toList(part))
  return list[0] ?? null
}

/** Lists the first-match lists of a domain; those of which each rule acts are left out. */
export function listRanked(items: Items, settings: Settings): RankedList[] {
  const [rules, ranked] = [readRules('cache_rule', items), readRules('cache_rule_list', items)]
  const [rewrites, speeds] = [
    readRules('source_url_rewrite', items),
    readRules('speed_limit', items),
  ]
  const [byPlace, byRank] = [byArray(rules), byPriority(ranked)]
  const sort = (list: RankedRule[], order: Order): RankedList[] => {
    const rank = (a: RankedRule, b: RankedRule) => Number(order.isBefore(b, a, settings))
    const sorted = list.toSorted((a, b) => rank(a, b) - rank(b, a))
    return list.length === 0 ? [] : [{ ...order, rules: sorted }]
  }
  const isJoined = ['list-first', 'rule-first'].includes(String(settle(settings, 38)))
  const isChain = settle(settings, 58) === 'chain' && rewrites.length > 1
  return [
    ...(isJoined
      ? sort([...rules, ...ranked], joinOrders(rules, byPlace, byRank))
      : [...sort(rules, byPlace), ...sort(ranked, byRank)]),
    ...(isChain ? [] : sort(rewrites, byArray(rewrites, 58))),
    ...sort(speeds, byArray(speeds, 75)),
  ]
}

/** Tests whether a rule applies at a minute of the day; R76 says if its last one counts. */
export function isActive({ window }: RankedRule, minute: number, settings: Settings): boolean {
  if (window === null) return true
  const isInside = settle(settings, 76) === 'inside'
  return window.from <= minute && (isInside ? minute <= window.to : minute < window.to)
}

/** Lists the minutes at which rules begin or cease to apply. */
export function listTimes(rules: readonly RankedRule[]): number[] {
  const limits = rules.flatMap(({ window }) =>
    window === null ? [] : [window.from, window.to, window.to + 1],
  )
  return [...new Set(limits)].toSorted((a, b) => a - b)
}

function createPlace(rules: RankedRule[]): (rule: RankedRule) => number {
  const places = new Map(rules.map((rule, i) => [rule, i]))
  return (rule) => places.get(rule) ?? 0
}

/** Orders rules by their places in the array, or as a reading says; not at all in a chain. */
function byArray(rules: RankedRule[], number: 58 | 75 | null = null): Order {
  const place = createPlace(rules)
  const speed = ({ effect }: RankedRule) => Number(/\d+/.exec(effect)?.[0])
  return {
    readings: () => (number === null ? [] : [number]),
    isBefore: (a, b, settings) => {
      const answer = number === null ? 'first' : settle(settings, number)
      if (answer === 'last') return place(a) > place(b)
      if (answer === 'lowest' && speed(a) !== speed(b)) return speed(a) < speed(b)
      return answer !== 'chain' && place(a) < place(b)
    },
  }
}

/** `cache_rule_list`: by priority; R39 and R14 place the rules without one. */
function byPriority(list: RankedRule[]): Order {
  const place = createPlace(list)
  return {
    readings: (a, b) => {
      const count = [a, b].filter(({ priority }) => priority === null).length
      return count === 0 ? [] : [count === 1 ? 39 : 14]
    },
    isBefore: (a, b, settings) => {
      if (a.priority !== null && b.priority !== null) return a.priority < b.priority
      if (a.priority === null && b.priority === null)
        return settle(settings, 14) === 'first' ? place(a) < place(b) : place(a) > place(b)
      return (settle(settings, 39) === 'after') === (a.priority !== null)
    },
  }
}

/** Orders both lists of cache rules (R38). */
function joinOrders(rules: RankedRule[], byPlace: Order, byRank: Order): Order {
  const own = new Set(rules)
  const find = (a: RankedRule, b: RankedRule) => {
    if (own.has(a) !== own.has(b)) return null
    return own.has(a) ? byPlace : byRank
  }
  return {
    readings: (a, b) => find(a, b)?.readings(a, b) ?? [38],
    isBefore: (a, b, settings) =>
      find(a, b)?.isBefore(a, b, settings) ??
      settle(settings, 38) === (own.has(a) ? 'rule-first' : 'list-first'),
  }
}
