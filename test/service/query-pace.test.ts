import { describe, expect, it } from 'vitest'
import { QueryPace } from '../../src/service/query/query-pace.ts'
import { FakeClock } from './fake-clock.ts'

describe('the remaining calls by the headers', () => {
  for (const resetMs of [57_000, 301_000]) {
    it(`are updated with each answer, the reset ${resetMs / 1000} s away`, async () => {
      const clock = new FakeClock()
      const waits: number[] = []
      const pace = new QueryPace({ clock, maxWaitMs: 300_000, onWait: (ms) => waits.push(ms) })
      for (let n = 0; n < 2; n++) await pace.acquire()
      // The service had counted the other one already.
      pace.release({ remaining: 1, resetMs })
      const next = pace.acquire()
      await clock.settle()
      const start = clock.time
      pace.release({ remaining: 1, resetMs })
      await clock.drive(next)
      expect(clock.time - start).toBe(0)
      expect(waits).toEqual([])
    })
  }

  it.each(['hour', 'day'] as const)('wait for the end of a used-up %s', async (period) => {
    const clock = new FakeClock()
    const pace = new QueryPace({ clock, maxWaitMs: 300_000 })
    await pace.acquire()
    pace.release({ remaining: 0, resetMs: null, period })
    pace.pause(null)
    const seconds = period === 'hour' ? 3600 : 86_400
    await expect(pace.acquire()).rejects.toThrow(`no more queries for ${seconds} s`)
  })

  it('pauses queries once none is in flight', async () => {
    const clock = new FakeClock()
    const waits: number[] = []
    const pace = new QueryPace({ clock, maxWaitMs: 300_000, onWait: (ms) => waits.push(ms) })
    await pace.acquire()
    pace.release({ remaining: 0, resetMs: 20_000 })
    const start = clock.time
    await clock.drive(pace.acquire())
    expect(clock.time - start).toBe(20_000)
    expect(waits).toEqual([20_000])
    pace.release({ remaining: 0, resetMs: 301_000 })
    await expect(pace.acquire()).rejects.toThrow('the service accepts no more queries for 301 s')
  })
})
