import { expect, it } from 'vitest'
import { createLiveView } from '../../src/cli/terminal/live-view.ts'
import { measureWidth } from '../../src/report/text/display-width.ts'

const start = Date.UTC(2026, 10, 20, 12)
const waiting = {
  type: 'wave.waiting',
  wave: 10,
  waves: 50,
  domains: 2500,
  until: '2026-11-20T12:12:40.000Z',
  reason: 'health',
} as const
const watched = {
  type: 'wave.watched' as const,
  wave: 10,
  statuses: ['0', '404', '4xx', '5xx'],
  before: { requests: 8000, bad: 990 },
  after: { requests: 8200, bad: 1020 },
}

function drawn(columns: number): string[] {
  const written: string[] = []
  const view = createLiveView(
    (text) => written.push(text),
    () => start,
    columns,
  )
  view.report(waiting)
  view.report(watched)
  view.end()
  view.end()
  return written
}

it.each([40, 80, 200])(
  'the line of a wave that is waited for says how long on %i columns, and leaves nothing behind',
  (columns) => {
    const written = drawn(columns)
    expect(written.at(-1)).toBe('\r\u001b[K')
    expect(written).toHaveLength(3)
    for (const line of written.slice(0, 2)) {
      expect(line.startsWith('\r\u001b[Kwave 10 of 50 · next step in 12:40')).toBe(true)
      expect(measureWidth(line.replace('\r\u001b[K', ''))).toBeLessThan(columns)
    }
  },
)

it('the line shows the shares of both windows where there is room', () => {
  expect(drawn(200)[1]).toBe(
    '\r\u001b[Kwave 10 of 50 · next step in 12:40 · 2500 domains · 0, 404, 4xx, 5xx 12.38 % → 12.44 % of 8200',
  )
})
