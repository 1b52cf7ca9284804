import { expect, it } from 'vitest'
import { computeBarColumns, formatBarText } from '../../src/report/apply/bar.ts'
import { fc } from '../runs.ts'

it('the progress bar of an apply and its text fit on a terminal line', () => {
  const counts = fc.record({
    writes: fc.integer({ min: 1, max: 999 }),
    done: fc.nat(998),
    callsPerMinute: fc.integer({ min: 1, max: 60 }),
  })
  fc.assert(
    fc.property(
      counts,
      fc.nat(60),
      fc.constantFrom(80, 120),
      ({ writes, done, callsPerMinute }, left, columns) => {
        const callsLeft = Math.min(left, callsPerMinute)
        const text = formatBarText({
          done: Math.min(done, writes),
          writes,
          callsLeft,
          callsPerMinute,
        })
        expect(computeBarColumns(columns, writes, callsPerMinute) + 1 + text.length).toBeLessThan(
          columns,
        )
      },
    ),
  )
  expect(computeBarColumns(120, 17, 30)).toBe(24)
  expect(formatBarText({ done: 3, writes: 17, callsLeft: 27, callsPerMinute: 30 })).toBe(
    '3/17 writes · 27 calls left this minute · less than a minute left',
  )
})
