import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/model/canonical-json.ts'
import { groupBy } from '../../src/model/group-by.ts'
import type { Json } from '../../src/model/json.ts'
import { bundlesOf, groupOf, type Grouping } from '../../src/plan/groups.ts'
import { groupWrites, type WriteProblem } from '../../src/plan/group-writes.ts'
import { domain, need, problems, replace } from './problems.ts'

const all: Grouping = { groups: 'all', together: [] }
const solve = (needs: WriteProblem['needs'], grouping = all, domainsPerWrite = 10) =>
  groupWrites({ needs, grouping, domainsPerWrite }).writes
const shape = (needs: WriteProblem['needs'], grouping = all) =>
  solve(needs, grouping).map(
    (write) => `${write.domains.map((name) => Number(name.slice(1, 6))).join('+')}: ${Object.keys(write.items).join(' ')}`,
  )

describe('whatever is needed', () => {
  it('every need is met once, by its first form, and nothing else is written', () =>
    fc.assert(
      fc.property(problems(12, 2, 2), (problem) => {
        const { writes } = groupWrites(problem)
        const met = writes.flatMap((write) =>
          write.domains.flatMap((name) =>
            Object.entries(write.items).map(([item, form]) => `${name} ${item} ${canonicalJson(form as unknown as Json)}`),
          ),
        )
        const wanted = problem.needs.map(({ domain: name, item, forms }) => `${name} ${item} ${canonicalJson(forms[0] as unknown as Json)}`)
        expect(met.toSorted()).toEqual(wanted.toSorted())
      }),
    ))

  it('no write has more domains than it may, none twice, none without an item', () =>
    fc.assert(
      fc.property(problems(12, 2, 1), (problem) => {
        for (const write of groupWrites(problem).writes) {
          expect(write.domains.length).toBeGreaterThan(0)
          expect(write.domains.length).toBeLessThanOrEqual(problem.domainsPerWrite)
          expect(new Set(write.domains).size).toBe(write.domains.length)
          expect(Object.keys(write.items)).not.toEqual([])
        }
      }),
    ))

  it('what must not be seen apart travels in one write, and only what shares a group or is bound meets', () =>
    fc.assert(
      fc.property(problems(8, 2, 1), ({ needs, grouping, domainsPerWrite }) => {
        const { writes } = groupWrites({ needs, grouping, domainsPerWrite })
        for (const write of writes) {
          const items = Object.keys(write.items)
          const groups = new Set(items.map((item) => groupOf(item, grouping.groups)))
          const bound = grouping.together.some((set) => items.every((item) => set.includes(item)))
          expect(groups.size === 1 || bound, items.join(' ')).toBe(true)
        }
        for (const [name, own] of groupBy(needs, (each) => each.domain)) {
          for (const set of grouping.together) {
            const changed = own.filter((each) => set.includes(each.item)).map((each) => each.item)
            const carriers = writes.filter((write) => write.domains.includes(name) && changed.some((item) => item in write.items))
            expect(carriers.length, `${changed.join(' ')} of ${name}`).toBeLessThanOrEqual(1)
          }
        }
      }),
    ))

  it('domains with an equal patch share writes, as many as fit', () =>
    fc.assert(
      fc.property(problems(12, 2, 1), ({ needs, grouping, domainsPerWrite }) => {
        const patches = [...groupBy(needs, (each) => each.domain).values()].flatMap((own) =>
          bundlesOf(
            own.map((each) => each.item),
            grouping,
          ).map((bundle) => JSON.stringify(bundle.map((item) => [item, own.find((each) => each.item === item)?.forms[0]]))),
        )
        const expected = [...groupBy(patches, (patch) => patch).values()].reduce(
          (sum, same) => sum + Math.ceil(same.length / domainsPerWrite),
          0,
        )
        expect(groupWrites({ needs, grouping, domainsPerWrite }).writes.length).toBe(expected)
      }),
    ))

  it('the same needs in another order give the same bytes', () =>
    fc.assert(
      fc.property(
        problems(8, 2, 2).chain((problem) =>
          fc.tuple(fc.constant(problem), fc.shuffledSubarray(problem.needs, { minLength: problem.needs.length })),
        ),
        ([problem, shuffled]) => {
          expect(JSON.stringify(groupWrites({ ...problem, needs: shuffled }))).toBe(JSON.stringify(groupWrites(problem)))
        },
      ),
    ))

  it('ids count from 1 and writes that share a domain follow each other as far as their own domains go', () => {
    const writes = solve(
      [0, 1, 2].flatMap((i) => [need(i, 'https', replace(i)), need(i, 'timeout', replace(i))]),
      { groups: 'documented', together: [] },
    )
    expect(writes.map((write) => write.id)).toEqual([1, 2, 3, 4, 5, 6])
    expect(writes.map((write) => write.domains[0])).toEqual([0, 0, 1, 1, 2, 2].map(domain))
  })
})

describe('groups', () => {
  const both = [
    need(0, 'https', replace(1)),
    need(0, 'origin', replace(1)),
    need(0, 'timeout', replace(1)),
    need(0, 'rate_limit', replace(1)),
  ]

  it('documented: the combined items travel together, every other alone', () =>
    expect(shape(both, { groups: 'documented', together: [] })).toEqual(['0: https origin', '0: rate_limit', '0: timeout']))
  it('all: everything travels together', () => expect(shape(both)).toEqual(['0: https origin rate_limit timeout']))
  it('lists: as they say, and what none names alone', () =>
    expect(shape(both, { groups: [['https', 'timeout']], together: [] })).toEqual(['0: https timeout', '0: origin', '0: rate_limit']))
  it('no list: every item alone', () => expect(shape(both, { groups: [], together: [] })).toHaveLength(4))

  it('together joins over groups, only where several of its items change', () => {
    const grouping: Grouping = { groups: 'documented', together: [['https', 'timeout']] }
    expect(shape(both, grouping).toSorted()).toEqual(['0: https timeout', '0: origin', '0: rate_limit'])
    expect(shape([need(0, 'https', replace(1)), need(0, 'origin', replace(1))], grouping)).toEqual(['0: https origin'])
  })

  it('sets that overlap are one set where their common item changes', () => {
    const grouping: Grouping = {
      groups: 'documented',
      together: [
        ['https', 'timeout'],
        ['timeout', 'rate_limit'],
      ],
    }
    const three = [need(0, 'https', replace(1)), need(0, 'timeout', replace(1)), need(0, 'rate_limit', replace(1))]
    expect(shape(three, grouping)).toEqual(['0: https rate_limit timeout'])
  })
})

describe('examples', () => {
  it('25 domains with one change are three writes', () =>
    expect(solve(Array.from({ length: 25 }, (_, i) => need(i, 'https', replace(1))))).toHaveLength(3))
  it('no needs are no writes', () => expect(solve([])).toEqual([]))
  it('payloads that differ in the order of keys only are equal', () => {
    const form = (payload: Json) => ({ name: 'replace' as const, payload })
    expect(solve([need(0, 'https', form({ a: 1, b: 2 })), need(1, 'https', form({ b: 2, a: 1 }))])).toHaveLength(1)
  })
  it('the same payload as another form is another write', () =>
    expect(solve([need(0, 'https', { name: 'replace', payload: {} }), need(1, 'https', { name: 'unset', payload: {} })])).toHaveLength(2))
})
