import { describe, expect, it } from 'vitest'
import { formatDate, parseDate } from '../../src/core/model/time/http-date.ts'
import { ServiceTime } from '../../src/service/service-time.ts'
import { fc } from '../runs.ts'
import { FakeClock } from './fake-clock.ts'

const noon = Date.UTC(2026, 10, 20, 12)

describe('a Date header', () => {
  it('is parsed as it is formatted, in whole seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (atMs) => {
        expect(parseDate(formatDate(atMs))).toBe(Math.floor(atMs / 1000) * 1000)
      }),
    )
  })

  it.each([null, '', 'yesterday', '2026-11-20T12:00:00Z', 'Fri, 99 Nov 2026 12:00:00 GMT'])(
    'of %j has no time',
    (text) => expect(parseDate(text)).toBeNull(),
  )
})

describe("the service's time", () => {
  it('is unknown before the first Date, then runs by the monotonic clock', () => {
    const clock = new FakeClock()
    const time = new ServiceTime(clock)
    time.observe(null, clock.now())
    expect(time.now()).toBeNull()
    time.observe(formatDate(noon), clock.now())
    clock.time += 5000
    clock.offset = -3_600_000
    expect(time.now()).toBe(noon + 5000)
    time.observe(null, clock.now())
    expect(time.now()).toBe(noon + 5000)
  })

  it.each([
    [60_000, 0, []],
    [61_000, 0, [61_000]],
    [-61_000, 0, [-61_000]],
    // The answer took two minutes: its Date may be of any moment in between.
    [0, 120_000, []],
    [120_000, 120_000, []],
  ])(
    'of a clock that is %i ms ahead at a call of %i ms is reported once, over a minute',
    (ahead, tookMs, reported) => {
      const clock = new FakeClock()
      const skews: number[] = []
      const time = new ServiceTime(clock, (skew) => skews.push(skew))
      for (let call = 0; call < 2; call++) {
        const sentAtMs = clock.now()
        clock.time += tookMs
        time.observe(formatDate(clock.now() - ahead), sentAtMs)
      }
      expect(skews).toEqual(reported)
    },
  )
})
