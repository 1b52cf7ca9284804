// @module-tag often
import { describe, expect, it } from 'vitest'
import {
  computePValue,
  buildContingencyTable,
  computePmf,
  computeMoments,
} from '../../src/core/health/hypergeometric.ts'
import { logGamma } from '../../src/core/health/log-gamma.ts'
import { computeStratifiedPValue } from '../../src/core/health/stratified.ts'
import { Draws } from './draws.ts'

type Table = [badBefore: number, before: number, badAfter: number, after: number]

const buildTable = ([badBefore, before, badAfter, after]: Table) =>
  buildContingencyTable({ requests: before, bad: badBefore }, { requests: after, bad: badAfter })

/** Computes the binomial coefficient n over k, exactly. */
function choose(n: number, k: number): bigint {
  let cases = 1n
  for (let i = 0; i < k; i++) cases = (cases * BigInt(n - i)) / BigInt(i + 1)
  return k < 0 || k > n ? 0n : cases
}

/**
 * Computes the p-value by counting the cases with at least as many bad answers in the later window.
 */
function countPValue([badBefore, before, badAfter, after]: Table): number {
  const bad = badBefore + badAfter
  let cases = 0n
  for (let x = badAfter; x <= Math.min(bad, after); x++)
    cases += choose(after, x) * choose(before, bad - x)
  return Number((cases * 10n ** 30n) / choose(before + after, bad)) / 1e30
}

describe('computePValue', () => {
  it.each<[Table, number]>([
    // The lady tasting tea: 4 and 4 cups, 3 of 4 right.
    [[1, 4, 3, 4], 17 / 70],
    [[0, 4, 4, 4], 1 / 70],
    [[0, 1, 1, 1], 1 / 2],
    [[0, 10, 0, 10], 1],
    [[3, 10, 0, 10], 1],
    [[10, 10, 10, 10], 1],
    [[0, 3, 2, 3], 3 / 15],
  ])('%j: %f', (table, expected) =>
    expect(computePValue(buildTable(table), table[2])).toBeCloseTo(expected, 12),
  )

  it('equals the p-value by counting, for any small table', () => {
    const draws = new Draws(1)
    const drawUpTo = (max: number) => Math.floor(draws.next() * (max + 1))
    for (let i = 0; i < 2000; i++) {
      const [before, after] = [1 + drawUpTo(60), 1 + drawUpTo(60)]
      const table: Table = [drawUpTo(before), before, drawUpTo(after), after]
      const [got, expected] = [computePValue(buildTable(table), table[2]), countPValue(table)]
      expect(Math.abs(got - expected), JSON.stringify(table)).toBeLessThan(
        1e-10 * Math.max(expected, 1e-6),
      )
    }
  })

  it('is exact for thousands of requests, and fast for a hundred million', () => {
    const table: Table = [8, 2000, 41, 2100]
    expect(computePValue(buildTable(table), 41) / countPValue(table)).toBeCloseTo(1, 9)
    const large = computePValue(
      buildTable([50_000_000, 100_000_000, 50_020_000, 100_000_000]),
      50_020_000,
    )
    // 10,000 above the mean, where the standard deviation is 3,536: 2.83 of them.
    expect(large).toBeGreaterThan(0.002)
    expect(large).toBeLessThan(0.0026)
  })

  it('has a pmf that sums to 1, with the mean and the variance of its moments', () => {
    for (const table of [
      [3, 20, 5, 40],
      [0, 7, 30, 50],
      [500, 10_000, 12, 900],
    ] as Table[]) {
      const built = buildTable(table)
      const all = Array.from(
        { length: built.maxBad - built.minBad + 1 },
        (_, i) => [built.minBad + i, computePmf(built, built.minBad + i)] as const,
      )
      const expected = (of: (x: number) => number) =>
        all.reduce((sum, [x, p]) => sum + of(x) * p, 0)
      const { mean, variance, third } = computeMoments(built)
      expect(expected(() => 1)).toBeCloseTo(1, 9)
      expect(expected((x) => x)).toBeCloseTo(mean, 7)
      expect(expected((x) => (x - mean) ** 2)).toBeCloseTo(variance, 6)
      expect(expected((x) => (x - mean) ** 3)).toBeCloseTo(third, 5)
    }
  })

  it('uses factorials that are exact to the last digits', () => {
    let sum = 0
    for (let n = 1; n <= 3000; n++) {
      sum += Math.log(n)
      expect(Math.abs(logGamma(n + 1) - sum)).toBeLessThan(1e-13 * Math.max(1, sum) * 10)
    }
  })
})

describe('computeStratifiedPValue', () => {
  /** Computes the distribution of the sum, term by term. */
  function computeDistribution(tables: Table[]): number[] {
    return tables.map(buildTable).reduce(
      (sum, table) => {
        const own = Array.from({ length: table.maxBad + 1 }, (_, x) =>
          x < table.minBad ? 0 : computePmf(table, x),
        )
        const next = new Float64Array(sum.length + own.length - 1)
        for (const [i, p] of sum.entries())
          for (let x = 0; x < own.length; x++) next[i + x] = (next[i + x] ?? 0) + p * (own[x] ?? 0)
        return [...next]
      },
      [1],
    )
  }

  const sumTail = (terms: number[], x: number) => terms.slice(x).reduce((all, p) => all + p, 0)

  it('is the exact test for one domain', () => {
    const table: Table = [2, 700, 9, 650]
    expect(computeStratifiedPValue([buildTable(table)], 9)).toBe(
      computePValue(buildTable(table), 9),
    )
    // A domain without information changes nothing.
    expect(computeStratifiedPValue([buildTable(table), buildTable([0, 50, 0, 70])], 9)).toBe(
      computePValue(buildTable(table), 9),
    )
    expect(computeStratifiedPValue([buildTable(table), buildTable([50, 50, 70, 70])], 79)).toBe(
      computePValue(buildTable(table), 9),
    )
  })

  it('equals the sum of the terms, for small counts', () => {
    const draws = new Draws(2)
    for (let i = 0; i < 200; i++) {
      const tables = Array.from({ length: 2 + Math.floor(draws.next() * 6) }, (): Table => {
        const [before, after] = [
          Math.round(draws.logUniform(5, 2000)),
          Math.round(draws.logUniform(5, 2000)),
        ]
        return [draws.binomial(before, 0.01), before, draws.binomial(after, 0.02), after]
      })
      const observed = tables.reduce((sum, table) => sum + table[2], 0)
      expect(computeStratifiedPValue(tables.map(buildTable), observed)).toBeCloseTo(
        sumTail(computeDistribution(tables), observed),
        10,
      )
    }
  })

  it('is close to the sum of the terms for large counts, far into the tail and with skew', () => {
    for (const tables of [
      Array.from({ length: 12 }, (): Table => [100, 20_000, 100, 20_000]),
      Array.from({ length: 12 }, (): Table => [900, 100_000, 50, 6000]),
    ]) {
      const moments = tables.map((table) => computeMoments(buildTable(table)))
      const mean = moments.reduce((sum, each) => sum + each.mean, 0)
      const deviation = Math.sqrt(moments.reduce((sum, each) => sum + each.variance, 0))
      expect(deviation).toBeGreaterThan(20)
      const terms = computeDistribution(tables)
      for (const z of [-2, -0.5, 0, 1, 2, 2.4, 2.6, 3, 4, 4.8]) {
        const x = Math.round(mean + z * deviation)
        const expected = sumTail(terms, x)
        expect(
          Math.abs(computeStratifiedPValue(tables.map(buildTable), x) / expected - 1),
          `${z}: ${expected}`,
        ).toBeLessThan(0.1)
      }
    }
  })

  it('handles ten thousand domains', () => {
    const draws = new Draws(3)
    const falls = Array.from({ length: 10_000 }, () => {
      const requests = Math.round(draws.logUniform(10, 10_000))
      return buildTable([
        draws.binomial(requests, 0.002),
        requests,
        draws.binomial(requests, 0.002),
        requests,
      ])
    })
    expect(computeStratifiedPValue(falls, 0)).toBe(1)
  })
})
