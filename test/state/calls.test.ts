import { describe, expect, it } from 'vitest'
import {
  buildCalls,
  countUnknownCalls,
  keepElsewhere,
  mergeCalls,
  parseCalls,
  toUptimes,
  type Call,
  type MachineTimes,
} from '../../src/state/format/calls.ts'
import type { Json } from '../../src/core/model/json.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'
import { countEach } from '../service/budget-world.ts'

const here: MachineTimes = { boot: 'boot-1', now: Date.UTC(2026, 10, 20), up: 1_000_000 }

it('a file whose format nests without end has its calls', () => {
  const calls = '[{"at":1,"boot":"b","up":1}]'
  const deep = JSON.parse(
    `{"format":${'['.repeat(100_000)}${']'.repeat(100_000)},"calls":${calls}}`,
  )
  expect(parseCalls(deep as Json).calls).toHaveLength(1)
})

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
  const times = (calls: Call[], at = here) => toUptimes(calls, at).map(({ time }) => time)
  const other = (age: number): Call[] => [{ at: here.now - age, boot: 'boot-2', up: 5 }]

  it('count as made now if their clock is within five minutes of now or in the future', () => {
    for (const age of [0, 61_000, 299_000, -9_000_000]) expect(times(other(age))).toEqual([here.up])
  })

  it('expire otherwise', () => {
    expect(times(other(300_000))).toEqual([])
  })

  it('include calls without a machine', () => {
    const nameless = { ...here, boot: '' }
    const calls = buildCalls(countEach([here.up - 30_000, here.up]), nameless)
    expect(times(calls, nameless)).toEqual([here.up, here.up])
  })

  const elsewhere: MachineTimes = { boot: 'boot-2', now: here.now + 200_000, up: 5_000_000 }
  const save = (...ages: number[]) =>
    buildCalls(countEach(ages.map((age) => elsewhere.up - age)), elsewhere)

  it('keep their distance: the last one counts as made now', () => {
    expect(times(save(70_000, 50_000, 20_000, 1000))).toEqual([
      here.up - 49_000,
      here.up - 19_000,
      here.up,
    ])
  })

  it('count from when this machine has first loaded them, also after they are saved again', () => {
    const saved = keepElsewhere(toUptimes(save(30_000, 0), here), here)
    const later = { ...here, up: here.up + 20_000, now: here.now + 20_000 }
    expect(times(saved, later)).toEqual([here.up - 30_000, here.up])
    const third = { ...later, boot: 'boot-3', up: 7000 }
    expect(times(saved, third)).toEqual([-23_000, 7000])
    expect(times(saved, elsewhere)).toEqual([elsewhere.up - 30_000, elsewhere.up])
    expect(keepElsewhere(toUptimes(saved, later), { ...later, up: here.up + 30_000 })).toEqual([
      expect.objectContaining({ boot: 'boot-2', up: elsewhere.up }),
    ])
  })

  it('in flight count as made now, and say nothing of others', () => {
    const inFlight = save(40_000, 0, -60_000)
    expect(times(inFlight)).toEqual([here.up - 40_000, here.up, here.up])
  })

  itOften('never count too early, whatever both clocks show', () => {
    const ms = fc.integer({ min: 0, max: 70_000 })
    fc.assert(
      fc.property(
        fc.array(ms, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: -4, max: 4 }),
        fc.array(ms, { minLength: 1, maxLength: 3 }),
        (ages, skewMinutes, waits) => {
          const now = { ...elsewhere, now: here.now + skewMinutes * 60_000 }
          let calls = buildCalls(countEach(ages.map((age) => now.up - age)), now)
          let [passed, at] = [0, here]
          for (const wait of waits) {
            passed += wait
            at = { ...here, now: here.now + passed, up: here.up + passed }
            const located = toUptimes(calls, at)
            // True times by the clock of this machine: the calls were saved at `here`.
            const due = ages.map((age) => here.up - age).filter((time) => time > at.up - 60_000)
            expect(located.length).toBeGreaterThanOrEqual(due.length)
            const found = located.slice(-due.length).map(({ time }) => time)
            for (const [i, time] of due.toSorted((a, b) => a - b).entries())
              expect(found[i]).toBeGreaterThanOrEqual(time)
            calls = keepElsewhere(located, at)
          }
        },
      ),
      { numRuns: runs(50, 2000) },
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

  itLong('are merged in linear time', () => {
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

it('unknown calls of an apply that died elsewhere are in flight, as many as may be', () => {
  expect(countUnknownCalls(30, 4, 5000)).toEqual([
    { time: 5000, count: 26 },
    { time: 65_000, count: 4 },
  ])
  expect(countUnknownCalls(2, 4, 5000)).toEqual([{ time: 65_000, count: 2 }])
})
