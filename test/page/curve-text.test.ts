import { describe, expect, it } from 'vitest'
import type { PageCurve, PagePoint } from '../../src/model/page-rollout.ts'
import {
  computeChartData,
  describeCurve,
  describePoint,
  formatShare,
} from '../../src/page/curve-text.ts'

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
    const { times, shares, requests, positions } = computeChartData(curve)
    expect(times.map((time) => (time - noon) / 60)).toEqual([-7.5, -2.5, 5, 12.5, 17.5, 22.5])
    expect(shares).toEqual([0.1, 0.1, null, 2, null, 0.0025])
    expect(requests).toEqual([1000, 2000, null, 1000, 0, 40_000])
    expect(positions).toEqual([0, 1, null, 2, 3, 4])
  })

  it('has no gap at a day that is an hour longer', () => {
    const day = 86_400
    const points = [point(0, 1, 0), point(25 * 60, 1, 0)]
    expect(computeChartData({ ...curve, seconds: day, points }).shares).toEqual([0, 0])
  })

  it('describes a period', () => {
    expect(describePoint(curve, 2)).toBe('12:10 UTC: 2.00 % of 1,000')
    expect(describePoint(curve, 9)).toBe('')
    const late: PageCurve = { ...curve, after: [noon + 600, noon + 86_400] }
    expect(describePoint(late, 2)).toBe('2026-11-20 12:10 UTC: 2.00 % of 1,000')
    expect([0, 0.004, 0.005, null].map(formatShare)).toEqual([
      '0.00 %',
      '<0.01 %',
      '0.01 %',
      'no requests',
    ])
  })
})
