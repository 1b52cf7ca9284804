// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { compileProgram, findMatch } from '../../src/core/trace/regex/machine.ts'
import { parseCore } from '../../src/core/trace/regex/syntax.ts'
import type { Rule } from '../../src/core/trace/rule.ts'
import type { CheckReport } from '../../src/core/trace/stages/access.ts'
import type { Trace } from '../../src/core/trace/trace.ts'
import { checkKeys } from '../../src/core/trace/check-keys.ts'
import type { Chance } from '../simulation/chance.ts'
import { itOften, runs } from '../runs.ts'
import {
  compareTexts,
  holdFor,
  mapDeep,
  readValue,
  tracePair,
  write,
  writeTrace,
} from './for-pairs.ts'
import {
  addEntries,
  addMatching,
  listPlaces,
  reorder,
  shuffle,
  swap,
  type Kept,
} from './pairs/change-rules.ts'
import { chooseWorld } from './pairs/more-known.ts'
import type { Pair } from './pairs/pair.ts'
import {
  matchCacheRules,
  matchParts,
  matchRewrites,
  matchSpeedLimits,
  openSecond,
  rankCacheRules,
  readAnswer,
  type Match,
} from './second-matches.ts'
import type { CheckName } from './second/readings.ts'
import { isNo, isYes } from './second/result.ts'
import type { Trace as Second } from './second/trace.ts'

const holds = (match: Match) => isYes(match.holds)
const fails = (match: Match) => isNo(match.holds)
const isOpen = (match: Match) => !holds(match) && !fails(match)

/** Tests whether some match of a rule with this name is as it should be. */
function some(matches: Match[], { item, pointer, pattern }: Rule, is: (match: Match) => boolean) {
  const isNamed = ({ name }: Match) =>
    name.item === item && name.pointer === pointer && name.pattern === pattern
  return matches.some((match) => isNamed(match) && is(match))
}

/** Checks that a rule holds, and none of those that rank before it; null: that none does. */
function decides(matches: Match[], rule: Json | undefined): string | null {
  if (rule === undefined) return null
  const i = matches.findIndex((match) => !fails(match))
  const first = matches[i]
  const isRight = rule === null ? i < 0 : first !== undefined && some([first], rule as never, holds)
  return isRight ? null : `${write(rule)} decides, but ${write(first?.name)} may match`
}

describe('for each choice of candidates, by the second interpreter', () => {
  itOften('the cache rule that decides matches, and none before it', () =>
    holdFor('mixed', runs(12, 2_000), (pair, chance) => {
      const { replies, cacheRules } = tracePair(pair)
      const open = matchCacheRules(openSecond(pair))
      const maybe = cacheRules.maybe.find((rule) => !some(open, rule, isOpen))
      if (maybe !== undefined) return `maybe ${write(maybe)}`
      for (const name of ['a', 'b', 'c']) {
        const second = openSecond(chooseWorld(pair, chance.fork(name)))
        const matches = rankCacheRules(second)
        const all = matchCacheRules(second)
        const also = cacheRules.also.find((rule) => !some(all, rule, holds))
        if (also !== undefined) return `also ${write(also)}`
        const fault = decides(matches, readValue(replies, 'cache.rule'))
        if (fault !== null) return fault
      }
      return null
    }),
  )

  itOften('the rule that rewrites matches, and none before it', () =>
    holdFor('mixed', runs(25, 4_000), (drawn, chance) => {
      if (!Array.isArray(drawn.items['source_url_rewrite']?.[0])) return null
      const R58 = chance.pick(['first', 'last'])
      const pair = addMatching({ ...drawn, assume: { ...drawn.assume, R58 } }, chance)
      const rule = readValue(tracePair(pair).replies, 'origin.rewrite')
      for (const name of ['a', 'b', 'c']) {
        const second = openSecond(chooseWorld(pair, chance.fork(name)))
        const matches = matchRewrites(second)
        const fault = decides(R58 === 'last' ? matches.toReversed() : matches, rule)
        if (fault !== null) return fault
      }
      return null
    }),
  )

  itOften('the entry that a check names holds, and none before it does by itself', () =>
    holdFor('mixed', runs(12, 2_000), (drawn, chance) => {
      const pair = addMatching(drawn, chance)
      const found = tracePair(pair).checks
      const open = openSecond(pair)
      const worlds = ['a', 'b'].map((name) => openSecond(chooseWorld(pair, chance.fork(name))))
      for (const report of found) {
        const fault = namesRight(open, worlds, report)
        if (fault !== null) return `${report.item}: ${fault}`
      }
      return null
    }),
  )
})

function namesRight(open: Second, worlds: Second[], report: CheckReport): string | null {
  const { rule, also, maybe } = report
  const item = report.item as CheckName
  const { parts, entries } = matchParts(open, item)
  const doubtful = maybe.find((each) => !some(entries, each, isOpen))
  if (doubtful !== undefined) return `maybe ${write(doubtful)}`
  const named = rule === null || rule.pointer === '' ? [] : [rule]
  for (const world of worlds) {
    const matches = matchParts(world, item)
    const wrong =
      also.find((each) => !some(matches.entries, each, holds)) ??
      named.find((each) => !some([...matches.parts, ...matches.entries], each, holds))
    if (wrong !== undefined) return `${write(wrong)} does not hold in a world`
  }
  const first = [...parts, ...entries].find(holds)
  const isFirst = named.every((each) => first !== undefined && some([first], each, holds))
  return isFirst ? null : `${write(rule)} is named, but ${write(first?.name)} holds before it`
}

describe('the order of rules', () => {
  itOften('of lists of which one suffices changes only which entry is named', () =>
    holdFor('mixed', runs(12, 2_000), (pair, chance) => {
      const after = { ...pair, items: reorder(pair.items, chance) }
      return compareTexts(writeUnnamed(pair), writeUnnamed(after))
    }),
  )

  itOften('of neighbours that do not overlap changes only pointers', () =>
    holdFor('mixed', runs(12, 2_000), (pair) => {
      for (const place of listPlaces(pair)) {
        if (mayOverlap(openSecond(pair), place)) continue
        const fault = compareTexts(writeUnplaced(pair), writeUnplaced(swap(pair, place)))
        if (fault !== null) return `${write(place)} ${fault}`
      }
      return null
    }),
  )
})

/** Tests whether a rule and the next one may both match this request, or are not decided. */
function mayOverlap(second: Second, { name, i }: { name: string; i: number }): boolean {
  if (name === 'source_url_rewrite' && readAnswer(second, 'R58') === 'chain') return true
  const all = [
    ...matchCacheRules(second),
    ...matchRewrites(second),
    ...matchSpeedLimits(second),
  ].filter((match) => match.name.item === name)
  const pair = all.slice(i, i + 2)
  return pair.some(isOpen) || pair.every(holds)
}

const isRewrite = ({ item }: JsonObject) => item === 'source_url_rewrite'

/** The output without what the order of entries may change: their names, pointers and texts. */
function writeUnnamed(pair: Pair): string {
  return write(
    mapDeep(writeTrace(pair), (node, key) => {
      if (key === 'also' || key === 'maybe') return []
      if (key === 'unknown' && Array.isArray(node)) return withoutPointers(node)
      if (!isObject(node)) return node
      if ('pointer' in node) return isRewrite(node) ? node : { item: node['item'] ?? null }
      return 'exempt' in node ? { ...node, rule: null } : node
    }),
  )
}

/** The output without pointers. */
function writeUnplaced(pair: Pair): string {
  return write(
    mapDeep(writeTrace(pair), (node, key) => {
      if (key === 'unknown' && Array.isArray(node)) return withoutPointers(node)
      if ((key === 'also' || key === 'maybe') && Array.isArray(node))
        return node.map(write).toSorted()
      if (!isObject(node) || !('pointer' in node)) return node
      return { ...node, pointer: String(node['pointer']).replace(/\d+/g, '#') }
    }),
  )
}

function withoutPointers(reasons: Json[]): Json[] {
  return [...new Set(reasons.map((reason) => String(reason).replace(/\/\d+/g, '/#')))].toSorted()
}

const isSet = ({ items }: Pair, name: string) => (items[name] ?? [null])[0] !== null

itOften('more entries of black lists never let pass, of white lists never deny', () =>
  holdFor('mixed', runs(12, 2_000), (pair, chance) => {
    const lists = checkKeys.filter((name) => isSet(pair, name))
    return keepAll(pair, shuffle(lists, chance).slice(0, 3), chance)
  }),
)

itOften('more exemptions never deny', () =>
  holdFor('mixed', runs(25, 4_000), (drawn, chance) => {
    if (!isSet(drawn, 'visit_deny_whitelist')) return null
    const assume = { ...drawn.assume, R18: 'every' }
    return keepAll(addMatching({ ...drawn, assume }, chance), ['visit_deny_whitelist'], chance)
  }),
)

/** Adds entries to each of these lists by itself. */
function keepAll(pair: Pair, names: string[], chance: Chance): string | null {
  const before = tracePair(pair).replies
  for (const name of names) {
    const added = addEntries(pair, name, chance.fork(name))
    const fault = added && keeps(before, name, ...added)
    if (fault !== null) return fault
  }
  return null
}

/** Finds a check that a list concerns, or the decision, that more entries of it have changed. */
function keeps(before: Trace['replies'], name: string, more: Pair, kept: Kept): string | null {
  const after = tracePair(more).replies
  const own = name === 'visit_deny_whitelist' ? [...checkKeys] : [name]
  const values: unknown[] = [kept, kept === 'deny' ? 'denied' : 'allowed']
  const lost = [...own.map((item) => `checks.${item}`), 'access.decision'].find((place) => {
    const value = readValue(before, place)
    return values.includes(value) && value !== readValue(after, place)
  })
  return lost === undefined ? null : `${lost} with ${name} ${write(more.items[name])}`
}

/** Counts how often the steps of an expression are looked at while a text is matched. */
function countWork(pattern: string, text: string): number {
  const expression = parseCore(pattern)
  if (expression === null) throw new RangeError(`${pattern} is outside of the core`)
  const { node, groups } = expression
  let count = 0
  const get = <Step extends object>(step: Step, name: string) => {
    count++
    return Reflect.get(step, name) as unknown
  }
  for (const [slots, whole] of [
    [2 * groups + 2, false],
    [0, true],
  ] as const) {
    const program = compileProgram(node, slots, false)
    const steps = program.steps.map((step) => new Proxy(step, { get: get<typeof step> }))
    findMatch({ ...program, steps }, text, whole)
  }
  return count
}

describe('the work for an expression', () => {
  const patterns = [
    '(a*)*b',
    '(a|a)*b',
    '(a|aa)+$',
    'a*a*a*a*b',
    '(.*)(.*)x',
    '(a{0,9}){0,9}b',
    '.*a.{9}b',
  ]

  it.each(patterns)('%s grows with the text', (pattern) => {
    const [once, twice] = [200, 400].map((length) => countWork(pattern, 'a'.repeat(length)))
    expect(once).toBeGreaterThan(200)
    expect(twice).toBeLessThan(2.1 * (once ?? 0))
  })

  it.each(patterns)('%s grows with the pattern', (pattern) => {
    const inner = pattern.replace('$', '')
    const [once, twice] = [4, 8].map((times) => countWork(inner.repeat(times), 'a'.repeat(200)))
    expect(twice).toBeLessThan(2.2 * (once ?? 0))
  })

  it.each(['(?=(a|aa)+!)', '(a|aa)+\\1!', '(a|aa)+(?<=!)'])('%s is decided', (pattern) => {
    const found = [4, 8, 64, 128].map((length) => denyUrl(pattern, 'a'.repeat(length)))
    expect(found).toEqual(Array.from({ length: 4 }, () => ({ value: 'pass' })))
  })

  it.each(['(?=(a*)(a*)(a*)(a*)\\1\\2\\3\\4!)', '(a*)(a*)(a*)(a*)\\1\\2\\3\\4!'])(
    'for %s has an end',
    (pattern) => {
      const found = [2, 4, 64, 128].map((length) => denyUrl(pattern, 'a'.repeat(length)))
      const undecidable = { unknown: ['undecidable deny_url/urls/0'] }
      expect(found).toEqual([{ value: 'pass' }, { value: 'pass' }, undecidable, undecidable])
    },
  )

  it('is none for a pattern that RegExp refuses', () => {
    expect(denyUrl('(?=a', 'a')).toEqual({ unknown: ['undecidable deny_url/urls/0'] })
    expect(denyUrl('(?=a)', 'a')).toEqual({ value: 'deny' })
  })
})

/** The result of a check whose expression is matched as ECMAScript does. */
function denyUrl(pattern: string, path: string): unknown {
  const items = { deny_url: [{ urls: [pattern] }], extend: [null], visit_deny_whitelist: [null] }
  const request = { url: `https://www.example.com/${path}` }
  const pair = { domain: 'www.example.com', items, request, visitor: 'usual', assume: {} } as const
  return tracePair(pair).replies.get('checks.deny_url')
}
