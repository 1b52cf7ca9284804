import { describe, expect, it } from 'vitest'
import { parseFreezeTime, isFrozen } from '../../src/core/model/time/freeze.ts'

const window = (from: string, to: string, timezone = 'UTC') => ({ from, to, timezone, reason: '' })
const frozen = (from: string, to: string, timezone: string, now: string) =>
  isFrozen(window(from, to, timezone), Date.parse(now))

describe('parseFreezeTime', () => {
  it.each([
    ['Mon 00:00', { kind: 'weekly', at: 0 }],
    ['sun 23:59', { kind: 'weekly', at: 7 * 24 * 60 - 1 }],
    ['2026-12-20', { kind: 'date', at: Date.parse('2026-12-20T00:00Z') }],
    ['2026-12-20 18:00', { kind: 'date', at: Date.parse('2026-12-20T18:00Z') }],
    ['2026-12-20T18:00+02:00', { kind: 'instant', at: Date.parse('2026-12-20T16:00Z') }],
    ['2024-02-29', { kind: 'date', at: Date.parse('2024-02-29T00:00Z') }],
  ])('reads %s', (text, time) => {
    expect(parseFreezeTime(text)).toEqual(time)
  })

  it.each([
    '',
    'Fri',
    'Fri 24:00',
    'Fri 16:60',
    'Fri 9:00',
    'Friday 16:00',
    '2026-02-30',
    '2026-13-01',
    '2026-12-20T25:00',
    '16:00',
  ])('takes %j for no time', (text) => {
    expect(parseFreezeTime(text)).toBeNull()
  })
})

describe('isFrozen', () => {
  it.each([
    // 2026-11-20 is a Friday.
    ['Fri 16:00', 'Mon 08:00', '2026-11-20T15:59:59Z', false],
    ['Fri 16:00', 'Mon 08:00', '2026-11-20T16:00:00Z', true],
    ['Fri 16:00', 'Mon 08:00', '2026-11-22T23:59:59Z', true],
    ['Fri 16:00', 'Mon 08:00', '2026-11-23T00:00:00Z', true],
    ['Fri 16:00', 'Mon 08:00', '2026-11-23T07:59:59Z', true],
    ['Fri 16:00', 'Mon 08:00', '2026-11-23T08:00:00Z', false],
    ['Tue 09:00', 'Tue 17:00', '2026-11-24T12:00:00Z', true],
    ['Tue 09:00', 'Tue 17:00', '2026-11-25T12:00:00Z', false],
    ['2026-12-20', '2027-01-02', '2026-12-19T23:59:59Z', false],
    ['2026-12-20', '2027-01-02', '2026-12-20T00:00:00Z', true],
    ['2026-12-20', '2027-01-02', '2027-01-02T00:00:00Z', false],
  ])('%s to %s covers %s: %j', (from, to, now, expected) => {
    expect(frozen(from, to, 'UTC', now)).toBe(expected)
  })

  it('uses the clock of its time zone, in summer and winter', () => {
    expect(frozen('Fri 16:00', 'Mon 08:00', 'Europe/Berlin', '2026-11-20T15:00:00Z')).toBe(true)
    expect(frozen('Fri 16:00', 'Mon 08:00', 'Europe/Berlin', '2026-11-20T14:59:59Z')).toBe(false)
    expect(frozen('Fri 16:00', 'Mon 08:00', 'Europe/Berlin', '2026-07-17T14:00:00Z')).toBe(true)
    expect(frozen('Fri 16:00', 'Mon 08:00', 'Asia/Shanghai', '2026-11-20T08:00:00Z')).toBe(true)
    expect(frozen('2026-12-20', '2026-12-21', 'Asia/Shanghai', '2026-12-19T16:00:00Z')).toBe(true)
  })

  it('treats a time with an offset as a moment in any time zone', () => {
    const [from, to] = ['2026-12-20T18:00+02:00', '2026-12-20T17:00Z']
    for (const zone of ['UTC', 'Asia/Shanghai']) {
      expect(frozen(from, to, zone, '2026-12-20T16:30:00Z')).toBe(true)
      expect(frozen(from, to, zone, '2026-12-20T17:00:00Z')).toBe(false)
    }
  })

  it('throws for windows that are invalid in the workspace file', () => {
    expect(() => isFrozen(window('Fri 16:00', '2026-12-20'), 0)).toThrow(
      'expected two weekly times or two dates',
    )
    expect(() => isFrozen(window('x', 'y'), 0)).toThrow('expected two weekly times')
  })
})
