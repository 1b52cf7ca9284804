import { describe, expect, it } from 'vitest'
import { judgeWave } from '../../src/core/health/judge.ts'
import type { WaveHealth } from '../../src/core/model/health.ts'
import type { Counts } from '../../src/core/model/statistics.ts'
import { itLong, runs } from '../runs.ts'
import { Draws } from './draws.ts'

const usual = { statuses: ['5xx'], minRequests: 500, margin: 1 }

type Both = [before: Counts, after: Counts]

function judge(domains: Record<string, Both>, measure: Partial<typeof usual> = {}): WaveHealth {
  const side = (i: 0 | 1) =>
    new Map(Object.entries(domains).map(([domain, both]) => [domain, both[i]]))
  return judgeWave(side(0), side(1), { ...usual, ...measure })
}

const buildCounts = (requests: number, bad: number, status = '502'): Counts => ({
  '200': requests - bad,
  [status]: bad,
})
const still: Both = [buildCounts(10_000, 50), buildCounts(10_000, 50)]

describe('a domain', () => {
  it('is worse if its failures rise significantly and by more than the margin', () => {
    const { verdict, domains, whole } = judge({
      'a.example': [buildCounts(1000, 5), buildCounts(1000, 55)],
      'b.example': still,
    })
    expect([verdict, whole.verdict]).toEqual(['worse', 'same-or-better'])
    expect(domains.get('a.example')).toMatchObject({
      verdict: 'worse',
      before: { requests: 1000, bad: 5 },
      after: { requests: 1000, bad: 55 },
    })
    expect(domains.get('a.example')?.rise).toBeCloseTo(5, 9)
    expect(domains.get('a.example')?.pValue).toBeLessThan(1e-9)
    expect(domains.get('b.example')?.verdict).toBe('same-or-better')
  })

  it('is not worse for a significant rise within the margin, nor for an insignificant one', () => {
    const small = judge({
      'a.example': [buildCounts(1_000_000, 1000), buildCounts(1_000_000, 8000)],
    })
    expect(small.domains.get('a.example')?.pValue).toBe(0)
    expect(small.verdict).toBe('same-or-better')
    const chance = judge({ 'a.example': [buildCounts(500, 1), buildCounts(500, 9)] })
    expect(chance.domains.get('a.example')?.rise).toBeGreaterThan(1)
    expect(chance.verdict).toBe('same-or-better')
  })

  it('is the same or better if failures decrease', () => {
    expect(judge({ 'a.example': [buildCounts(1000, 300), buildCounts(1000, 0)] }).verdict).toBe(
      'same-or-better',
    )
  })

  it('with too few requests stops nothing, and is not counted as a test', () => {
    const quiet: Both = [buildCounts(100, 0), buildCounts(100, 100)]
    const alone = judge({ 'a.example': quiet })
    expect([alone.verdict, alone.domains.get('a.example')]).toMatchObject([
      'too-little-data',
      { verdict: 'too-little-data', pValue: null },
    ])
    const among = judge({ 'a.example': quiet, 'b.example': still })
    expect(among.verdict).toBe('same-or-better')
    // Barely significant for a single test; the small domains do not count as tests.
    const edge: Both = [buildCounts(500, 0), buildCounts(500, 11)]
    const quietOnes = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [
        `q${i}.example`,
        [buildCounts(10, 0), buildCounts(10, 0)] as Both,
      ]),
    )
    expect(judge({ 'a.example': edge }).verdict).toBe('worse')
    expect(judge({ 'a.example': edge, ...quietOnes }).domains.get('a.example')?.verdict).toBe(
      'worse',
    )
    const loudOnes = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [
        `q${i}.example`,
        [buildCounts(500, 0), buildCounts(500, 0)] as Both,
      ]),
    )
    expect(judge({ 'a.example': edge, ...loudOnes }).domains.get('a.example')?.verdict).toBe(
      'same-or-better',
    )
  })

  it.each<[string, Both]>([
    ['new', [{}, buildCounts(1000, 500)]],
    ['collapsed', [buildCounts(10_000, 0), {}]],
    ['silent', [{}, {}]],
    ['nearly collapsed', [buildCounts(10_000, 0), buildCounts(3, 3)]],
  ])('that is %s has too little data', (_what, both) => {
    const none = { verdict: 'too-little-data', pValue: null }
    for (const minRequests of [0, usual.minRequests]) {
      const health = judge({ 'a.example': both }, { minRequests })
      const isEnough = minRequests === 0 && both.every((counts) => Object.keys(counts).length > 0)
      if (isEnough) expect(health.whole.pValue).not.toBeNull()
      else expect([health.whole, health.domains.get('a.example')]).toMatchObject([none, none])
    }
    expect(judge({ 'a.example': both, 'b.example': still }).verdict).toBe('same-or-better')
  })

  it('that is missing in one window has no requests there', () => {
    const health = judgeWave(
      new Map([['a.example', buildCounts(1000, 1)]]),
      new Map([['b.example', buildCounts(1000, 1)]]),
      usual,
    )
    expect([...health.domains].map(([domain, { verdict }]) => [domain, verdict])).toEqual([
      ['a.example', 'too-little-data'],
      ['b.example', 'too-little-data'],
    ])
  })
})

describe('bad status codes', () => {
  it.each<[string[], string, boolean]>([
    [['5xx'], '502', true],
    [['5xx'], '404', false],
    [['4xx', '5xx'], '404', true],
    [['502'], '502', true],
    [['502'], '503', false],
    [['5XX'], '599', true],
    [['5xx'], '0', false],
    [['5xx', '0'], '0', true],
    [['5xx'], '5', false],
  ])('%j: a rise of %s', (statuses, status, worse) => {
    const health = judge(
      { 'a.example': [buildCounts(1000, 0, status), buildCounts(1000, 200, status)] },
      { statuses },
    )
    expect(health.verdict).toBe(worse ? 'worse' : 'same-or-better')
  })

  it('are summed', () => {
    const after: Counts = { '200': 960, '500': 10, '502': 10, '503': 10, '504': 10 }
    expect(
      judge({ 'a.example': [buildCounts(1000, 0), after] }).domains.get('a.example')?.after,
    ).toEqual({
      requests: 1000,
      bad: 40,
    })
  })
})

describe('the wave as a whole', () => {
  const many = (both: (i: number) => Both) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`d${i}.example`, both(i)]))

  it('is worse if many small domains rise a little, none of them significantly', () => {
    const health = judge(many(() => [buildCounts(100, 1), buildCounts(100, 4)]))
    expect([...health.domains.values()].every(({ verdict }) => verdict === 'too-little-data')).toBe(
      true,
    )
    expect(health).toMatchObject({
      verdict: 'worse',
      whole: { verdict: 'worse', before: { requests: 10_000, bad: 100 } },
    })
    expect(health.whole.rise).toBeCloseTo(3, 9)
  })

  it('is not worse if traffic moves to a worse domain', () => {
    const health = judge({
      'good.example': [buildCounts(90_000, 90), buildCounts(10_000, 10)],
      'bad.example': [buildCounts(10_000, 2000), buildCounts(90_000, 18_000)],
    })
    expect(health.whole.after.bad / health.whole.after.requests).toBeGreaterThan(0.1)
    expect([health.verdict, health.whole.rise]).toEqual(['same-or-better', 0])
  })

  it('is worse if such a move hides a rise', () => {
    const health = judge({
      'good.example': [buildCounts(10_000, 10), buildCounts(90_000, 2700)],
      'bad.example': [buildCounts(90_000, 18_000), buildCounts(10_000, 2400)],
    })
    expect(health.whole.after.bad / health.whole.after.requests).toBeLessThan(0.1)
    expect(health).toMatchObject({ verdict: 'worse', whole: { verdict: 'worse' } })
  })

  it('weights the rise of each domain by its two windows', () => {
    const health = judge({
      'a.example': [buildCounts(1000, 0), buildCounts(100, 10)],
      'b.example': [buildCounts(100, 0), buildCounts(1000, 0)],
    })
    expect(health.whole.rise).toBeCloseTo(5, 9)
  })

  it('needs enough requests in total, unless a domain is worse', () => {
    expect(judge(many(() => [buildCounts(4, 0), buildCounts(4, 4)])).verdict).toBe(
      'too-little-data',
    )
    expect(judge({ 'a.example': [buildCounts(500, 0), buildCounts(500, 100)] }).verdict).toBe(
      'worse',
    )
    expect(judge({}).verdict).toBe('too-little-data')
  })
})

describe('error rates', () => {
  /** Builds a wave of domains without a change. */
  function noise(draws: Draws, domains: number): Record<string, Both> {
    return Object.fromEntries(
      Array.from({ length: domains }, (_, i) => {
        const [requests, share] = [
          Math.round(draws.logUniform(50, 20_000)),
          draws.logUniform(0.0002, 0.03),
        ]
        const later = Math.round(requests * draws.logUniform(0.7, 1.4))
        return [
          `d${i}.example`,
          [draws.window(requests, share), draws.window(later, share)] as Both,
        ]
      }),
    )
  }

  itLong('noise stops fewer than 1 in 200 rollouts of 200 domains in four waves', () => {
    const rollouts = runs(200, 600)
    const draws = new Draws(20_261)
    let stopped = 0
    for (let rollout = 0; rollout < rollouts; rollout++) {
      const waves = [2, 10, 50, 138].map((domains) =>
        judge(noise(draws, domains), { minRequests: 100, margin: 0.1 }),
      )
      if (waves.some(({ verdict }) => verdict === 'worse')) stopped++
    }
    expect(stopped).toBeLessThanOrEqual(rollouts / 200)
  })

  itLong(
    'a rise of five points on one domain of 200 is detected in at least 99 of 100 cases',
    () => {
      const draws = new Draws(20_262)
      const others = Object.entries(noise(draws, 199))
      let caught = 0
      for (let run = 0; run < 400; run++) {
        const rising: Both = [draws.window(1000, 0.005), draws.window(1000, 0.055)]
        const health = judge(Object.fromEntries([...others, ['rising.example', rising]]))
        if (health.domains.get('rising.example')?.verdict === 'worse') caught++
      }
      expect(caught).toBeGreaterThanOrEqual(396)
    },
  )
})
