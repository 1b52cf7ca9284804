import { describe, expect, it } from 'vitest'
import { judgeWave, significance } from '../../src/health/judge.ts'
import type { WaveHealth } from '../../src/model/health.ts'
import type { Counts } from '../../src/model/statistics.ts'
import { Draws } from './draws.ts'

const usual = { statuses: ['5xx'], minRequests: 500, margin: 1 }

type Both = [before: Counts, after: Counts]

function judged(domains: Record<string, Both>, measure: Partial<typeof usual> = {}): WaveHealth {
  const side = (i: 0 | 1) =>
    new Map(Object.entries(domains).map(([domain, both]) => [domain, both[i]]))
  return judgeWave(side(0), side(1), { ...usual, ...measure })
}

const of = (requests: number, bad: number, status = '502'): Counts => ({
  '200': requests - bad,
  [status]: bad,
})
const still: Both = [of(10_000, 50), of(10_000, 50)]

describe('a domain', () => {
  it('is worse when its failures rise clearly and by more than the margin; the numbers are told', () => {
    const { verdict, domains, whole } = judged({
      'a.example': [of(1000, 5), of(1000, 55)],
      'b.example': still,
    })
    expect([verdict, whole.verdict]).toEqual(['worse', 'same-or-better'])
    expect(domains.get('a.example')).toMatchObject({
      verdict: 'worse',
      before: { requests: 1000, bad: 5 },
      after: { requests: 1000, bad: 55 },
      lack: null,
    })
    expect(domains.get('a.example')?.rise).toBeCloseTo(5, 9)
    expect(domains.get('a.example')?.pValue).toBeLessThan(1e-9)
    expect(domains.get('b.example')?.verdict).toBe('same-or-better')
  })

  it('is not worse for a rise that is certain and small, nor for one that is large and may be chance', () => {
    const small = judged({ 'a.example': [of(1_000_000, 1000), of(1_000_000, 8000)] })
    expect(small.domains.get('a.example')?.pValue).toBe(0)
    expect(small.verdict).toBe('same-or-better')
    const chance = judged({ 'a.example': [of(500, 1), of(500, 9)] })
    expect(chance.domains.get('a.example')?.rise).toBeGreaterThan(1)
    expect(chance.verdict).toBe('same-or-better')
  })

  it('is the same or better when failures fall', () => {
    expect(judged({ 'a.example': [of(1000, 300), of(1000, 0)] }).verdict).toBe('same-or-better')
  })

  it('with too few requests stops nothing, and does not count among those that are tested', () => {
    const quiet: Both = [of(100, 0), of(100, 100)]
    const alone = judged({ 'a.example': quiet })
    expect([alone.verdict, alone.domains.get('a.example')]).toMatchObject([
      'too-little-data',
      { verdict: 'too-little-data', p: null, lack: 'few requests' },
    ])
    const among = judged({ 'a.example': quiet, 'b.example': still })
    expect(among.verdict).toBe('same-or-better')
    // At the edge of what one test may find, whoever else is quiet.
    const edge: Both = [of(500, 0), of(500, 11)]
    const quietOnes = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`q${i}.example`, [of(10, 0), of(10, 0)] as Both]),
    )
    expect(judged({ 'a.example': edge }).verdict).toBe('worse')
    expect(judged({ 'a.example': edge, ...quietOnes }).domains.get('a.example')?.verdict).toBe(
      'worse',
    )
    const loudOnes = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`q${i}.example`, [of(500, 0), of(500, 0)] as Both]),
    )
    expect(judged({ 'a.example': edge, ...loudOnes }).domains.get('a.example')?.verdict).toBe(
      'same-or-better',
    )
  })

  it.each<[string, Both, string]>([
    ['new', [{}, of(1000, 500)], 'no requests before'],
    ['collapsed', [of(10_000, 0), {}], 'no requests after'],
    ['silent', [{}, {}], 'no requests'],
    ['nearly collapsed', [of(10_000, 0), of(3, 3)], 'few requests'],
  ])('that is %s has too little data, and it is told why', (_what, both, lack) => {
    const health = judged({ 'a.example': both })
    expect(health).toMatchObject({ verdict: 'too-little-data', whole: { lack } })
    expect(health.domains.get('a.example')).toMatchObject({
      verdict: 'too-little-data',
      lack,
      p: null,
    })
    expect(judged({ 'a.example': both, 'b.example': still }).verdict).toBe('same-or-better')
  })

  it('that is in one of the windows only has no requests in the other', () => {
    const health = judgeWave(
      new Map([['a.example', of(1000, 1)]]),
      new Map([['b.example', of(1000, 1)]]),
      usual,
    )
    expect([...health.domains].map(([domain, { shortage }]) => [domain, shortage])).toEqual([
      ['a.example', 'no requests after'],
      ['b.example', 'no requests before'],
    ])
  })
})

describe('what counts as bad', () => {
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
    const health = judged(
      { 'a.example': [of(1000, 0, status), of(1000, 200, status)] },
      { statuses },
    )
    expect(health.verdict).toBe(worse ? 'worse' : 'same-or-better')
  })

  it('several codes add up', () => {
    const after: Counts = { '200': 960, '500': 10, '502': 10, '503': 10, '504': 10 }
    expect(judged({ 'a.example': [of(1000, 0), after] }).domains.get('a.example')?.after).toEqual({
      requests: 1000,
      bad: 40,
    })
  })
})

describe('the wave as a whole', () => {
  const many = (both: (i: number) => Both) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`d${i}.example`, both(i)]))

  it('is worse when many quiet domains all rise a little that no one of them could show', () => {
    const health = judged(many(() => [of(100, 1), of(100, 4)]))
    expect([...health.domains.values()].every(({ verdict }) => verdict === 'too-little-data')).toBe(
      true,
    )
    expect(health).toMatchObject({
      verdict: 'worse',
      whole: { verdict: 'worse', before: { requests: 10_000, bad: 100 } },
    })
    expect(health.whole.rise).toBeCloseTo(3, 9)
  })

  it('does not take traffic that moves to a worse domain for a rise', () => {
    const health = judged({
      'good.example': [of(90_000, 90), of(10_000, 10)],
      'bad.example': [of(10_000, 2000), of(90_000, 18_000)],
    })
    expect(health.whole.after.bad / health.whole.after.requests).toBeGreaterThan(0.1)
    expect([health.verdict, health.whole.rise]).toEqual(['same-or-better', 0])
  })

  it('finds a rise that such a move hides', () => {
    const health = judged({
      'good.example': [of(10_000, 10), of(90_000, 2700)],
      'bad.example': [of(90_000, 18_000), of(10_000, 2400)],
    })
    expect(health.whole.after.bad / health.whole.after.requests).toBeLessThan(0.1)
    expect(health).toMatchObject({ verdict: 'worse', whole: { verdict: 'worse' } })
  })

  it('has a rise to which each domain adds what its two windows can tell', () => {
    const health = judged({
      'a.example': [of(1000, 0), of(100, 10)],
      'b.example': [of(100, 0), of(1000, 0)],
    })
    expect(health.whole.rise).toBeCloseTo(5, 9)
  })

  it('needs enough requests in all, unless a domain is worse', () => {
    expect(judged(many(() => [of(4, 0), of(4, 4)])).verdict).toBe('too-little-data')
    expect(judged({ 'a.example': [of(500, 0), of(500, 100)] }).verdict).toBe('worse')
    expect(judged({}).verdict).toBe('too-little-data')
  })
})

describe('by chance', () => {
  /** A wave of domains in which nothing has changed. */
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

  it('noise stops less than one in 200 rollouts of 200 domains in four waves', () => {
    const draws = new Draws(20_261)
    let stopped = 0
    for (let rollout = 0; rollout < 600; rollout++) {
      const waves = [2, 10, 50, 138].map((domains) =>
        judged(noise(draws, domains), { minRequests: 100, margin: 0.1 }),
      )
      if (waves.some(({ verdict }) => verdict === 'worse')) stopped++
    }
    expect(stopped).toBeLessThanOrEqual(3)
  })

  it('a rise of five points on one domain of 200 is caught in at least 99 of 100 cases', () => {
    const draws = new Draws(20_262)
    const others = Object.entries(noise(draws, 199))
    let caught = 0
    for (let run = 0; run < 400; run++) {
      const rising: Both = [draws.window(1000, 0.005), draws.window(1000, 0.055)]
      const health = judged(Object.fromEntries([...others, ['rising.example', rising]]))
      if (health.domains.get('rising.example')?.verdict === 'worse') caught++
    }
    expect(caught).toBeGreaterThanOrEqual(396)
  })

  it('the level leaves four waves below one in 200', () => {
    expect(4 * significance).toBeLessThanOrEqual(1 / 200)
  })
})
