// @module-tag nightly
import { describe, expect, it } from 'vitest'
import type { WaitingProcess } from '../../src/core/model/call-ledger.ts'
import { findClaims } from '../../src/service/write/other-processes.ts'
import { fc, long } from '../runs.ts'
import { maxPerMinute } from './budget-world.ts'
import { computeRateShare, countBetween, simulateSharing } from './shared-world.ts'

const now = 1_000_000
const minute = 60_000
const build = (used: number, more: Partial<WaitingProcess> = {}): WaitingProcess => ({
  used,
  wanted: 4,
  from: now,
  until: now + 5000,
  ...more,
})
const countClaims = (used: number, waiting: WaitingProcess[]) =>
  findClaims(used, waiting, now).reduce((sum, { count }) => sum + count, 0)

describe('the claims of others', () => {
  it.each<[string, number, WaitingProcess[], number]>([
    ['nobody waits', 20, [], 0],
    ['a poorer one waits', 20, [build(10)], 4],
    ['it wants one call', 20, [build(10, { wanted: 1 })], 1],
    ['it is almost as rich: only until it is', 12, [build(10)], 2],
    ['it has as many', 10, [build(10)], 0],
    ['it has more', 10, [build(11)], 0],
    ['several wait', 20, [build(10), build(19), build(20), build(30)], 5],
    ['it is gone', 20, [build(10, { until: now })], 0],
    ['it may call soon', 20, [build(10, { from: now + 2000 })], 4],
    ['it may not call yet, by a limit of its own', 20, [build(10, { from: now + 2001 })], 0],
  ])('if %s', (_what, used, waiting, expected) => {
    expect(countClaims(used, waiting)).toBe(expected)
  })

  it('end when the others count as gone', () => {
    expect(findClaims(20, [build(10)], now)).toEqual([{ time: now + 5000, count: 4 }])
  })

  it('never keep the poorest from a free call, and never claim more than equal shares', () => {
    const processes = fc.array(
      fc.record({ used: fc.nat(30), wanted: fc.integer({ min: 1, max: 4 }) }),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    fc.assert(
      fc.property(processes, (all) => {
        const poorest = Math.min(...all.map(({ used }) => used))
        for (const [i, { used }] of all.entries()) {
          const others = all.filter((_, j) => j !== i).map((each) => build(each.used, each))
          const claimed = countClaims(used, others)
          if (used === poorest) expect(claimed).toBe(0)
          const shares = others.map((each) => Math.max(0, used - each.used))
          expect(claimed).toBeLessThanOrEqual(shares.reduce((a, b) => a + b, 0))
        }
      }),
    )
  })
})

const endless = { callMs: 400, calls: 1e6 }
const share = (trips: number[], minutes = 6) =>
  simulateSharing(
    trips.map((tripMs) => ({ ...endless, tripMs })),
    minutes * minute,
  )
const countLast = (arrivals: number[][], from: number, to: number) =>
  arrivals.map((each) => countBetween(each, from * minute, to * minute))

describe.runIf(long)('processes with one call rate', { tags: 'often' }, () => {
  it.each([
    [[1], 0.99],
    [[1, 1], 0.99],
    [[1, 20, 40], 0.98],
    [[1, 5, 20, 40], 0.98],
    [[1, 50, 100], 0.97],
    [[1, 2, 3, 4, 5, 6, 7, 8], 0.98],
  ])(
    'with round trips of %j ms use %d of the possible rate, in equal shares',
    async (trips, min) => {
      const run = await share(trips)
      expect(maxPerMinute(run.arrivals.flat().toSorted((a, b) => a - b))).toBe(30)
      expect(computeRateShare(run)).toBeGreaterThanOrEqual(min)
      const shares = countLast(run.arrivals, 3, 6)
      const even = shares.reduce((a, b) => a + b) / trips.length
      for (const each of shares) expect(Math.abs(each - even)).toBeLessThanOrEqual(1 + even * 0.1)
    },
  )

  it('share with one that came later and is two hundred times as far away', async () => {
    const { arrivals } = await simulateSharing(
      [
        { ...endless, tripMs: 1 },
        { ...endless, tripMs: 200, startMs: 20_000 },
      ],
      6 * minute,
    )
    const [near = 0, far = 0] = countLast(arrivals, 4, 6)
    expect(countLast(arrivals, 0, 1)).toEqual([30, 0])
    expect(Math.abs(near - far)).toBeLessThanOrEqual(3)
  })

  it('lose seconds to one that was killed, and to one that needs nothing more', async () => {
    const killed = await simulateSharing(
      [
        { ...endless, tripMs: 1, killedMs: 130_000 },
        { ...endless, tripMs: 20 },
      ],
      6 * minute,
    )
    const done = await simulateSharing(
      [
        { ...endless, tripMs: 1 },
        { ...endless, tripMs: 20, calls: 25 },
      ],
      6 * minute,
    )
    for (const run of [killed, done])
      expect(maxPerMinute(run.arrivals.flat().toSorted((a, b) => a - b))).toBe(30)
    // Calls in flight of the killed one count for longer: the others have 30 again after that.
    expect(countLast(killed.arrivals, 4, 6)).toEqual([0, 60])
    expect(countLast(done.arrivals, 2, 6)).toEqual([120, 0])
    expect(computeRateShare(done)).toBeGreaterThanOrEqual(0.97)
  })

  it('of which one ends cost the others almost nothing', async () => {
    const run = await simulateSharing(
      [1, 5, 20].map((tripMs) => ({ ...endless, tripMs, calls: 30 })),
      6 * minute,
    )
    expect(run.arrivals.map((each) => each.length)).toEqual([30, 30, 30])
    expect(computeRateShare(run)).toBeGreaterThanOrEqual(0.98)
  })

  it('are not kept by one that may not call yet, by a limit of its own', async () => {
    const run = await simulateSharing(
      [
        { ...endless, tripMs: 1 },
        { ...endless, tripMs: 1, callsPerMinute: 5 },
      ],
      6 * minute,
    )
    expect(computeRateShare(run)).toBeGreaterThanOrEqual(0.97)
  })

  it('share a burst limit', async () => {
    const burst = { calls: 1, windowMs: 2000 }
    const { arrivals } = await simulateSharing(
      [1, 100].map((tripMs) => ({ ...endless, tripMs, burst })),
      4 * minute,
    )
    const [near = 0, far = 0] = countLast(arrivals, 1, 4)
    expect(Math.abs(near - far)).toBeLessThanOrEqual(3)
  })

  it('ask the database about once a second each while they wait', async () => {
    const { transactions } = await share([1, 20], 5)
    expect(transactions).toBeLessThan(2 * 5 * 60 * 2.5)
  })
})
