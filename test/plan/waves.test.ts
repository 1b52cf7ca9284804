// @module-tag often
import { describe, expect, it } from 'vitest'
import type { Amount } from '../../src/core/model/config.ts'
import type { Domain } from '../../src/core/model/item.ts'
import { assignWaves, computeWaveEnds, listSizes } from '../../src/core/plan/assign-waves.ts'
import { groupWrites, type WriteProblem } from '../../src/core/plan/group-writes.ts'
import { writeInWaves, type WaveSolution } from '../../src/core/plan/write-in-waves.ts'
import { fc, itOften, runs } from '../runs.ts'
import { domain, findFaults, need, problems, replace, solver } from './problems.ts'

const amounts: fc.Arbitrary<Amount[]> = fc
  .uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 3 })
  .map((shares) => [...shares.toSorted((a, b) => a - b), 100].map((percent) => ({ percent })))

const listWavesByDomain = ({ writes }: WaveSolution): Map<Domain, Set<number>> => {
  const waves = new Map<Domain, Set<number>>()
  for (const write of writes)
    for (const name of write.domains)
      waves.set(name, (waves.get(name) ?? new Set()).add(write.wave))
  return waves
}
const countDomainsByWave = (solution: WaveSolution): number[] => {
  const sizes: number[] = []
  for (const waves of listWavesByDomain(solution).values())
    for (const wave of waves) sizes[wave - 1] = (sizes[wave - 1] ?? 0) + 1
  return sizes
}
/** Builds a problem with one item and one value for each count; so many domains need it. */
const buildProblem = (counts: number[]): WriteProblem => ({
  needs: counts.flatMap((count, kind) =>
    Array.from({ length: count }, (_, i) => need(kind * 1000 + i, 'https', replace(kind))),
  ),
  grouping: { groups: 'all', together: [] },
  domainsPerWrite: 10,
  effort: 'normal',
  solver: null,
})

describe('the sizes of waves', () => {
  it.each<[Amount[], number, number, number[]]>([
    [[{ percent: 100 }], 7, 0, [7]],
    [[{ count: 1 }, { percent: 5 }, { percent: 25 }, { percent: 100 }], 200, 0, [1, 9, 40, 150]],
    // Rounded up: 5 % of 30 is 1.5.
    [[{ percent: 5 }, { percent: 100 }], 30, 0, [2, 28]],
    // 7 % of 100 is 7, in spite of rounding errors.
    [[{ percent: 7 }, { percent: 100 }], 100, 0, [7, 93]],
    [[{ count: 1 }, { percent: 5 }, { percent: 100 }], 10, 0, [1, 9]],
    [[{ count: 50 }, { percent: 100 }], 10, 0, [10]],
    [[{ count: 1 }, { percent: 50 }, { percent: 100 }], 10, 3, [3, 2, 5]],
    [[{ count: 1 }, { percent: 20 }, { percent: 100 }], 10, 4, [4, 6]],
  ])('%j of %i domains, %i of them first: %j', (cumulative, count, first, expected) => {
    expect(listSizes(computeWaveEnds(cumulative, count, first))).toEqual(expected)
  })
})

describe('writeInWaves', () => {
  itOften('meets every need in waves of the right sizes, the same for any order of the needs', () =>
    fc.assert(
      fc.property(problems(12, 2, true), amounts, (problem, cumulative) => {
        const solve = (needs: WriteProblem['needs']) =>
          writeInWaves({ ...problem, needs }, { amounts: cumulative })
        const solution = solve(problem.needs)
        const { writes, writesAtOnce, lowerBound } = solution
        expect(solve(problem.needs.toReversed())).toEqual(solution)
        expect(findFaults(problem, writes)).toEqual([])
        const domains = new Set(problem.needs.map((each) => each.domain)).size
        for (const waves of listWavesByDomain(solution).values()) expect(waves.size).toBe(1)
        expect(countDomainsByWave(solution)).toEqual(
          listSizes(computeWaveEnds(cumulative, domains, 0)),
        )
        expect(writes.map(({ id }) => id)).toEqual(writes.map((_, i) => i + 1))
        const waves = writes.map(({ wave }) => wave)
        expect(waves).toEqual(waves.toSorted((a, b) => a - b))
        expect(lowerBound).toBeLessThanOrEqual(writes.length)
        expect(writesAtOnce).toBe(groupWrites(problem).writes.length)
        expect(writes.length).toBeLessThanOrEqual(writesAtOnce * cumulative.length)
      }),
      { numRuns: runs(15, 400) },
    ),
  )

  it('adds writes to full rectangles that any choice of waves cuts', () => {
    // 3 × 3 domains: a row has one value of https, a column one value of origin.
    const listNeeds = (cells: number[]) =>
      cells.flatMap((i) => [
        need(i, 'https', replace(Math.floor(i / 3))),
        need(i, 'origin', replace(i % 3)),
      ])
    const all = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    const grid = { ...buildProblem([]), needs: listNeeds(all), domainsPerWrite: 3, solver }
    const { writes, writesAtOnce } = writeInWaves(grid, {
      amounts: [{ count: 3 }, { percent: 100 }],
    })
    expect([writesAtOnce, writes.length]).toEqual([6, 8])
    // Every choice of three domains, up to the order of rows, of columns, and of the two items.
    for (const wave of [
      [0, 1, 2],
      [0, 1, 3],
      [0, 1, 5],
      [0, 4, 8],
    ]) {
      const bounds = [wave, all.filter((i) => !wave.includes(i))].map(
        (own) => groupWrites({ ...grid, needs: listNeeds(own) }).lowerBound,
      )
      expect((bounds[0] ?? 0) + (bounds[1] ?? 0)).toBeGreaterThanOrEqual(8)
    }
  })

  it('fills a small wave with the remainder of a kind, so that other writes stay full', () => {
    const { writes, writesAtOnce } = writeInWaves(buildProblem([10, 23, 20]), {
      amounts: [{ count: 3 }, { percent: 100 }],
    })
    expect(writesAtOnce).toBe(6)
    expect(writes.length).toBe(6)
  })

  it('splits no write that an exchange of domains can keep whole', () => {
    const groups = Array.from({ length: 6 }, (_, i) =>
      Array.from({ length: 4 }, (__, j) => domain(i * 10 + j)),
    )
    const { waves } = assignWaves({
      domains: groups.flat().toSorted(),
      groups,
      width: 4,
      steps: 20_000,
      amounts: [{ count: 8 }, { count: 16 }, { percent: 100 }],
      isFirst: (name) => name === groups[5]?.[0] || name === groups[2]?.[1],
    })
    for (const group of groups) expect(new Set(group.map((name) => waves.get(name))).size).toBe(1)
  })

  it('puts all domains that go first into wave 1, even beyond its amount', () => {
    const isFirst = (name: Domain) => /^d0000[0-4]/.test(name)
    const solution = writeInWaves(
      { ...buildProblem([30]), isFirst },
      { amounts: [{ count: 2 }, { percent: 100 }] },
    )
    expect(
      [...listWavesByDomain(solution)]
        .filter(([, waves]) => waves.has(1))
        .map(([name]) => name)
        .toSorted(),
    ).toEqual([0, 1, 2, 3, 4].map(domain))
  })

  it('keeps the waves of an open rollout', () => {
    const waveByDomain = new Map([0, 1, 2].map((i) => [domain(i), i === 1 ? 4 : 2]))
    const { writes } = writeInWaves(buildProblem([3]), { waveByDomain })
    expect(writes.map(({ id, wave, domains }) => [id, wave, domains])).toEqual([
      [1, 2, [domain(0), domain(2)]],
      [2, 4, [domain(1)]],
    ])
    expect(
      writeInWaves(buildProblem([2]), {
        waveByDomain: new Map([0, 1].map((i) => [domain(i), 3])),
      }).writes.map(({ wave }) => wave),
    ).toEqual([3])
  })
})
