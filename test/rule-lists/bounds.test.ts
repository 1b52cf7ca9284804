import { expect, it, vi } from 'vitest'
import { Automaton } from '../../src/core/effects/patterns/automaton.ts'
import { Desk, maxStates } from '../../src/core/rule-lists/desk.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'
import {
  createBudget,
  findRuleListFindings,
  type KnownResults,
  type RunBudget,
} from '../../src/core/rule-lists/find-findings.ts'
import { TextIndex } from '../../src/core/rule-lists/text-index.ts'
import { parseCore } from '../../src/core/trace/regex/syntax.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { brief, find } from './find.ts'
import { listKinds } from './kinds.ts'

const counts = vi.hoisted(() => ({ work: 0 }))

vi.mock(import('../../src/core/rule-lists/rests.ts'), async (load) => {
  const { findRests, ...others } = await load()
  return {
    ...others,
    findRests: (...args) => {
      counts.work++
      return findRests(...args)
    },
  }
})
vi.mock(import('../../src/core/trace/match/address.ts'), async (load) => {
  const { matchAddress } = await load()
  return {
    matchAddress: (...args) => {
      counts.work++
      return matchAddress(...args)
    },
  }
})
vi.mock(import('../../src/core/trace/match/host.ts'), async (load) => {
  const { matchHost, ...others } = await load()
  return {
    ...others,
    matchHost: (...args) => {
      counts.work++
      return matchHost(...args)
    },
  }
})

// A spy would keep millions of arguments.
const { step } = Automaton.prototype
Automaton.prototype.step = function (...args) {
  counts.work++
  return step.apply(this, args)
}
const { answer } = Desk.prototype
Desk.prototype.answer = function (...args) {
  counts.work++
  return answer.apply(this, args)
}

/** Counts the comparisons, and the steps of automata, that a list takes. */
function measure(kind: string, length: number): number {
  counts.work = 0
  find(listKinds[kind]?.(length) ?? {})
  return counts.work
}

function check(kind: string): void {
  const [few, many] = [measure(kind, 100), measure(kind, 800)]
  expect(many).toBeLessThanOrEqual(12 * Math.max(few, 100))
}

const kinds = Object.keys(listKinds)
const hasExpressions = (kind: string) => /^deny_url|expressions|URLs|^cache|both|head/.test(kind)

it.each(kinds.filter((kind) => !hasExpressions(kind)))(
  '%s: 8 times the entries take at most 12 times the work',
  check,
)

for (const kind of kinds.filter(hasExpressions))
  itLong(`${kind}: 8 times the expressions take at most 12 times the work`, () => check(kind))

const urls = fc.constantFrom(
  '/a',
  '/a$',
  '\\.a$',
  '^http://www.example.com/a',
  '/(a|b)+$',
  '(?:/A)b',
  'a{2}b',
  '.*',
  'http://www.example.com/ab',
  '[/]ab',
  'a*ab',
  '^http:',
  '/ab?',
  '/a.b',
  'A/B',
  'x\\by',
)
const texts = fc.constantFrom('a', 'ab', 'AB', '^ab', 'ab$', '^ab$', '^', '$', 'b', '^a$b', 'a.*')
const addresses = fc.constantFrom('10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '10.1.2.3', '::1')
const hosts = fc.constantFrom('a.b.io', '*.b.io', 'b.io', '*.io', '*.A.b.io', 'ab.io')
const paths = fc.constantFrom('/a/', '/A/', '/a', 'a/', '/a/*/b', '/a/b.c', '/', '/a/../b', '/*')
const suffixes = fc.constantFrom('a', '.a', 'b.a', 'A', 'a/b', 'ba')
const many = <T>(of: fc.Arbitrary<T>, max = 6) =>
  fc.uniqueArray(of, { minLength: 1, maxLength: max })
const condition = (of: fc.Arbitrary<string>) =>
  fc.record({ is_match: fc.constantFrom('yes', 'no'), list: many(of, 3) })
const ban = fc.record(
  {
    ip: condition(addresses),
    referer: condition(texts),
    ua: condition(texts),
    url: condition(urls),
    method: fc.constant({ method_type: 'get' }),
  },
  { requiredKeys: [] },
)
const ranked = fc.oneof(
  fc.tuple(fc.constant('ext'), many(suffixes, 2)),
  fc.tuple(fc.constantFrom('dir', 'route'), many(paths, 2)),
  fc.tuple(fc.constant('regex'), many(urls, 1)),
)
const items = fc.record(
  {
    ip_black_list: many(addresses).map((list) => ({ list })),
    referer: many(hosts).map((list) => ({ list })),
    deny_url: many(urls).map((list) => ({ urls: list })),
    visit_deny_whitelist: many(
      fc.constantFrom('http://a/', 'http://A/', 'http://a/?q', 'http://a'),
    ).map((list) => list.map((url) => ({ url }))),
    user_agent: many(texts).map((list) => ({
      ua_list: list.join('\n'),
      ua_match_type: 'regex',
      ua_case_insensitive: 'yes',
    })),
    combined_ban: many(ban).map((list) => list.map((configs) => ({ configs }))),
    cache_rule_list: fc
      .array(fc.tuple(ranked, fc.constantFrom(null, 1, 2), fc.constantFrom(1, 2)), { maxLength: 6 })
      .map((list) =>
        list.map(([[match_method, all], priority, expire]) => ({
          match_method,
          pattern: all.join(','),
          expire,
          ...(priority === null ? {} : { priority }),
        })),
      ),
  },
  { requiredKeys: [] },
)

itOften('a look-up finds what a comparison of all pairs finds', () => {
  const { find: lookUp } = TextIndex.prototype
  fc.assert(
    fc.property(items, (given) => {
      const found = find(given)
      TextIndex.prototype.find = function () {
        return lookUp.call(this, [null])
      }
      try {
        expect(found).toEqual(find(given))
      } finally {
        TextIndex.prototype.find = lookUp
      }
    }),
    { numRuns: runs(30, 1000) },
  )
})

const lists = (domain: string, known?: KnownResults, budget?: RunBudget) =>
  findRuleListFindings(
    domain,
    new Map(Object.entries(listKinds['deny_url of expressions']?.(8) ?? {})),
    buildSettings(),
    known,
    budget,
  )

it('a list beyond its budget is compared in part, and a note says so', () => {
  const given = { deny_url: { urls: ['a', 'b', 'ba', 'b[ac]+', 'xb[ac]+'] } }
  const findAll = (states: number) =>
    brief({
      findings: findRuleListFindings(
        'www.example.com',
        new Map(Object.entries(given)),
        buildSettings(),
        new Map(),
        createBudget(states),
      ),
    })
  const [all, some] = [findAll(60_000), findAll(100)]
  expect(all.join()).not.toContain('rules-not-compared')
  expect(some.at(-1)).toBe('rules-not-compared deny_url -')
  expect(all).toEqual(expect.arrayContaining(some.slice(0, -1)))
})

it('two long bans are compared entry by entry only within the budget', () => {
  const long = Array.from({ length: 800 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
  const both = [long, long.toReversed()]
  counts.work = 0
  const found = find({ combined_ban: both.map((list) => ({ configs: { ip: { list } } })) })
  expect(brief(found)).toContain('rules-not-compared combined_ban -')
  expect(counts.work).toBeLessThanOrEqual(maxStates)
})

it('a run beyond its budget begins no list, also of which the result is known', () => {
  const known: KnownResults = new Map()
  const budget = { ...createBudget(), states: 1 }
  const [first, second] = ['a.example.com', 'b.example.com'].map((domain) =>
    lists(domain, known, budget),
  )
  expect(first?.map(({ code }) => code)).not.toContain('rules-not-compared')
  expect(second?.map(({ code }) => code)).toEqual(['rules-not-compared'])
  expect(lists('b.example.com', known).map(({ code }) => code)).not.toContain('rules-not-compared')
})

it('a known result counts as much as one that is found now', () => {
  const known: KnownResults = new Map()
  const left = ['a.example.com', 'a.example.com', 'b.example.com'].map((domain) => {
    const budget = createBudget()
    lists(domain, known, budget)
    return budget.states
  })
  expect(left[0]).toBeLessThan(createBudget().states)
  expect(left[1]).toBe(left[0])
})

it('a turn compares no more lists than its part, and the next ones the others', () => {
  const known: KnownResults = new Map()
  const names = ['a', 'b', 'c', 'd']
  const take = (turn?: number) => {
    const budget = createBudget(undefined, turn)
    const found = names.map((name, i) => {
      const list = [`/${name}`, ...Array<string>(i + 1).fill(`/${name}x`)]
      const values = new Map([['deny_url', { urls: list }]])
      const settings = buildSettings()
      return findRuleListFindings(name, values, settings, known, budget).length
    })
    return { found, isWhole: budget.turn > 0 }
  }
  const turns = [take(1), take(1), take(1), take(1), take(1)]
  expect(turns.map(({ found }) => found.filter((count) => count > 0).length)).toEqual([
    1, 2, 3, 4, 4,
  ])
  expect(turns.map(({ isWhole }) => isWhole)).toEqual([false, false, false, false, true])
  expect(turns.at(-1)).toEqual(take())
})

it('an expression whose nested repetitions would double its program is not decided', () => {
  const nest = (depth: number) => `${'('.repeat(depth)}a${'+)'.repeat(depth)}b`
  expect(parseCore(nest(5))).not.toBeNull()
  expect(parseCore(nest(16))).toBeNull()
})
