import { describe, expect, it } from 'vitest'
import { parseTimeSpan } from '../../src/cli/queries/time-span.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'

const now = Date.UTC(2026, 10, 20, 12, 34, 56)

function span(given: Parameters<typeof parseTimeSpan>[0], zone = 'UTC') {
  const { from, to, grain } = parseTimeSpan(given, now, createTimeZone(zone))
  return [...[from, to].map((time) => new Date(time).toISOString().slice(0, 16)), grain]
}

describe('--from and --to', () => {
  it.each<[Parameters<typeof parseTimeSpan>[0], string, string[]]>([
    [{}, 'UTC', ['2026-11-19T12:00', '2026-11-20T12:34', 'hour']],
    [{ from: '2h' }, 'UTC', ['2026-11-20T10:34', '2026-11-20T12:34', 'minute']],
    [{ from: '3h', to: '30m' }, 'UTC', ['2026-11-20T09:30', '2026-11-20T12:04', 'minute5']],
    [{ from: '7d' }, 'UTC', ['2026-11-13T00:00', '2026-11-20T12:34', 'day']],
    [{ from: '7d', grain: 'hour' }, 'UTC', ['2026-11-13T12:00', '2026-11-20T12:34', 'hour']],
    [
      { from: '2026-11-01', to: '2026-11-01' },
      'UTC',
      ['2026-11-01T00:00', '2026-11-02T00:00', 'hour'],
    ],
    [
      { from: '2026-11-01', to: '2026-11-01' },
      'Asia/Shanghai',
      ['2026-10-31T16:00', '2026-11-01T16:00', 'hour'],
    ],
    [
      { from: '2026-11-01 10:02', to: '2026-11-01T12:00', grain: 'minute5' },
      'Asia/Kolkata',
      ['2026-11-01T04:30', '2026-11-01T06:30', 'minute5'],
    ],
    // 25 hours; an hour that occurs twice is the first of the two.
    [
      { from: '2026-10-25', to: '2026-10-25' },
      'Europe/Berlin',
      ['2026-10-24T22:00', '2026-10-25T23:00', 'hour'],
    ],
    [
      { from: '2026-10-25 02:30', to: '2026-10-25 04:00' },
      'Europe/Berlin',
      ['2026-10-25T00:30', '2026-10-25T03:00', 'minute5'],
    ],
    [
      { from: '7d', grain: 'day' },
      'Asia/Shanghai',
      ['2026-11-12T16:00', '2026-11-20T12:34', 'day'],
    ],
  ])('%j in %s', (given, zone, expected) => expect(span(given, zone)).toEqual(expected))

  it.each([
    { from: '2026-11-31' },
    { from: '2026-11-01 24:00' },
    { from: '1h30' },
    { from: '' },
    { to: '2026-11-20 1:00' },
    { from: '0m' },
  ])('%j is refused', (given) => expect(() => span(given)).toThrow(/expected --/))
})
