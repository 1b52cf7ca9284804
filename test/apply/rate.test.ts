import { describe, expect, it } from 'vitest'
import type { Limits, Outcome } from '../../src/core/model/outcome.ts'
import { maxPerMinute } from '../service/budget-world.ts'
import { good, World } from './world.ts'
import { itLong } from '../runs.ts'

const limit = 30
const minute = 60_000

/** Returns the arrival times at the service of writes that are each answered within 800 ms. */
async function simulateArrivals(writes: number, seed: number): Promise<number[]> {
  const world = new World()
  world.callsPerMinute = limit
  const plan = world.planEach(writes)
  expect(plan.writes).toHaveLength(writes)
  let drawn = seed
  const latency = () => ((drawn = (drawn * 48_271) % 2_147_483_647) / 2_147_483_647) * 800
  const arrived: number[] = []
  const result = await world.apply(plan, () => {
    const ms = latency()
    const now = world.clock.time + ms / 2
    arrived.push(now)
    return { outcome: { ...good, limits: buildLimits(arrived, now) }, ms }
  })
  expect(result.confirmed).toBe(writes)
  return arrived.toSorted((a, b) => a - b)
}

/**
 * Returns the limits in the headers of a call that arrived at `now`. They are evaluated with the
 * answer, when all earlier arrivals are known.
 */
function buildLimits(arrived: number[], now: number): Limits {
  const counted = () => arrived.filter((time) => time <= now && time > now - minute)
  return {
    get remaining() {
      return Math.max(0, limit - counted().length)
    },
    get resetMs() {
      return 1000 * Math.ceil((Math.min(...counted()) + minute - now) / 1000)
    },
  }
}

describe('the call rate', () => {
  itLong('is used: 300 writes take at most 1.03 of the minimum time', async () => {
    const times = await simulateArrivals(300, 20_261_121)
    expect(maxPerMinute(times)).toBe(limit)
    // 30 may arrive at once, and so may 30 more each minute.
    const minimumMs = 9 * 60_000
    expect((times.at(-1) ?? Infinity) - (times[0] ?? 0)).toBeLessThanOrEqual(1.03 * minimumMs)
  })

  itLong('is used to 97 % for 90 writes, in any order of answers', async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const times = await simulateArrivals(3 * limit, seed * 48_271)
      expect(maxPerMinute(times)).toBe(limit)
      const [first = 0, thirtieth = 0] = [times[0], times[limit - 1]]
      const possible = thirtieth - first + 2 * minute
      expect(
        possible / ((times.at(-1) ?? Infinity) - first),
        `seed ${seed}`,
      ).toBeGreaterThanOrEqual(0.97)
    }
  })

  it('allows the first 30 at once, as fast as four at a time are answered', async () => {
    const times = await simulateArrivals(limit, 20_261_121)
    expect((times.at(-1) ?? Infinity) - (times[0] ?? 0)).toBeLessThanOrEqual((limit / 4) * 800)
  })
})

describe('a wait for the call budget that exceeds limits.maxWaitSeconds', () => {
  const at = (world: World, ms: number) =>
    new Date(world.clock.now() + ms).toTimeString().slice(0, 8)

  it.each([
    ['calls of this minute', -10_000, 50_000, ''],
    ['calls of an apply that died', 40_000, 100_000, ': calls of an apply that died may still '],
  ])('names its end, and the reason: %s', async (_what, time, waitMs, reason) => {
    const world = new World()
    world.callsPerMinute = 1
    world.maxWaitMs = 30_000
    world.earlierCalls = [{ time: world.clock.monotonic() + time, count: 1 }]
    const end = at(world, waitMs)
    const { stopped } = await world.apply(world.plan({ 'a.example.com': { timeout: { time: 5 } } }))
    expect(stopped).toContain(
      `the call budget allows the next call at ${end}, later than limits.maxWaitSeconds${reason}`,
    )
    expect(stopped?.includes('died')).toBe(reason !== '')
  })
})

describe('an hour or a day whose calls are used up', () => {
  const hour = 3_600_000
  const answer = (limits: Limits): Outcome => ({ ...good, limits }) as Outcome
  const full: [string, Limits, string][] = [
    ['day', { remaining: 0, resetMs: 5 * hour, period: 'day' }, 'resets at '],
    [
      'hour',
      { remaining: 0, resetMs: 301_000, period: 'hour' },
      'later than limits.maxWaitSeconds',
    ],
    ['hour', { remaining: 0, resetMs: null, period: 'hour' }, 'within an hour: it did not report'],
    ['day', { remaining: 0, resetMs: null, period: 'day' }, 'within a day: it did not report when'],
  ]

  it.each(full)('ends the sending at once: %s, %o', async (period, limits, text) => {
    const world = new World()
    const start = world.clock.now()
    // An answer for a minute does not replace the limit of the day.
    const answers = [answer(limits), answer({ remaining: 20, resetMs: 9000 })]
    const result = await world.apply(world.planEach(12), (call) => ({
      outcome: answers[call] ?? good,
      ms: 100 + call,
    }))
    // Four calls may be in flight at the same time.
    expect(result).toMatchObject({ confirmed: 4, notSent: 8 })
    expect(result.stopped).toContain(`the service allows no more calls in this ${period}; its`)
    expect(result.stopped).toContain(text)
    expect([world.calls.length, world.clock.now() - start]).toEqual([4, 103])
  })

  it.each(full)('ends it after a refusal for the rate: %s, %o', async (period, limits, text) => {
    const world = new World()
    const result = await world.apply(world.planEach(6), () => ({
      outcome: { kind: 'throttled', message: 'slow', retryAfterMs: limits.resetMs, limits },
    }))
    expect(result).toMatchObject({ confirmed: 0, notSent: 6 })
    expect(result.stopped).toMatch(`slow (the service allows no more calls in this ${period}; its`)
    expect(result.stopped).toContain(text)
    expect(world.calls.length).toBeLessThanOrEqual(4)
  })

  it('is waited for within limits.maxWaitSeconds', async () => {
    const world = new World()
    const start = world.clock.now()
    const result = await world.apply(world.planEach(12), (call) => ({
      outcome: call === 0 ? answer({ remaining: 0, resetMs: 200_000, period: 'hour' }) : good,
    }))
    expect([result.confirmed, result.stopped]).toEqual([12, null])
    expect(world.clock.now() - start).toBe(200_300)
    expect(world.events).toContainEqual(
      expect.objectContaining({
        type: 'write.waiting',
        message: 'the call budget is used up: the service allows no more calls in this hour',
      }),
    )
  })

  it('with calls left limits to those', async () => {
    const world = new World()
    let left = 7
    const result = await world.apply(world.planEach(12), () => ({
      outcome: answer({ remaining: --left, resetMs: hour, period: 'hour' }),
      ms: 10,
    }))
    expect([result.confirmed, world.calls.length]).toEqual([7, 7])
  })
})
