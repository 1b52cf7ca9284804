import { describe, expect, it } from 'vitest'
import { mostInAMinute } from '../service/budget-world.ts'
import { good, World } from './world.ts'

const limit = 30

/** Applies so many writes, each answered after up to 800 ms, and tells when they arrived at the service. */
async function arrivals(writes: number): Promise<number[]> {
  const world = new World()
  world.callsPerMinute = limit
  const desired = Array.from({ length: writes }, (_, i) => [`d${i}.example.com`, { timeout: { time: String(5 + (i % 290)) } }])
  const plan = world.plan(Object.fromEntries(desired) as Record<string, Record<string, object>> as never, 1)
  expect(plan.writes).toHaveLength(writes)
  let drawn = 20_261_121
  const latency = () => ((drawn = (drawn * 48_271) % 2_147_483_647) / 2_147_483_647) * 800
  const travelled: number[] = []
  const result = await world.apply(plan, () => {
    const ms = latency()
    travelled.push(ms / 2)
    return { outcome: good, ms }
  })
  expect(result.confirmed).toBe(writes)
  return world.calls.map((call, i) => call.at + (travelled[i] ?? 0)).toSorted((a, b) => a - b)
}

describe('the call rate', () => {
  it('is used: 300 writes take no more than 1.03 of the least possible time, and no minute sees more than it may', async () => {
    const times = await arrivals(300)
    expect(mostInAMinute(times)).toBe(limit)
    // 30 may arrive at once, and so may 30 more each minute.
    const least = 9 * 60_000
    expect((times.at(-1) ?? Infinity) - (times[0] ?? 0)).toBeLessThanOrEqual(1.03 * least)
  })

  it('lets the first 30 go at once, as fast as four at a time are answered', async () => {
    const times = await arrivals(limit)
    expect((times.at(-1) ?? Infinity) - (times[0] ?? 0)).toBeLessThanOrEqual((limit / 4) * 800)
  })
})
