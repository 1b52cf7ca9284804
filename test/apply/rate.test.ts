import { describe, expect, it } from 'vitest'
import type { Limits } from '../../src/model/outcome.ts'
import { maxPerMinute } from '../service/budget-world.ts'
import { good, World } from './world.ts'

const limit = 30
const minute = 60_000

/** Returns the arrival times at the service of writes that are each answered within 800 ms. */
async function simulateArrivals(writes: number, seed: number): Promise<number[]> {
  const world = new World()
  world.callsPerMinute = limit
  const desired = Array.from({ length: writes }, (_, i) => [
    `d${i}.example.com`,
    { timeout: { time: String(5 + (i % 290)) } },
  ])
  const plan = world.plan(
    Object.fromEntries(desired) as Record<string, Record<string, object>> as never,
    1,
  )
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
  it('is used: 300 writes take at most 1.03 of the minimum time', async () => {
    const times = await simulateArrivals(300, 20_261_121)
    expect(maxPerMinute(times)).toBe(limit)
    // 30 may arrive at once, and so may 30 more each minute.
    const minimumMs = 9 * 60_000
    expect((times.at(-1) ?? Infinity) - (times[0] ?? 0)).toBeLessThanOrEqual(1.03 * minimumMs)
  })

  it('is used to 97 % for 90 writes, in any order of answers', async () => {
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
