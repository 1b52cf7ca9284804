import { describe, expect, it } from 'vitest'
import { computeWindows } from '../../src/core/health/windows.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { itLong } from '../runs.ts'

const parseUtc = (text: string) => Date.parse(`${text}Z`)
const formatUtc = (time: number) => new Date(time).toISOString().slice(0, 16)
const usual = { settle: 300, lag: 600, window: 900, grain: 'minute5' as const }

function listWindowTimes(
  first: string,
  last: string,
  rule: Parameters<typeof computeWindows>[2] = usual,
  zone = 'UTC',
) {
  const { before, after, readyAt } = computeWindows(
    parseUtc(first),
    parseUtc(last),
    rule,
    createTimeZone(zone),
  )
  return [before.from, before.to, after.from, after.to, readyAt].map(formatUtc)
}

describe('computeWindows', () => {
  it('gives whole periods: before the first write, and after the wave has settled', () => {
    expect(listWindowTimes('2026-11-20T10:03:20', '2026-11-20T10:04:10')).toEqual([
      '2026-11-20T09:45',
      '2026-11-20T10:00',
      '2026-11-20T10:10',
      '2026-11-20T10:25',
      '2026-11-20T10:35',
    ])
  })

  it('loses no period if a write is at the beginning of one', () => {
    expect(listWindowTimes('2026-11-20T10:05:00', '2026-11-20T10:05:00')).toEqual([
      '2026-11-20T09:50',
      '2026-11-20T10:05',
      '2026-11-20T10:10',
      '2026-11-20T10:25',
      '2026-11-20T10:35',
    ])
  })

  it('rounds up to whole periods, at least one', () => {
    expect(
      listWindowTimes('2026-11-20T10:03', '2026-11-20T10:03', {
        ...usual,
        window: 61,
        grain: 'minute',
      }),
    ).toEqual([
      '2026-11-20T10:01',
      '2026-11-20T10:03',
      '2026-11-20T10:08',
      '2026-11-20T10:10',
      '2026-11-20T10:20',
    ])
    expect(
      listWindowTimes('2026-11-20T10:03', '2026-11-20T10:03', { ...usual, grain: 'hour' }),
    ).toEqual([
      '2026-11-20T09:00',
      '2026-11-20T10:00',
      '2026-11-20T11:00',
      '2026-11-20T12:00',
      '2026-11-20T12:10',
    ])
  })

  it('uses the time zone: offsets of half an hour, days of 25 hours', () => {
    expect(
      listWindowTimes(
        '2026-11-20T10:03',
        '2026-11-20T10:03',
        { ...usual, grain: 'hour' },
        'Asia/Kolkata',
      ).slice(0, 3),
    ).toEqual(['2026-11-20T08:30', '2026-11-20T09:30', '2026-11-20T10:30'])
    const days = { ...usual, window: 2 * 86_400, grain: 'day' as const }
    expect(listWindowTimes('2026-10-26T10:00', '2026-10-26T10:00', days, 'Europe/Berlin')).toEqual([
      '2026-10-23T22:00',
      '2026-10-25T23:00',
      '2026-10-26T23:00',
      '2026-10-28T23:00',
      '2026-10-28T23:10',
    ])
  })

  itLong('never overlaps the wave, for any instants', () => {
    for (let first = 0; first < 3600; first += 37) {
      for (let took = 0; took < 1200; took += 91) {
        const begin = parseUtc('2026-11-20T10:00') + first * 1000
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
