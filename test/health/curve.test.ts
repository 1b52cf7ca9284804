import { describe, expect, it } from 'vitest'
import { computePeriodsPerPoint, createCurve } from '../../src/core/health/curve.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'

const minute = 60_000
const from = Date.UTC(2026, 10, 20, 12)
const utc = createTimeZone('UTC')
const rule = { grain: 'minute5' as const, statuses: ['502', '0', '404'] }
const window = { from, to: from + 15 * minute }

describe('the curve of a wave', () => {
  it('sums all domains by period, by class and by what the rule counts as bad', () => {
    const curve = createCurve(window, 1, rule, utc)
    const second = from + 5 * minute
    curve.add([
      { time: from, counts: { 200: 10, 204: 1, 301: 2, 404: 3, 410: 4, 502: 5, 503: 6, 0: 7 } },
      { time: second, counts: { 200: 20 } },
    ])
    curve.add([{ time: second, counts: { 200: 1, 101: 2, 2: 4 } }])
    expect(curve.list()).toEqual([
      {
        time: from,
        requests: 38,
        bad: 15,
        '2xx': 11,
        '3xx': 2,
        '4xx': 7,
        '5xx': 11,
        other: 7,
      },
      { time: second, requests: 27, bad: 0, '2xx': 21, '3xx': 0, '4xx': 0, '5xx': 0, other: 6 },
      {
        time: from + 10 * minute,
        requests: 0,
        bad: 0,
        '2xx': 0,
        '3xx': 0,
        '4xx': 0,
        '5xx': 0,
        other: 0,
      },
    ])
  })

  it('has the days of its time zone, also where one has 23 hours', () => {
    const berlin = createTimeZone('Europe/Berlin')
    const day = (date: string, offset: string) => Date.parse(`${date}T00:00:00${offset}`)
    const days = [day('2026-03-28', '+01:00'), day('2026-03-29', '+01:00')]
    const end = day('2026-03-30', '+02:00')
    const about = { ...rule, grain: 'day' as const }
    const curve = createCurve({ from: days[0] ?? 0, to: end }, 1, about, berlin)
    expect(curve.list().map(({ time }) => time)).toEqual(days)
  })

  it('joins neighbours where there are more periods than a chart shows', () => {
    const week = { from, to: from + 7 * 24 * 60 * minute }
    const count = computePeriodsPerPoint(week, 'minute5')
    expect([computePeriodsPerPoint(window, 'minute5'), count]).toEqual([1, 17])
    const curve = createCurve(week, count, rule, utc)
    for (let time = week.from; time < week.to; time += 5 * minute)
      curve.add([{ time, counts: { 200: 2, 502: 1 } }])
    const points = curve.list()
    expect(points).toHaveLength(Math.ceil((7 * 24 * 12) / 17))
    expect(points[1]).toMatchObject({ time: from + 17 * 5 * minute, requests: 51, bad: 17 })
    expect(points.reduce((sum, { requests }) => sum + requests, 0)).toBe(7 * 24 * 12 * 3)
  })
})
