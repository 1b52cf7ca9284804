import { describe, expect, it } from 'vitest'
import type { Write } from '../../src/core/model/change.ts'
import type { Grouping } from '../../src/core/model/config.ts'
import type { Json } from '../../src/core/model/json.ts'
import { groupBy } from '../../src/core/model/lists.ts'
import { canonicalizeJson } from '../../src/core/model/text/canonical-json.ts'
import { type WriteProblem, groupWrites } from '../../src/core/plan/group-writes.ts'
import { findGroup, listBundles } from '../../src/core/plan/groups.ts'
import {
  append,
  domain,
  findFaults,
  findOptimum,
  need,
  problems,
  replace,
  solver,
} from './problems.ts'
import { fc, itLong, runs } from '../runs.ts'

const all: Grouping = { groups: 'all', together: [] }
const buildProblem = (
  needs: WriteProblem['needs'],
  grouping = all,
  domainsPerWrite = 10,
): WriteProblem => ({
  needs,
  grouping,
  domainsPerWrite,
  effort: 'normal',
  solver,
})
const solve = (needs: WriteProblem['needs'], grouping = all, domainsPerWrite = 10): Write[] =>
  groupWrites(buildProblem(needs, grouping, domainsPerWrite)).writes
const describeWrites = (needs: WriteProblem['needs'], grouping = all) =>
  solve(needs, grouping).map(
    (write) =>
      `${write.domains.map((name) => Number(name.slice(1, 6))).join('+')}: ` +
      Object.keys(write.items).join(' '),
  )

const text = (value: unknown): string => canonicalizeJson(value as Json)

/** Counts the writes of domains with equal changes together, and of one item at a time. */
function countObviousWrites({ needs, grouping, domainsPerWrite }: WriteProblem) {
  const bundles = [...groupBy(needs, (each) => each.domain)].flatMap(([name, own]) =>
    listBundles(name, own, grouping).map((bundle) => ({
      name,
      group: bundle.group,
      key: text(bundle.needs.map(({ item, whole }) => [item, whole])),
    })),
  )
  const patches = [...groupBy(bundles, ({ name, group }) => `${name} ${group}`).values()]
  const count = (keys: string[]) =>
    [...groupBy(keys, (key) => key).values()].reduce(
      (sum, same) => sum + Math.ceil(same.length / domainsPerWrite),
      0,
    )
  return {
    itemByItem: count(bundles.map(({ key }) => key)),
    equalPatches: count(patches.map((own) => text(own.map(({ group, key }) => [group, key])))),
  }
}

describe('groupWrites for any needs', () => {
  itLong('meets every need and nothing else, in writes that the grouping allows', () =>
    fc.assert(
      fc.property(problems(12, 2, true), (problem) => {
        const { needs, grouping, domainsPerWrite } = problem
        const { writes } = groupWrites({ ...problem, solver })
        expect(findFaults(problem, writes)).toEqual([])
        for (const write of writes) {
          expect(write.domains.length).toBeGreaterThan(0)
          expect(write.domains.length).toBeLessThanOrEqual(domainsPerWrite)
          expect(new Set(write.domains).size).toBe(write.domains.length)
          const items = Object.keys(write.items)
          // No item has no group.
          const groups = new Set(items.map((item) => findGroup(item, grouping.groups)))
          const bound = grouping.together.some((set) => items.every((item) => set.includes(item)))
          expect(groups.size === 1 || (bound && groups.size > 0), items.join(' ')).toBe(true)
        }
        for (const [name, own] of groupBy(needs, (each) => each.domain))
          for (const set of grouping.together) {
            const changed = own.filter((each) => set.includes(each.item)).map((each) => each.item)
            for (const { items } of writes.filter(({ domains }) => domains.includes(name))) {
              const left = changed.filter((item) => !(item in items))
              // All of them are in one write.
              expect([0, changed.length], `${changed.join(' ')} of ${name}`).toContain(left.length)
            }
          }
      }),
      { numRuns: runs(30, 600) },
    ),
  )

  itLong('takes at most as many writes as the best obvious grouping, and at least the bound', () =>
    fc.assert(
      fc.property(
        problems(30, 3, true),
        fc.constantFrom('quick' as const, 'normal' as const),
        fc.boolean(),
        (problem, effort, proving) => {
          const { writes, lowerBound } = groupWrites({
            ...problem,
            effort,
            solver: proving ? solver : null,
          })
          const { equalPatches, itemByItem } = countObviousWrites(problem)
          expect(writes.length).toBeLessThanOrEqual(Math.min(equalPatches, itemByItem))
          expect(lowerBound).toBeLessThanOrEqual(writes.length)
        },
      ),
      { numRuns: runs(15, 300) },
    ),
  )

  itLong('gives the same bytes for any order of the needs', () =>
    fc.assert(
      fc.property(
        problems(12, 2, true).chain((problem) =>
          fc.tuple(
            fc.constant(problem),
            fc.shuffledSubarray(problem.needs, { minLength: problem.needs.length }),
          ),
        ),
        ([problem, shuffled]) => {
          expect(JSON.stringify(groupWrites({ ...problem, needs: shuffled, solver }))).toBe(
            JSON.stringify(groupWrites({ ...problem, solver })),
          )
        },
      ),
      { numRuns: runs(8, 150) },
    ),
  )
})

describe('groupWrites compared with the optimum', () => {
  const small = problems(5, 2, true).filter(
    ({ needs }) => needs.reduce((sum, each) => sum + Math.max(1, each.parts.length), 0) <= 10,
  )

  itLong('is optimal in 99 of 100 cases, and the bound is at most the optimum', () => {
    let [tried, best, tight] = [0, 0, 0]
    fc.assert(
      fc.property(small, fc.boolean(), (problem, proving) => {
        const alone = {
          ...problem,
          grouping: { ...problem.grouping, together: [] },
          solver: proving ? solver : null,
        }
        const fewest = findOptimum(alone)
        const { writes, lowerBound } = groupWrites(alone)
        expect(lowerBound).toBeLessThanOrEqual(fewest)
        expect(writes.length).toBeGreaterThanOrEqual(fewest)
        tried++
        if (writes.length === fewest) best++
        if (lowerBound === fewest) tight++
      }),
      { numRuns: runs(40, 4_000) },
    )
    expect(best / tried).toBeGreaterThanOrEqual(0.99)
    // A bound of 0 would hold as well.
    expect(tight / tried).toBeGreaterThan(0.9)
  })
})

describe('deltas', () => {
  itLong('take 50 writes for one address on 500 domains with different lists', () => {
    const needs = Array.from({ length: 500 }, (_, i) =>
      need(i, 'ip_black_list', replace(i), append('203.0.113.9')),
    )
    const { writes, lowerBound } = groupWrites(buildProblem(needs))
    expect([writes.length, lowerBound]).toEqual([50, 50])
    expect(new Set(writes.map((write) => text(write.items)))).toEqual(
      new Set([
        text({
          ip_black_list: { name: 'append', payload: { list: ['203.0.113.9'], mode: 'append' } },
        }),
      ]),
    )
  })

  it('combine entries that some domains share and others lack', () => {
    const needs = Array.from({ length: 10 }, (_, i) =>
      need(i, 'ip_black_list', replace(i), append('192.0.2.1', '192.0.2.2')),
    )
    expect(solve(needs).map((write) => text(write.items))).toEqual([
      text({
        ip_black_list: {
          name: 'append',
          payload: { list: ['192.0.2.1', '192.0.2.2'], mode: 'append' },
        },
      }),
    ])
  })

  it('give way to a whole value if they save nothing', () => {
    const needs = Array.from({ length: 10 }, (_, i) =>
      need(i, 'ip_black_list', replace(1), append('192.0.2.1')),
    )
    expect(solve(needs).map((write) => write.items['ip_black_list']?.name)).toEqual(['replace'])
  })

  itLong('handle many entries without comparing all pairs', () => {
    const tens = runs(2, 15)
    const entries = Array.from(
      { length: 2_000 },
      (_, i) => `10.${Math.floor(i / 250)}.${i % 250}.1`,
    )
    const needs = Array.from({ length: tens * 10 }, (_, i) =>
      need(i, 'ip_black_list', replace(i), append(...entries)),
    )
    const writes = solve(needs)
    expect(findFaults(buildProblem(needs), writes)).toEqual([])
    expect(writes).toHaveLength(tens)
  })
})

describe('the order of writes', () => {
  it('numbers from 1 and keeps writes of a domain adjacent', () => {
    const writes = solve(
      [0, 1, 2].flatMap((i) => [need(i, 'https', replace(i)), need(i, 'timeout', replace(i))]),
      { groups: 'documented', together: [] },
    )
    expect(writes.map((write) => write.id)).toEqual([1, 2, 3, 4, 5, 6])
    expect(writes.map((write) => write.domains[0])).toEqual([0, 0, 1, 1, 2, 2].map(domain))
  })

  it('starts with the writes of domains that go first, regardless of names', () => {
    const needs = Array.from({ length: 40 }, (_, i) => need(i, 'https', replace(i % 4)))
    const isFirst = (name: string) => name === domain(39) || name === domain(17)
    const { writes } = groupWrites({ ...buildProblem(needs), isFirst })
    const places = writes.flatMap((write, i) => (write.domains.some(isFirst) ? [i] : []))
    expect(places).toEqual(places.map((_, i) => i))
    expect(groupWrites(buildProblem(needs)).writes.length).toBe(writes.length)
  })
})

describe('groups', () => {
  const both = [
    need(0, 'https', replace(1)),
    need(0, 'origin', replace(1)),
    need(0, 'timeout', replace(1)),
    need(0, 'rate_limit', replace(1)),
  ]

  it('documented: combines the documented items, and no other', () =>
    expect(describeWrites(both, { groups: 'documented', together: [] })).toEqual([
      '0: https origin',
      '0: rate_limit',
      '0: timeout',
    ]))
  it('all: combines everything', () =>
    expect(describeWrites(both)).toEqual(['0: https origin rate_limit timeout']))
  it('lists: combine their items; other items are alone', () =>
    expect(describeWrites(both, { groups: [['https', 'timeout']], together: [] })).toEqual([
      '0: https timeout',
      '0: origin',
      '0: rate_limit',
    ]))
  it('no list: every item is alone', () =>
    expect(describeWrites(both, { groups: [], together: [] })).toHaveLength(4))

  it('`together` combines items of several groups if several of them change', () => {
    const grouping: Grouping = { groups: 'documented', together: [['https', 'timeout']] }
    expect(describeWrites(both, grouping).toSorted()).toEqual([
      '0: https timeout',
      '0: origin',
      '0: rate_limit',
    ])
    expect(
      describeWrites([need(0, 'https', replace(1)), need(0, 'origin', replace(1))], grouping),
    ).toEqual(['0: https origin'])
  })

  it('overlapping `together` sets are one set if their common item changes', () => {
    const grouping: Grouping = {
      groups: 'documented',
      together: [
        ['https', 'timeout'],
        ['timeout', 'rate_limit'],
      ],
    }
    const three = [
      need(0, 'https', replace(1)),
      need(0, 'timeout', replace(1)),
      need(0, 'rate_limit', replace(1)),
    ]
    expect(describeWrites(three, grouping)).toEqual(['0: https rate_limit timeout'])
  })
})

describe('examples', () => {
  it('take three writes for one change on 25 domains', () =>
    expect(solve(Array.from({ length: 25 }, (_, i) => need(i, 'https', replace(1))))).toHaveLength(
      3,
    ))
  it('make no writes without needs', () => expect(solve([])).toEqual([]))
  it('treat payloads with another order of keys as equal', () => {
    const form = (payload: Json) => ({ name: 'replace' as const, payload })
    expect(
      solve([need(0, 'https', form({ a: 1, b: 2 })), need(1, 'https', form({ b: 2, a: 1 }))]),
    ).toHaveLength(1)
  })
  it('treat the same payload in another form as different', () =>
    expect(
      solve([
        need(0, 'https', { name: 'replace', payload: {} }),
        need(1, 'https', { name: 'unset', payload: {} }),
      ]),
    ).toHaveLength(2))
})
