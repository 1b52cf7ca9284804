import { describe, expect, it } from 'vitest'
import { checkGuards, findLift } from '../../src/core/plan/guards.ts'
import { computeImpact } from '../../src/core/plan/impact.ts'
import { computeImpactShare, noTraffic, type TrafficProfile } from '../../src/core/model/traffic.ts'
import { formatImpact } from '../../src/outlets/report/plan/impact.ts'
import { buildChange, buildWrite, replaceWith } from '../plans.ts'

/** Builds figures: 12 domains, d1 with 1000 requests up to d12 with 12,000; others have none. */
function profile(more: Partial<TrafficProfile> = {}): TrafficProfile {
  const domains = Array.from({ length: 12 }, (_, i) => {
    return [`d${i + 1}.example`, { requests: (i + 1) * 1000, bad: 0, at: 500 - i }] as const
  })
  const idle = ['idle.example', { requests: 0, bad: 0, at: 600 }] as const
  return { domains: new Map([...domains, idle]), account: 100_000, at: 600, ...more }
}

describe('the impact of a plan', () => {
  it('sums known figures, and counts the domains that have none', () => {
    const names = ['d1.example', 'd3.example', 'd12.example', 'd3.example', 'idle.example', 'new']
    const impact = computeImpact(names, profile())
    expect(impact).toEqual({
      requests: 16_000,
      account: 100_000,
      known: 4,
      unknown: 1,
      top: 2,
      countedAt: 489,
    })
    expect(computeImpactShare(impact)).toBeNull()
    expect(formatImpact(impact)).toBe(
      "16.0k requests a day, at least 16 % of the account's; 2 domains of the ten largest; " +
        '+ 1 domain unknown',
    )
  })

  it('has a share only if nothing is unknown, of at most all requests', () => {
    expect(computeImpactShare(computeImpact(['d2.example'], profile()))).toBe(0.02)
    expect(computeImpactShare(computeImpact(['d2.example'], profile({ account: 5 })))).toBe(1)
    expect(computeImpactShare(computeImpact(['idle.example'], profile({ account: 0 })))).toBe(0)
    const unknown = computeImpact(['d2.example'], profile({ account: null }))
    expect(computeImpactShare(unknown)).toBeNull()
    expect(formatImpact(unknown)).toBe("2000 requests a day, an unknown share of the account's")
  })

  it('is not mentioned where nobody uses figures, unless asked for', () => {
    const impact = computeImpact(['d1.example'], noTraffic)
    const hint = 'unknown; "edgewise stats --refresh" counts the requests of the domains'
    expect([formatImpact(impact), formatImpact(impact, true)]).toEqual([null, hint])
    expect(formatImpact(computeImpact(['new'], profile()))).toBe(hint)
    expect(formatImpact(computeImpact([], profile()), true)).toBeNull()
  })

  it('counts no domain without requests among the largest', () => {
    const idle = { requests: 0, bad: 0, at: 1 }
    const domains = new Map(['a', 'b'].map((name) => [name, idle]))
    expect(computeImpact(['a', 'b'], { domains, account: 0, at: 1 }).top).toBe(0)
  })
})

describe('the guard maxTraffic', () => {
  const guards = { order: 'ask' as const, reason: [] }
  const all = { maxDomains: { percent: 100 }, maxChanges: { percent: 100 } }
  const write = buildWrite({ domains: ['d1.example'], items: { timeout: replaceWith({}) } })
  const refuse = (maxTraffic: number, names: string[], figures = profile()) =>
    checkGuards({
      changes: [buildChange()],
      writes: [write],
      guards: { ...guards, ...all, protect: [], freeze: [], maxTraffic },
      fleet: { domains: 20, items: 20 },
      impact: computeImpact(names, figures),
      moved: [],
      allow: [],
      now: 0,
    }).map(({ message }) => message)

  it('refuses a larger share, with the numbers, and --force lifts that', () => {
    const names = ['d12.example', 'd8.example']
    expect(refuse(20, names)).toEqual([])
    expect(refuse(19.5, names)).toEqual([
      "maxTraffic: the domains that would change have 20 % of the account's requests (20000 of " +
        '100000 a day), more than 19.5 %',
    ])
    expect(findLift({ guard: 'maxTraffic', message: '', hint: '' })).toBe('--force')
    expect(refuse(19.5, [...names, 'new'])[0]).toContain('have 20 %')
  })

  it.each([
    [['d1.example', 'new'], profile(), 'the traffic of 1 domain is not known'],
    [['d1.example'], noTraffic, 'the traffic of 1 domain is not known'],
    [['d1.example'], profile({ account: null }), "the account's traffic is not known"],
  ])('refuses %j if a figure is unknown, except with no limit', (names, figures, message) => {
    expect(refuse(99, names, figures)).toEqual([
      `maxTraffic: ${message}; it may be more than 99 % of the account's`,
    ])
    expect(refuse(100, names, figures)).toEqual([])
  })
})
