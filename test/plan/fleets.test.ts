// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import { searchCover } from '../../src/core/plan/cover/search-cover.ts'
import { families } from './fleet-mixes.ts'
import { countGreedyWrites } from './plain-greedy.ts'
import type { CoverProblem } from '../../src/core/plan/cover/cover-problem.ts'
import { buildObviousCover } from '../../src/core/plan/cover/obvious-covers.ts'
import { serial } from '../../src/core/model/parallel.ts'
import { computePriceBound } from '../../src/core/plan/cover/price-bound.ts'
import { countCoverage } from '../../src/core/plan/cover/find-cover.ts'
import {
  groupWrites,
  type WriteProblem,
  buildGroupProblems,
} from '../../src/core/plan/group-writes.ts'
import { fc, full, itOften, long, runs } from '../runs.ts'
import { buildFleet } from './build-fleet.ts'
import { findFaults, findOptimum, problems } from './problems.ts'

const effort = {
  minGainShare: 1,
  firstBound: { rounds: 1, sets: 10_000 },
  starts: 2,
  search: { stepsPerRectangle: 200, stepsPerPair: 200, maxSteps: 2_000, patience: 50 },
}
const priceEffort = { rounds: 10, sets: 1_000_000 }

function listCoverProblems(problem: WriteProblem): CoverProblem[] {
  return buildGroupProblems(problem.needs, problem.grouping, problem.domainsPerWrite).map(
    (each) => each.problem,
  )
}

describe('searchCover on small problems', () => {
  itOften('covers every cell by valid rectangles', () =>
    fc.assert(
      fc.property(problems(12, 2, true), (problem) => {
        for (const each of listCoverProblems(problem)) {
          const { cover } = searchCover(each, buildObviousCover(each), 1, effort, serial)
          expect(countCoverage(each, cover).includes(0)).toBe(false)
          for (const { rows, columns } of cover) {
            expect(rows.length).toBeLessThanOrEqual(each.width)
            for (const row of rows)
              expect(columns.every((column) => each.rows[row]?.has(column))).toBe(true)
          }
        }
      }),
      { numRuns: runs(20, 400) },
    ),
  )

  itOften('is optimal nearly always, and the bound is at most the optimum', () => {
    let [found, fewest] = [0, 0]
    const small = problems(5, 2, true).filter(
      ({ needs }) => needs.reduce((sum, each) => sum + Math.max(1, each.parts.length), 0) <= 10,
    )
    fc.assert(
      fc.property(small, (drawn) => {
        const problem = { ...drawn, grouping: { ...drawn.grouping, together: [] } }
        const best = findOptimum(problem)
        const covers = listCoverProblems(problem).map((each) => ({
          each,
          cover: searchCover(each, buildObviousCover(each), 1, effort, serial).cover,
        }))
        const bound = covers.reduce(
          (sum, { each, cover }) => sum + computePriceBound(each, [cover], priceEffort, serial),
          0,
        )
        expect(bound).toBeLessThanOrEqual(best)
        found += covers.reduce((sum, { cover }) => sum + cover.length, 0)
        fewest += best
      }),
      { numRuns: runs(30, 1_000) },
    )
    expect(found).toBeLessThanOrEqual(1.02 * fewest)
  })
})

const domains = full ? 600 : 120
/** For the search with more effort. */
const fewer = full ? 600 : long ? 120 : 20

describe.each(Object.keys(families))('a fleet of the family %s', (family) => {
  const problem = buildFleet(family, domains, true)
  const { writes, lowerBound } = groupWrites(problem)

  itOften(
    'meets all needs and nothing else, near the bound, the same for any order of them',
    () => {
      expect(findFaults(problem, writes)).toEqual([])
      expect(lowerBound).toBeLessThanOrEqual(writes.length)
      expect(lowerBound).toBeGreaterThan(writes.length / 3)
      const needs = problem.needs.toReversed()
      expect(groupWrites({ ...problem, needs })).toEqual({ writes, lowerBound })
    },
  )

  itOften('takes no more writes than a plain greedy search', () => {
    const mix = families[family]?.(fewer, 3) ?? []
    expect(
      groupWrites({ ...buildFleet(family, fewer), effort: 'normal' }).writes.length,
    ).toBeLessThanOrEqual(countGreedyWrites(mix))
  })
})

it('reports progress while a fleet is searched, up to the last step', () => {
  const seen: [number, number][] = []
  groupWrites({ ...buildFleet('layered', 300), progress: (made, all) => seen.push([made, all]) })
  expect(seen.length).toBeGreaterThan(1)
  expect(seen.at(-1)?.[0]).toBe(seen.at(-1)?.[1])
})
