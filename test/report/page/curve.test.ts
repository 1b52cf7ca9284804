import { describe, expect, it } from 'vitest'
import type { PageCurve, PagePoint } from '../../../src/core/model/page/page-rollout.ts'
import {
  describeCurve,
  formatCurve,
  listSpots,
} from '../../../src/outlets/report/page/format-curve.ts'

const noon = Date.UTC(2026, 10, 20, 12) / 1000
const point = (minute: number, requests: number, bad: number): PagePoint => [
  noon + 60 * minute,
  requests,
  bad,
  requests - bad,
  0,
  0,
  bad,
  0,
]
const curve: PageCurve = {
  statuses: '5xx, 0',
  written: [noon, noon + 30],
  before: [noon - 600, noon],
  after: [noon + 600, noon + 1500],
  seconds: 300,
  baseline: { requests: 3000, bad: 3 },
  points: [
    point(-10, 1000, 1),
    point(-5, 2000, 2),
    point(10, 1000, 20),
    point(15, 0, 0),
    point(20, 40_000, 1),
  ],
}

describe('a curve', () => {
  it('is described in words', () => {
    expect(describeCurve(curve)).toBe(
      'Share of 5xx, 0 over time. Before the wave, 2026-11-20 11:50 to 12:00 UTC: 0.10 %. After ' +
        'it, 2026-11-20 12:10 to 12:25 UTC: between <0.01 % and 2.00 %.',
    )
    const days: PageCurve = { ...curve, after: [noon + 600, noon + 86_400] }
    expect(describeCurve(days)).toContain('After it, 2026-11-20 12:10 to 2026-11-21 12:00 UTC')
    const empty = { ...curve, points: [], baseline: { requests: 0, bad: 0 } }
    expect(describeCurve(empty)).toMatch(/UTC: no requests\. .*UTC: no requests\.$/)
    const one = { ...curve, points: [point(10, 100, 1)] }
    expect(describeCurve(one)).toMatch(/UTC: 1\.00 %\.$/)
  })

  it('breaks between the windows, and where there are no requests', () => {
    const minutes = (line: { time: number }[]) => line.map(({ time }) => (time - noon) / 60)
    expect(listSpots(curve).map(minutes)).toEqual([[-7.5, -2.5], [12.5], [22.5]])
    expect(
      listSpots(curve)
        .flat()
        .map(({ share }) => share),
    ).toEqual([0.1, 0.1, 2, 0.0025])
  })

  it('has no gap at a day that is an hour longer', () => {
    const day = 86_400
    const points = [point(0, 1, 0), point(25 * 60, 1, 0)]
    expect(listSpots({ ...curve, seconds: day, points })).toHaveLength(1)
  })

  it('is drawn with its level, its windows, its times and a table', () => {
    const html = formatCurve(curve)
    const path = (name: string) => new RegExp(`class="${name}" d="([^"]*)"`).exec(html)?.[1]
    // 1 of 1,000 is 4.17 % of an axis up to 2.4 %, from the bottom.
    expect(path('level')).toBe('M0 95.8H1000')
    expect(path('share')).toBe('M71 95.8L214 95.8M643 16.7M929 99.9')
    expect(path('written')).toBe('M285.7 0H300V100H285.7z')
    expect(path('bars')).toContain('M9 100v-1h126v1M151 100v-1h126v1M')
    expect(path('dots')).toBe('M643 16.7h0M929 99.9h0')
    expect(html).toContain('<text x="28.57%" y="164">12:00</text>')
    expect(html).toContain('<span>2.4 %</span><span>1.2 %</span><span>0 %</span>')
    expect(html).toContain('before the wave: 0.10 %')
    expect(html).toContain('<tr><th scope=row>12:15<td>after<td>0<td>0<td>no requests<td>0')
    expect(html).toContain('<td>40,000<td>1<td>&lt;0.01 %<td>39,999<td>0<td>0<td>1<td>0')
  })

  it('has days as dates, and an axis of at least one percent', () => {
    const day = 86_400
    const points = [point(-1440, 100, 0), point(0, 100, 0)]
    const spans = { before: [noon - day, noon], after: [noon, noon + 2 * day] } as const
    const html = formatCurve({
      ...curve,
      before: [...spans.before],
      after: [...spans.after],
      points,
    })
    expect(html).toContain('>11-20</text>')
    expect(html).toContain('<span>1 %</span>')
  })
})
