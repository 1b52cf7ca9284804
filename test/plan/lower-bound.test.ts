import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupWrites } from '../../src/plan/group-writes.ts'
import { lowerBound } from '../../src/plan/lower-bound.ts'
import { need, optimum, problems, replace } from './problems.ts'

const all = { groups: 'all' as const, together: [] }
const many = (count: number, item: string, value: number, from = 0) =>
  Array.from({ length: count }, (_, i) => need(from + i, item, replace(value)))

describe('no plan has fewer writes than the lower bound', () => {
  it('not the one that is made', () =>
    fc.assert(
      fc.property(problems(20, 3, 2), (problem) => {
        expect(lowerBound(problem)).toBeLessThanOrEqual(groupWrites(problem).writes.length)
      }),
      { numRuns: 500 },
    ))

  it('not the best that there is', () => {
    let tight = 0
    let tried = 0
    const small = problems(4, 2, 2).filter(({ needs }) => needs.length > 0 && needs.length <= 9)
    fc.assert(
      fc.property(small, (problem) => {
        const best = optimum(problem)
        expect(lowerBound(problem)).toBeLessThanOrEqual(best)
        tried++
        if (lowerBound(problem) === best) tight++
      }),
      { numRuns: 500 },
    )
    // A bound of 0 would hold as well.
    expect(tight / tried).toBeGreaterThan(0.3)
  })

  it('not when an item stands in several groups', () => {
    const grouping = {
      groups: [
        ['https', 'origin'],
        ['origin', 'timeout'],
      ],
      together: [],
    }
    const needs = [need(0, 'origin', replace(1)), need(0, 'timeout', replace(1))]
    expect(lowerBound({ needs, grouping, domainsPerWrite: 10 })).toBeLessThanOrEqual(1)
  })
})

describe('the lower bound', () => {
  it('of nothing is 0, of anything at least 1', () => {
    expect(lowerBound({ needs: [], grouping: all, domainsPerWrite: 10 })).toBe(0)
    expect(lowerBound({ needs: [need(0, 'https', replace(1), replace(2))], grouping: all, domainsPerWrite: 10 })).toBe(1)
  })

  it('counts full writes, different payloads, and groups that never meet', () => {
    expect(lowerBound({ needs: many(25, 'https', 1), grouping: all, domainsPerWrite: 10 })).toBe(3)
    expect(lowerBound({ needs: [...many(5, 'https', 1), ...many(5, 'https', 2, 5)], grouping: all, domainsPerWrite: 10 })).toBe(2)
    const two = [...many(25, 'https', 1), ...many(15, 'timeout', 1)]
    expect(lowerBound({ needs: two, grouping: all, domainsPerWrite: 10 })).toBe(3)
    expect(lowerBound({ needs: two, grouping: { groups: 'documented', together: [] }, domainsPerWrite: 10 })).toBe(5)
    expect(lowerBound({ needs: two, grouping: { groups: 'documented', together: [['https', 'timeout']] }, domainsPerWrite: 10 })).toBe(3)
  })

  it('is what the optimum of a known instance is: two items of two values, crossed', () => {
    const needs = [0, 1, 2, 3].flatMap((i) => [need(i, 'https', replace(i % 2)), need(i, 'origin', replace(i < 2 ? 0 : 1))])
    expect(optimum({ needs, grouping: all, domainsPerWrite: 2 })).toBe(4)
    expect(lowerBound({ needs, grouping: all, domainsPerWrite: 2 })).toBe(2)
  })
})
