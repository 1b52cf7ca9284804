import { expect, it } from 'vitest'
import { formatEnd } from '../../src/core/model/text/words.ts'
import { formatLiveLine } from '../../src/outlets/report/apply/rollout-text.ts'
import { measureWidth } from '../../src/outlets/report/text/display-width.ts'

const start = Date.UTC(2026, 10, 20, 12)
const waiting = {
  type: 'wave.waiting',
  time: '2026-11-20T12:00:00.000Z',
  wave: 2,
  waves: 4,
  domains: 2500,
  until: '2026-11-20T12:12:40.000Z',
  reason: 'health',
} as const
const until = formatEnd(Date.parse(waiting.until), 0)

it('the live line of a waiting wave shows the end of the wait, and the time left', () => {
  expect(formatLiveLine({ waiting, watched: null }, start)).toBe(
    `wave 2/4 · health until ${until} (12:40 left) · 2,500 domains`,
  )
  const pause = { ...waiting, reason: 'pause' } as const
  expect(formatLiveLine({ waiting: pause, watched: null }, start + 1e9)).toBe(
    `wave 2/4 · pause until ${until} (0:00 left) · 2,500 domains`,
  )
})

it('the live line shows the error shares of both windows on 80 columns', () => {
  const watched = {
    type: 'wave.watched' as const,
    time: waiting.time,
    wave: 2,
    statuses: ['5xx'],
    before: { requests: 8000, bad: 990 },
    after: { requests: 8200, bad: 1020 },
  }
  const line = formatLiveLine({ waiting, watched }, start)
  expect(line).toBe(`wave 2/4 · health until ${until} (12:40 left) · 5xx 12.38 % → 12.44 % of 8200`)
  expect(measureWidth(line)).toBeLessThan(80)
})
