import { describe, expect, it } from 'vitest'
import { ReadPace } from '../../src/service/query/query-pace.ts'
import { FakeClock } from './fake-clock.ts'

describe('what the service says remains', () => {
  for (const resetMs of [57_000, 301_000]) {
    it(`is looked at again with each answer, the reset ${resetMs / 1000} s away`, async () => {
      const clock = new FakeClock()
      const told: number[] = []
      const pace = new ReadPace(clock, 300_000, (ms) => told.push(ms))
      for (let n = 0; n < 2; n++) await pace.take()
      // The other one had arrived as well when the service counted.
      pace.give({ remaining: 1, resetMs })
      const next = pace.take()
      await clock.settle()
      const start = clock.time
      pace.give({ remaining: 1, resetMs })
      await clock.drive(next)
      expect(clock.time - start).toBe(0)
      expect(told).toEqual([])
    })
  }

  it('holds once nothing is under way', async () => {
    const clock = new FakeClock()
    const told: number[] = []
    const pace = new ReadPace(clock, 300_000, (ms) => told.push(ms))
    await pace.take()
    pace.give({ remaining: 0, resetMs: 20_000 })
    const start = clock.time
    await clock.drive(pace.take())
    expect(clock.time - start).toBe(20_000)
    expect(told).toEqual([20_000])
    pace.give({ remaining: 0, resetMs: 301_000 })
    await expect(pace.take()).rejects.toThrow('the service lets no more reads through for 301 s')
  })
})
