import { describe, expect, it } from 'vitest'
import { computeWindows } from '../../src/health/windows.ts'
import { createTimeZone } from '../../src/model/time-zone.ts'

const at = (text: string) => Date.parse(`${text}Z`)
const text = (time: number) => new Date(time).toISOString().slice(0, 16)
const usual = { settle: 300, lag: 600, window: 900, grain: 'minute5' as const }

function windows(
  first: string,
  last: string,
  rule: Parameters<typeof computeWindows>[2] = usual,
  zone = 'UTC',
) {
  const { before, after, readyAt } = computeWindows(at(first), at(last), rule, createTimeZone(zone))
  return [before.from, before.to, after.from, after.to, readyAt].map(text)
}

describe('the windows of a wave', () => {
  it('are whole periods: before its first write, and after it has settled', () => {
    expect(windows('2026-11-20T10:03:20', '2026-11-20T10:04:10')).toEqual([
      '2026-11-20T09:45',
      '2026-11-20T10:00',
      '2026-11-20T10:10',
      '2026-11-20T10:25',
      '2026-11-20T10:35',
    ])
  })

  it('lose nothing where a write stands at the beginning of a period', () => {
    expect(windows('2026-11-20T10:05:00', '2026-11-20T10:05:00')).toEqual([
      '2026-11-20T09:50',
      '2026-11-20T10:05',
      '2026-11-20T10:10',
      '2026-11-20T10:25',
      '2026-11-20T10:35',
    ])
  })

  it('are rounded up to periods, one at least', () => {
    expect(
      windows('2026-11-20T10:03', '2026-11-20T10:03', { ...usual, window: 61, grain: 'minute' }),
    ).toEqual([
      '2026-11-20T10:01',
      '2026-11-20T10:03',
      '2026-11-20T10:08',
      '2026-11-20T10:10',
      '2026-11-20T10:20',
    ])
    expect(windows('2026-11-20T10:03', '2026-11-20T10:03', { ...usual, grain: 'hour' })).toEqual([
      '2026-11-20T09:00',
      '2026-11-20T10:00',
      '2026-11-20T11:00',
      '2026-11-20T12:00',
      '2026-11-20T12:10',
    ])
  })

  it('follow the clock of the zone: hours at half past, days of 25 hours', () => {
    expect(
      windows(
        '2026-11-20T10:03',
        '2026-11-20T10:03',
        { ...usual, grain: 'hour' },
        'Asia/Kolkata',
      ).slice(0, 3),
    ).toEqual(['2026-11-20T08:30', '2026-11-20T09:30', '2026-11-20T10:30'])
    const days = { ...usual, window: 2 * 86_400, grain: 'day' as const }
    expect(windows('2026-10-26T10:00', '2026-10-26T10:00', days, 'Europe/Berlin')).toEqual([
      '2026-10-23T22:00',
      '2026-10-25T23:00',
      '2026-10-26T23:00',
      '2026-10-28T23:00',
      '2026-10-28T23:10',
    ])
  })

  it('never overlap the wave, whatever its times', () => {
    for (let first = 0; first < 3600; first += 37) {
      for (let took = 0; took < 1200; took += 91) {
        const begin = at('2026-11-20T10:00') + first * 1000
        const end = begin + took * 1000
        const { before, after, readyAt } = computeWindows(begin, end, usual, createTimeZone('UTC'))
        expect(before.to).toBeLessThanOrEqual(begin)
        expect(begin - before.to).toBeLessThan(300_000)
        expect(after.from).toBeGreaterThanOrEqual(end + 300_000)
        expect(after.from - end).toBeLessThan(600_000)
        expect([before.to - before.from, after.to - after.from, readyAt - after.to]).toEqual([
          900_000, 900_000, 600_000,
        ])
      }
    }
  })
})
