import { readEffective, anyPattern, type PatternForm } from '../effects/effective.ts'
import { settle } from '../effects/witness/languages.ts'
import type { ItemKey, Value } from '../model/item.ts'
import { isObject, type Json, type JsonObject, toList } from '../model/json.ts'
import { canonicalizeJson } from '../model/text/canonical-json.ts'
import { lowerAscii } from '../model/text/lower-ascii.ts'
import type { Settings } from '../trace/readings.ts'
import { parseMinutes } from '../trace/request.ts'
import { createRule, type Rule } from '../trace/rule.ts'
import { keepEntry, type Entry } from './pattern.ts'

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

/** Rules in the order of their array, or the order that settled readings give them. */
export interface RankedList {
  rules: RankedRule[]
  /** The open readings that order two rules. */
  listOrderReadings(a: RankedRule, b: RankedRule): number[]
  /** Whether a ranks before b in a world. */
  isBefore(a: RankedRule, b: RankedRule, settings: Settings): boolean
}

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
    const forms = readForms(at)
    const text = patternFields.map((field) => each[field]).find((field) => field !== undefined)
    const names = forms.map(({ kind, text: own, folds }) => {
      const bare = kind === 'ext' ? own.replace(/^\./, '') : own
      return `${kind} ${folds} ${folds === true && kind !== 'regex' ? lowerAscii(bare) : bare}`
    })
    const { priority } = each
    return [
      {
        rule: createRule(item, `/${i}`, text),
        entries: forms.map(keepEntry),
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

/** The patterns of a form of which any one must match. */
export function readForms(at: Json | undefined): PatternForm[] {
  const found = isObject(at) ? at[anyPattern] : []
  return Array.isArray(found) ? (found as unknown as PatternForm[]) : []
}

function readFirst(form: Json): Json {
  if (Array.isArray(form)) return form[0] ?? null
  const { ranked, others }: JsonObject = isObject(form) ? form : {}
  const list = [ranked, others].flatMap((part) => toList(part))
  return list[0] ?? null
}

/** Lists the first-match lists of a domain; those of which each rule acts are left out. */
export function listRanked(items: Items, settings: Settings): RankedList[] {
  const [rules, list] = [readRules('cache_rule', items), readRules('cache_rule_list', items)]
  const cacheRules = { ...byArray(rules), rules }
  const cacheList = byPriority(list, settings)
  const order = settings.answers[38]
  const both = rules.length > 0 && list.length > 0
  const caches =
    !both || (order !== 'list-first' && order !== 'rule-first')
      ? [cacheRules, cacheList]
      : [joinLists(order === 'list-first' ? cacheList : cacheRules, [cacheRules, cacheList])]
  const speeds = readRules('speed_limit', items)
  const rewrites = readRules('source_url_rewrite', items)
  return [
    ...caches,
    ...orderSettled(rewrites, settings.answers[58]),
    ...orderSettled(speeds, settings.answers[75]),
  ].filter((each) => each.rules.length > 0)
}

function createPlace(rules: RankedRule[]): (rule: RankedRule) => number {
  const places = new Map(rules.map((rule, i) => [rule, i]))
  return (rule) => places.get(rule) ?? 0
}

function byArray(rules: RankedRule[]): RankedList {
  const place = createPlace(rules)
  return { rules, listOrderReadings: () => [], isBefore: (a, b) => place(a) < place(b) }
}

/** Orders rules by a reading; none if each rule acts. */
function orderSettled(rules: RankedRule[], answer: Json | undefined): RankedList[] {
  if (rules.length < 2 || answer === 'first') return [byArray(rules)]
  if (answer === 'last') return [byArray(rules.toReversed())]
  if (answer !== 'lowest') return []
  const speed = ({ effect }: RankedRule) => Number(/\d+/.exec(effect)?.[0])
  return [byArray(rules.toSorted((a, b) => speed(a) - speed(b)))]
}

/** `cache_rule_list`: by priority; R39 and R14 place the rules without one. */
function byPriority(list: RankedRule[], { own }: Settings): RankedList {
  const last = Number.POSITIVE_INFINITY
  const sorted = list.toSorted((a, b) => (a.priority ?? last) - (b.priority ?? last) || 0)
  const place = createPlace(list)
  const readings = (a: RankedRule, b: RankedRule) => {
    const count = [a, b].filter(({ priority }) => priority === null).length
    return count === 0 ? [] : [count === 1 ? 39 : 14]
  }
  return {
    rules: sorted,
    listOrderReadings: (a, b) => readings(a, b).filter((number) => !own.has(number)),
    isBefore: (a, b, settings) => {
      if (a.priority !== null && b.priority !== null) return a.priority < b.priority
      if (a.priority === null && b.priority === null)
        return (settle(settings, 14) === 'first') === place(a) < place(b)
      return (settle(settings, 39) === 'after') === (a.priority !== null)
    },
  }
}

function joinLists(first: RankedList, lists: RankedList[]): RankedList {
  const owners = new Map(lists.flatMap((list) => list.rules.map((rule) => [rule, list])))
  const find = (rule: RankedRule) => owners.get(rule) ?? first
  const ordered = lists.toSorted((a, b) => Number(b === first) - Number(a === first))
  return {
    rules: ordered.flatMap(({ rules }) => rules),
    listOrderReadings: (a, b) => (find(a) === find(b) ? find(a).listOrderReadings(a, b) : []),
    isBefore: (a, b, settings) =>
      find(a) === find(b) ? find(a).isBefore(a, b, settings) : find(a) === first,
  }
}
