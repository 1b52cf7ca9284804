import { describe, expect, it } from 'vitest'
import {
  buildCalls,
  mergeCalls,
  parseCalls,
  toUptimes,
  type MachineTimes,
} from '../../src/state/format/calls.ts'
import { countEach } from '../service/budget-world.ts'

const here: MachineTimes = { boot: 'boot-1', now: Date.UTC(2026, 10, 20), up: 1_000_000 }

describe('calls of this machine', () => {
  it('keep their times if the wall clock changes', () => {
    const calls = buildCalls(countEach([here.up - 50_000, here.up - 10_000]), here)
    for (const by of [-3_600_000, 0, 3_600_000])
      expect(toUptimes(calls, { ...here, now: here.now + by })).toEqual(
        countEach([here.up - 50_000, here.up - 10_000]),
      )
  })

  it('expire after a minute', () => {
    const calls = buildCalls(countEach([here.up - 60_000, here.up - 59_999]), here)
    expect(toUptimes(calls, here)).toEqual(countEach([here.up - 59_999]))
  })

  it('in flight keep their time in the future', () => {
    const inFlight = countEach([here.up + 60_000])
    expect(toUptimes(buildCalls(inFlight, here), here)).toEqual(inFlight)
  })
})

describe('calls of another machine or an earlier boot', () => {
  const other = (age: number) => [{ at: here.now - age, boot: 'boot-2', up: 5 }]

  it('count as made now if their clock is within five minutes of now or in the future', () => {
    for (const age of [0, 61_000, 299_000, -9_000_000])
      expect(toUptimes(other(age), here)).toEqual(countEach([here.up]))
  })

  it('expire otherwise', () => {
    expect(toUptimes(other(300_000), here)).toEqual([])
  })

  it('include calls without a machine', () => {
    const nameless = { ...here, boot: '' }
    expect(toUptimes(buildCalls(countEach([here.up - 30_000]), nameless), nameless)).toEqual(
      countEach([here.up]),
    )
  })
})

describe('calls in two files', () => {
  const call = (up: number, count?: number) => ({
    at: up,
    boot: 'boot-1',
    up,
    ...(count === undefined ? {} : { count }),
  })

  it('count once if both files have them', () => {
    expect(mergeCalls([call(1), call(1), call(2)], [call(1), call(3)])).toEqual([
      call(1, 2),
      call(2),
      call(3),
    ])
    expect(mergeCalls([call(1, 3)], [call(1, 5)])).toEqual([call(1, 5)])
  })

  it('are merged in linear time', () => {
    const many = Array.from({ length: 50_000 }, (_, i) => call(i))
    expect(mergeCalls(many, many)).toHaveLength(50_000)
  })
})

it('an unreadable file counts as no calls', () => {
  for (const data of [
    undefined,
    null,
    [],
    {},
    { calls: 5 },
    { calls: ['x', null, {}, { at: 1, boot: 'b' }, { at: '1', boot: 'b', up: 1 }] },
  ]) {
    expect(parseCalls(data as never).calls).toEqual([])
  }
})
