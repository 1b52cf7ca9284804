import { describe, expect, it } from 'vitest'
import type { Write } from '../../src/core/model/change.ts'
import type { HealthConfig } from '../../src/core/model/config.ts'
import { computeTimes, type Pacing } from '../../src/core/plan/plan-times.ts'

/** Creates writes of waves with so many writes each. */
const createWrites = (...counts: number[]): Write[] =>
  counts.flatMap((count, i) =>
    Array.from({ length: count }, (_, n) => ({ id: n, wave: i + 1, domains: [], items: {} })),
  )
const total = (counts: number[], pacing: Partial<Pacing> = {}) =>
  computeTimes(createWrites(...counts), { callsPerMinute: 30, ...pacing }).total
const health: HealthConfig = {
  area: 'all',
  settle: 300,
  lag: 600,
  window: 900,
  grain: 'minute5',
  statuses: ['5xx'],
  minRequests: 500,
  margin: 1,
  onLittleData: 'wait',
  onFailure: 'stop',
  after: 3600,
}

describe('the times of the writes of a plan', () => {
  it('are those of the total time, with the wait after each wave, longest after the first', () => {
    const writes = createWrites(1, 31, 2)
    const pacing = { callsPerMinute: 30, rollout: { pause: 600, health } }
    const times = computeTimes(writes, pacing)
    expect(times.waves).toEqual([
      { wave: 1, from: 0, to: 0, waitSeconds: 2700 },
      { wave: 2, from: 2700, to: 2760, waitSeconds: 1800 },
      { wave: 3, from: 4560, to: 4560, waitSeconds: 1800 },
    ])
    expect([times.writes[0], times.writes[1], times.writes[31], times.writes[33]]).toEqual([
      0, 2700, 2760, 4560,
    ])
    expect(times.total).toBe(4560 + 1800)
  })

  it('are in the order of the writes, also if the waves are not', () => {
    const [first, second] = createWrites(1, 1)
    const writes = [second, first].flatMap((write) => write ?? [])
    const { waves } = computeTimes(writes, { callsPerMinute: 1 })
    expect(waves.map(({ wave, from }) => [wave, from])).toEqual([
      [2, 0],
      [1, 60],
    ])
    expect(computeTimes([], { callsPerMinute: 1 })).toEqual({ writes: [], waves: [], total: 0 })
  })
})

describe('the total time of a plan', () => {
  it('is that of the call rate without bursts and waves', () => {
    expect([0, 1, 30, 31, 60, 61].map((count) => total([count]))).toEqual([0, 0, 0, 60, 60, 120])
  })

  it('has the time of bursts', () => {
    const burst = { calls: 24, seconds: 2 }
    // Within a minute the call rate, which allows more, adds nothing.
    expect([24, 25, 30, 31, 54, 55].map((count) => total([count], { burst }))).toEqual([
      0, 2, 2, 60, 60, 62,
    ])
    expect(total([49], { callsPerMinute: 1000, burst })).toBe(4)
  })

  it('has a pause between waves', () => {
    expect(total([1, 2, 3], { rollout: { pause: 600, health: null } })).toBe(1200)
    expect(total([1], { rollout: { pause: 600, health: null } })).toBe(0)
    expect(total([], { rollout: { pause: 600, health } })).toBe(0)
  })

  it('sends a wave at once if the call rate has recovered during the pause', () => {
    expect(total([20, 20], { rollout: { pause: 600, health: null } })).toBe(600)
    expect(total([31, 20], { rollout: { pause: 600, health: null } })).toBe(660)
    expect(total([20, 20], { rollout: { pause: 10, health: null } })).toBe(60)
  })

  it('has a health check for each wave, during which the pause runs', () => {
    expect(total([1, 1, 1], { rollout: { pause: 600, health } })).toBe(3 * 1800 + 900)
    expect(total([1, 1, 1], { rollout: { pause: 3600, health } })).toBe(2 * 3600 + 1800)
    const hourly: HealthConfig = { ...health, grain: 'hour' }
    expect(total([1], { rollout: { pause: 0, health: hourly } })).toBe(300 + 3600 + 600)
  })
})
