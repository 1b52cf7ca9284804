// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import type { ItemKey } from '../../src/core/model/item.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { exploreUrls, findUrl } from '../../src/core/effects/patterns/find-url.ts'
import { keepEntry } from '../../src/core/effects/patterns/pattern.ts'
import { readRules, type RankedRule } from '../../src/core/effects/patterns/ranked-rules.ts'
import type { Rule } from '../../src/core/trace/rule.ts'
import { compile, trace } from '../../src/core/trace/trace.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { parseUrl } from '../../src/core/trace/url.ts'
import { fc, itOften, runs } from '../runs.ts'
import { flips, listUrls, matches, usual, type Answers } from './brute.ts'
import { domain, find, rule } from './find.ts'

const suffixes = fc.constantFrom('a', 'b', '.a', 'A', 'a.b', 'ab')
const paths = fc.constantFrom(
  '/',
  '/a',
  '/a/',
  '/a/b',
  '/A/',
  'a/',
  '/*',
  '/a*',
  '/*/a',
  '/b.a',
  '/a/a.b',
)
const expressions = fc.constantFrom(
  '.*',
  '/a',
  '/a$',
  '\\.a$',
  '^https://www\\.example\\.com/a',
  '/(a|b)+$',
  '/[ab]{2}',
  '^http:',
  'https?://[^/]*/.*\\.b',
  '/a|/b',
  ':81/',
  '\\?',
  '[A-Z]',
  '^http://other/',
  '/a.*b',
  '^.*$',
  'b$|^.*a',
)
const list = (texts: fc.Arbitrary<string>) =>
  fc.array(texts, { minLength: 1, maxLength: 2 }).map((found) => found.join(','))
const rules: fc.Arbitrary<JsonObject> = fc
  .oneof(
    fc.tuple(fc.constant(1), list(suffixes)),
    fc.tuple(fc.constantFrom(2, 3), list(paths)),
    fc.tuple(fc.constant(4), expressions),
  )
  .chain(([type, pattern]) => fc.constantFrom(1, 2).map((time) => ({ type, pattern, time })))
const lists = fc.array(rules, { minLength: 1, maxLength: 5 })
const urls = listUrls()

/** The usual answers, and those with another one of a reading on which a finding does not rest. */
function listHolding(rests: Answers): Answers[] {
  return [usual, ...flips.flatMap(([name, answers]) => (name in rests ? [] : [answers]))]
}

const memo = new Map<string, boolean[]>()

/** The URLs that a rule matches under some answers. */
function listMatches(each: JsonObject, world: Answers): boolean[] {
  const name = JSON.stringify([each['type'], each['pattern'], world])
  const found = memo.get(name) ?? urls.map((url) => matches(each, url, world))
  memo.set(name, found)
  return found
}

function getIndex(pointer: string): number {
  return Number(/^\/(\d+)/.exec(pointer)?.[1])
}

itOften('agrees with brute force on a small alphabet', () => {
  fc.assert(
    fc.property(lists, (cacheRules) => {
      const { findings } = find({ cache_rule: cacheRules })
      const get = (pointer: string): JsonObject => cacheRules[getIndex(pointer)] ?? {}
      for (const { code, rule: place, other, rests, witness } of findings) {
        if (!/^\/\d+$/.test(place.pointer)) continue
        for (const world of listHolding(rests)) {
          const own = listMatches(get(place.pointer), world)
          const others = other.map(({ pointer }) => listMatches(get(pointer), world))
          const isHidden = own.every((is, i) => !is || others.some((each) => each[i] === true))
          if (/shadowed|unreachable|duplicate|contradictory/.test(code)) expect(isHidden).toBe(true)
          if (/duplicate|contradictory/.test(code)) expect(own).toEqual(others[0])
          if (code === 'rule-never-matches') expect(own).not.toContain(true)
          const url = witness?.['url']
          if (typeof url === 'string' && world === usual)
            for (const each of [place, ...other])
              expect(matches(get(each.pointer), url, world)).toBe(true)
        }
      }
    }),
    { numRuns: runs(12, 3000) },
  )
})

/** The rules that have a URL under some answers, for each URL that they tell apart. */
function listMembers(cacheRules: JsonObject[], answers: Answers): boolean[][] {
  const settings = buildSettings({ ...answers, R2: 'as-sent' })
  const read = readRules('cache_rule', new Map([['cache_rule', cacheRules]]))
  const owned = read.map(({ entries }) => entries.flatMap((entry) => entry.languages(settings)))
  const languages = [...new Set(owned.flat())]
  const { urls: told, isComplete } = exploreUrls(domain, 'as-sent', languages)
  expect(isComplete).toBe(true)
  return told.map(({ members }) => owned.map((own) => own.some((each) => members.has(each))))
}

/** Tests whether some rules have all URLs of another one. */
const hides = (told: boolean[][], own: number, others: number[]) =>
  told.every((has) => has[own] !== true || others.some((other) => has[other] === true))

itOften('finds every rule that one or two earlier ones hide, and on what that rests', () => {
  const count = { unions: 0, notes: 0 }
  fc.assert(
    fc.property(lists, (cacheRules) => {
      const { findings } = find({ cache_rule: cacheRules }, { R2: 'as-sent' })
      const hidden = findings.filter(({ code }) =>
        /shadowed|unreachable|duplicate|contradictory/.test(code),
      )
      const settled = listMembers(cacheRules, usual)
      const flipped = flips.map(([name, answers]) => ({
        name,
        told: listMembers(cacheRules, answers),
      }))
      for (const { code, rule: place, other, rests } of hidden) {
        const [own, others] = [getIndex(place.pointer), other.map((each) => getIndex(each.pointer))]
        const isFound = (told: boolean[][]) =>
          hides(told, own, others) &&
          (code !== 'rule-contradictory' || hides(told, others[0] ?? 0, [own]))
        expect(isFound(settled)).toBe(true)
        const ending = flipped.flatMap(({ name, told }) => (isFound(told) ? [] : [name]))
        expect(Object.keys(rests)).toEqual(ending)
        count.unions += code === 'rule-unreachable' ? 1 : 0
        count.notes += ending.length > 0 ? 1 : 0
      }
      const warned = findings.filter(({ severity }) => severity === 'warning')
      const places = (of: typeof findings) => of.map(({ rule: { pointer } }) => pointer)
      for (const [i] of cacheRules.entries())
        for (let b = 0; b < i; b++)
          for (let a = 0; a <= b; a++) {
            if (!hides(settled, i, [a, b])) continue
            expect(places(findings)).toContain(`/${i}`)
            if (flipped.every(({ told }) => hides(told, i, [a, b])))
              expect(places(warned)).toContain(`/${i}`)
          }
    }),
    { numRuns: runs(40, 3000) },
  )
  if (runs(40, 3000) > 40) for (const each of Object.values(count)) expect(each).toBeGreaterThan(0)
})

/** The usual answers of the readings that order cache rules, and each other answer. */
const ranking: Answers = { R14: 'first', R38: 'list-first', R39: 'after' }
const rankings: [string, Answers][] = [
  ['R14', 'last'],
  ['R38', 'rule-first'],
  ['R38', 'list-only'],
  ['R38', 'rule-only'],
  ['R39', 'before'],
].map(([name = '', answer = '']) => [name, { ...ranking, [name]: answer }])

/** Tests whether a cache rule ranks before another one; each names its item, place and priority. */
function ranksBefore(a: RankedRule, b: RankedRule, answers: Answers): boolean {
  const [isRule, other] = [a, b].map(({ rule: { item } }) => item === 'cache_rule')
  const [at, by] = [a, b].map(({ rule: { pointer } }) => getIndex(pointer))
  if (isRule !== other) return answers['R38'] === (isRule ? 'rule-first' : 'list-first')
  const isLast = answers['R14'] === 'last' && !isRule
  if (isRule || a.priority === b.priority)
    return isLast ? Number(at) > Number(by) : Number(at) < Number(by)
  if (a.priority !== null && b.priority !== null) return a.priority < b.priority
  return (answers['R39'] === 'after') === (b.priority === null)
}

itOften('orders rules by priority and by both lists, and says on what that rests', () => {
  const one = fc.tuple(fc.constantFrom('jpg', 'png', 'jpg,png', 'css'), fc.constantFrom(1, 2))
  const some = fc.array(one, { maxLength: 3 })
  const priorities = fc.shuffledSubarray([1, 2, null, null], { minLength: 4 })
  const codes = new Set<string>()
  fc.assert(
    fc.property(some, some, priorities, (first, second, order) => {
      const ranked = second.map(([pattern, expire], i) => {
        const priority = order[i] ?? null
        return rule('ext', pattern, expire, priority === null ? {} : { priority })
      })
      const items = new Map<ItemKey, Json[]>([
        ['cache_rule', first.map(([pattern, time]) => ({ type: 1, pattern, time }))],
        ['cache_rule_list', ranked],
      ])
      const all = [...items.keys()].flatMap((item) => readRules(item, items))
      const get = ({ item, pointer }: Rule) =>
        all.find(({ rule: own }) => own.item === item && own.pointer === pointer)
      const texts = (each: RankedRule) => String(each.rule.pattern).split(',')
      const { findings } = find(Object.fromEntries(items), { R2: 'as-sent', R6: 'sensitive' })
      for (const { code, rule: place, other, rests } of findings) {
        const [own, ...others] = [place, ...other].map(get)
        if (own === undefined || own.rule.pattern === null || others.includes(undefined)) continue
        codes.add(code)
        const known = others.filter((each) => each !== undefined)
        const isHidden = (answers: Answers) => {
          const before = known.filter((each) => ranksBefore(each, own, answers)).flatMap(texts)
          return texts(own).every((text) => before.includes(text))
        }
        const ending = rankings.flatMap(([name, each]) => (isHidden(each) ? [] : [name]))
        if (/shadowed|unreachable|contradictory/.test(code)) {
          expect(isHidden(ranking)).toBe(true)
          expect(Object.keys(rests)).toEqual([...new Set(ending)])
        } else if (code === 'rule-order-unspecified') {
          expect(known.flatMap(texts).some((text) => texts(own).includes(text))).toBe(true)
          const turns = rankings.map(([, each]) => known.some((by) => ranksBefore(by, own, each)))
          expect([turns.includes(false), rests]).toEqual([true, {}])
        }
      }
    }),
    { numRuns: runs(100, 3000) },
  )
  expect([...codes].toSorted()).toEqual([
    'rule-contradictory',
    'rule-duplicate',
    'rule-order-unspecified',
    'rule-shadowed',
    'rule-unreachable',
  ])
})

itOften('gives requests that the trace does not answer with the hidden rule', () => {
  fc.assert(
    fc.property(lists, fc.boolean(), (cacheRules, isList) => {
      const kinds = ['', 'ext', 'dir', 'route', 'regex']
      const items: Record<string, Json> = isList
        ? {
            cache_rule_list: cacheRules.map(({ type, pattern, time }, i) =>
              rule(kinds[Number(type)] ?? '', String(pattern), Number(time), { priority: 50 - i }),
            ),
          }
        : { cache_rule: cacheRules }
      for (const { code, rule: place, other, witness, rests } of find(items).findings) {
        if (witness === null || !/duplicate|contradictory|shadowed/.test(code)) continue
        const candidates = new Map(Object.entries(items).map(([key, value]) => [key, [value]]))
        for (const answers of listHolding(rests)) {
          const compiled = compile(domain, candidates, buildSettings(answers))
          const { replies } = trace(compiled, witness, { visitor: 'usual', asks: false })
          const reply = replies.get('cache.rule')
          expect(reply).not.toEqual({ value: place })
          const isFirst = other[0]?.pointer === (isList ? `/${cacheRules.length - 1}` : '/0')
          if (isFirst && answers === usual) expect(reply).toEqual({ value: other[0] })
        }
      }
    }),
    { numRuns: runs(12, 1000) },
  )
})

itOften('gives the same findings for a domain after another one', () => {
  fc.assert(
    fc.property(lists, (cacheRules) => {
      const other = 'cdn.example.net'
      const alone = find({ cache_rule: cacheRules }, {}, other)
      const names = (text: unknown) => JSON.stringify(text)
      const known = new Map()
      const first = find({ cache_rule: cacheRules }, {}, domain, known)
      expect(names(first)).toContain('')
      expect(names(find({ cache_rule: cacheRules }, {}, other, known))).toBe(names(alone))
    }),
    { numRuns: runs(10, 500) },
  )
})

it('keeps apart domains that patterns tell apart only under another answer', () => {
  const items = { deny_url: { urls: ['^https?://[AB]\\.example/'] } }
  const known = new Map()
  for (const [of, rests] of [
    ['x.example', {}],
    ['y.example', {}],
    ['a.example', { R6: 'sensitive' }],
  ] as const)
    expect(find(items, {}, of, known).findings).toMatchObject([
      { code: 'rule-never-matches', rests },
    ])
})

it('walks only through URLs that requests can have', () => {
  const settings = buildSettings()
  const search = (
    text: string,
    of = domain,
    space: 'plain' | 'as-sent' | 'normalised' | 'decoded' = 'plain',
  ) => {
    const entry = keepEntry({ kind: 'regex', text, folds: false, sees: 'W', extent: 'R4' })
    return findUrl(of, space, { must: [entry.languages(settings)], never: [] }, { states: 50_000 })
  }
  expect(search('^https://[^/]*:443/')).toBeNull()
  expect(search('^http://[^/]*:80/')).toBeNull()
  expect(search('^https://[^/]*:80/')).toBe('https://www.example.com:80/')
  expect(search(':65535/')).toMatch(/^https?:\/\/www\.example\.com:65535\/$/)
  for (const text of [
    '^https?://[^/]*:0',
    '^https?://[^/]*:65536/',
    '^https?://[^/]*:[0-9]{6}',
    '^[^?]*/\\.\\./',
    '^[^?]*\\?$',
    '/[^?]* ',
  ])
    expect(search(text)).toBeNull()
  expect(search('^[^?]*\\?$', domain, 'as-sent')).toBe('https://www.example.com/?')
  expect(search('^[^?]*/\\.\\./', domain, 'as-sent')).toMatch(/\/\.\.\//)
  expect(search('^[^?]*/\\.\\./', domain, 'normalised')).toBeNull()
  expect(search('/[^?]* ', domain, 'decoded')).toMatch(/ $/)
  expect(search('^[^?]*[?]$', domain, 'decoded')).toBe('https://www.example.com/?')
  expect(search('^[^?]*[?]$', domain, 'normalised')).toBeNull()
  expect(search('//x[a-z]\\.example\\.com/', '.example.com')).toMatch(
    /^https?:\/\/x[a-z]\.example\.com\/$/,
  )
  expect(search('^https?://[.]', '.example.com')).toBeNull()
  for (const text of [':8', '[0-9]{3}', '\\?a', 'x'])
    expect(() => parseUrl(String(search(text)), domain)).not.toThrow()
  // More than 10,000 states are not decided.
  expect(search('/(a|b)*a(a|b){16}$')).toBeUndefined()
  expect(search('/(a|b)*a(a|b){8}$')).toBeTypeOf('string')
})
