// @module-tag often
import { describe, expect, it } from 'vitest'
import { createSampleCount } from '../../src/core/health/count-sample.ts'
import { createEarlierRequests } from '../../src/core/health/earlier-windows.ts'
import { estimateLevel } from '../../src/core/health/expected.ts'
import { isClearlyWorse, judgeWave } from '../../src/core/health/judge.ts'
import { logGamma } from '../../src/core/health/log-gamma.ts'
import { computeNegativeBinomialTail } from '../../src/core/health/negative-binomial.ts'
import type { Variation } from '../../src/core/model/health.ts'
import { addCounts, createCounts, type Counts } from '../../src/core/model/statistics.ts'
import { measureHeap } from '../measure-heap.ts'
import { itLong } from '../runs.ts'

/** Sums the probabilities of a negative binomial distribution one by one. */
function sumTail(x: number, mean: number, dispersion: number): number {
  const size = 1 / dispersion
  const p = mean / (mean + size)
  let probability = (1 - p) ** size
  let below = 0
  for (let i = 0; i < x; i++) {
    below += probability
    probability *= ((i + size) / (i + 1)) * p
  }
  return 1 - below
}

describe('the negative binomial distribution', () => {
  it.each([
    [1, 0.5, 0.1],
    [10, 5, 0.5],
    [30, 20, 0.2],
    [5, 20, 1],
    [400, 300, 0.05],
  ])('has the tail from %i at mean %d and dispersion %d that its terms sum to', (x, mean, d) => {
    expect(computeNegativeBinomialTail(x, mean, d)).toBeCloseTo(sumTail(x, mean, d), 9)
  })

  it('has a tail of 1 from 0, of 0 without any rate, and Poisson tails at a constant rate', () => {
    expect(computeNegativeBinomialTail(0, 5, 1)).toBe(1)
    expect(computeNegativeBinomialTail(3, 0, 1)).toBe(0)
    // 1 − e⁻² (1 + 2 + 2)
    expect(computeNegativeBinomialTail(3, 2, 0)).toBeCloseTo(1 - 5 * Math.exp(-2), 5)
  })

  it('uses a gamma function that is right for whole and half numbers', () => {
    expect(logGamma(5)).toBeCloseTo(Math.log(24), 12)
    expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.sqrt(Math.PI)), 12)
  })
})

describe('the level of a baseline', () => {
  const repeat = (shares: number[], requests = 10_000) =>
    Array.from({ length: 40 }, (_, i) => {
      const share = shares[i % shares.length] ?? 0
      return { requests, bad: Math.round(requests * share) }
    })

  it('has no dispersion if windows are equal, and that of their shares otherwise', () => {
    expect(estimateLevel(repeat([0.02]))).toMatchObject({ share: 0.02, dispersion: 0 })
    // Shares of 1 % and 3 %: a standard deviation of half the mean.
    expect(estimateLevel(repeat([0.01, 0.03]))?.dispersion).toBeCloseTo(0.25, 1)
  })

  it('caps an incident, and needs a few windows', () => {
    const incident = [...repeat([0.01]), { requests: 10_000, bad: 5000 }]
    const level = estimateLevel(incident)
    expect(level?.share).toBeLessThan(0.0121)
    expect(level?.dispersion).toBeLessThan(1)
    expect(estimateLevel(repeat([0.01]).slice(0, 3))).toBeNull()
  })
})

describe('a rise', () => {
  const counts = (share: number): Counts => ({ '200': 1e4 * (1 - share), '404': 1e4 * share })
  const measure = { statuses: ['4xx'], minRequests: 500, margin: 1 }
  const names = ['a', 'b', 'c', 'd']
  /** Judges `a` after earlier windows, with controls whose share is now `control`. */
  const judge = (after: number, earlier: number[], control = 0.02) => {
    const shareOf = (i: number) => earlier[i % earlier.length] ?? 0
    const windows = Array.from({ length: 100 }, (_, i) => ({
      requests: 1e4,
      bad: 1e4 * shareOf(i),
    }))
    const variation: Variation = {
      windows: new Map(names.map((name) => [name, windows])),
      controls: new Map(names.slice(1).map((name) => [name, counts(control)])),
    }
    const before = new Map([['a', counts(shareOf(0))]])
    return judgeWave(before, new Map([['a', counts(after)]]), measure, variation)
  }

  it('is worse if the baseline never varied, and not if it varies as much', () => {
    expect(judge(0.04, [0.02])).toMatchObject({ verdict: 'worse', isUncertain: false })
    const gusty = judge(0.04, [0.02, 0.02, 0.02, 0.02, 0.05])
    expect(gusty).toMatchObject({ verdict: 'same-or-better', isUncertain: true })
    expect(judge(0.4, [0.02, 0.02, 0.02, 0.02, 0.05])).toMatchObject({
      verdict: 'worse',
      isUncertain: false,
    })
  })

  it('that the controls have as well is not due to the change', () => {
    expect(judge(0.04, [0.02], 0.04)).toMatchObject({
      verdict: 'same-or-better',
      isUncertain: false,
    })
  })
})

it('one of several domains is clearly worse only if most of its requests fail', () => {
  const sizes = new Map([
    ['small', 1e4],
    ['large', 1e7],
  ])
  const build = (share: number) =>
    new Map(
      [...sizes].map(([name, requests]): [string, Counts] => {
        const bad = requests * (name === 'small' ? share : 0.001)
        return [name, { '200': requests - bad, '502': bad }]
      }),
    )
  const windows = new Map(
    [...sizes].map(([name, requests]) => [
      name,
      Array.from({ length: 100 }, () => ({ requests, bad: requests * 0.001 })),
    ]),
  )
  const rule = { statuses: ['5xx'], minRequests: 500, margin: 1 }
  const judge = (share: number) =>
    judgeWave(build(0.001), build(share), rule, { windows, controls: new Map() })
  expect([0.4, 0.6].map((share) => judge(share).verdict)).toEqual(['worse', 'worse'])
  expect([0.4, 0.6].map((share) => judge(share).isUncertain)).toEqual([true, false])
  expect([0.4, 0.6].map((share) => isClearlyWorse(judge(share)))).toEqual([false, true])
})

describe('a disturbance of some domains', () => {
  const names = Array.from({ length: 21 }, (_, i) => `d${i}`)
  const counts = (share: number): Counts => ({ '200': 1e4 * (1 - share), '404': 1e4 * share })
  /** Judges d0, whose share rises to 12 %, beside 20 controls of which some rise to 8 %. */
  const judge = (risen: number) => {
    const windows = Array.from({ length: 100 }, () => ({ requests: 1e4, bad: 200 }))
    const controls = names
      .slice(1)
      .map((name, i) => [name, counts(i < risen ? 0.08 : 0.02)] as const)
    return judgeWave(
      new Map([['d0', counts(0.02)]]),
      new Map([['d0', counts(0.12)]]),
      { statuses: ['404'], minRequests: 500, margin: 1 },
      { windows: new Map(names.map((name) => [name, windows])), controls: new Map(controls) },
    ).verdict
  }

  it('such as a crowd of bots is no effect of the change if unchanged domains show it', () => {
    expect([0, 1, 5].map(judge)).toEqual(['worse', 'same-or-better', 'same-or-better'])
  })
})

describe('earlier requests', () => {
  const countSample = createSampleCount(['5xx'])

  it('are summed in whole windows, latest first, also if they arrive in parts', () => {
    const points = Array.from({ length: 10 }, (_, i) => ({
      time: i * 10,
      counts: { '200': 2 ** i, '502': i },
    }))
    const requests = createEarlierRequests(countSample)
    requests.add('a', points.slice(5))
    requests.add('a', points.slice(0, 5))
    const windows = requests.sum({ from: 0, to: 100 }, 30)
    expect(windows.get('a')).toEqual([
      { requests: 2 ** 9 + 2 ** 8 + 2 ** 7 + 24, bad: 24 },
      { requests: 2 ** 6 + 2 ** 5 + 2 ** 4 + 15, bad: 15 },
      { requests: 2 ** 3 + 2 ** 2 + 2 + 6, bad: 6 },
    ])
  })

  itLong('of many domains take little memory', () => {
    const requests = createEarlierRequests(countSample)
    const points = Array.from({ length: 864 }, (_, i) => ({
      time: i * 300_000,
      counts: { '200': 900 + i, '404': 3, '502': 1 },
    }))
    const before = measureHeap()
    for (let i = 0; i < 500; i++) requests.add(`d${i}.example.com`, points)
    expect((measureHeap() - before) / 500).toBeLessThan(40_000)
    expect(requests.sum({ from: 0, to: 864 * 300_000 }, 900_000).size).toBe(500)
  })
})

it('counts by status code take little memory', () => {
  const before = measureHeap()
  const all = Array.from({ length: 5000 }, () => {
    const counts = createCounts()
    addCounts(counts, { '200': 5, '404': 1, '502': 1 })
    return counts
  })
  expect((measureHeap() - before) / 5000).toBeLessThan(1000)
  expect(all.at(-1)).toEqual({ '200': 5, '404': 1, '502': 1 })
})
