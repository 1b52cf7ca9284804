import { describe, expect, it } from 'vitest'
import { alignDown, grains, type Grain, type Point } from '../../src/core/model/statistics.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { buildLocalWindow, splitQuestion } from '../../src/service/query/split-question.ts'
import { createTestClient, collectEach, collectTogether } from './query-world.ts'
import { createLimitedService, computeUnlimited, type Choice } from './unlimited-service.ts'
import { fc, itLong, runs } from '../runs.ts'

const dayMs = 86_400_000
const utc = createTimeZone('UTC')
const at = (text: string) => Date.parse(`${text}Z`)

/** Zones, and moments near their clock changes (or without one). */
const changes: [zone: string, near: string][] = [
  ['UTC', '2026-03-01T00:00'],
  ['Asia/Shanghai', '2026-05-01T00:00'],
  ['Asia/Kolkata', '2026-05-01T00:00'],
  ['Europe/Berlin', '2026-03-29T01:00'],
  ['Europe/Berlin', '2026-10-25T01:00'],
  ['America/New_York', '2026-11-01T06:00'],
  // Midnight occurs twice, and midnight is skipped.
  ['America/Havana', '2026-11-01T05:00'],
  ['Africa/Cairo', '2026-04-23T22:00'],
  // A change by half an hour.
  ['Australia/Lord_Howe', '2026-04-04T15:00'],
]
const longest: Record<Grain, number> = { minute: 2.3, minute5: 34, hour: 70, day: 100 }

const questions = fc
  .record({
    change: fc.constantFrom(...changes),
    grain: fc.constantFrom(...grains),
    before: fc.integer({ min: 0, max: 10_000 }),
    length: fc.integer({ min: 1, max: 10_000 }),
    domains: fc.constantFrom(1, 2, 3, 4, 11, 22),
    choice: fc.constantFrom<Choice[]>('first', 'last'),
    labels: fc.constantFrom<('start' | 'end')[]>('start', 'end'),
    area: fc.constantFrom<('cn' | 'abroad' | undefined)[]>('cn', 'abroad', undefined),
  })
  .filter(({ change: [zone], grain }) => !(zone === 'Australia/Lord_Howe' && grain === 'hour'))
  .map(({ change: [name, near], grain, before, length, domains, choice, labels, area }) => {
    // Spans to the minute around the change; mostly short ones.
    const span = longest[grain] * dayMs
    const from = Math.round((at(near) - (before / 10_000) * span) / 60_000) * 60_000
    const to =
      from + Math.max(60_000, Math.round(((length / 10_000) ** 2 * span) / 60_000) * 60_000)
    const names = Array.from(
      { length: grain === 'minute' || grain === 'minute5' ? Math.ceil(domains / 2) : domains },
      (_, i) => `d${i}.example.com`,
    )
    return {
      zone: createTimeZone(name),
      question: { domains: names, from, to, grain },
      choice,
      labels,
      area,
    }
  })

/** Describes the first point in which two series differ. */
function describeDifference(got: Point[], whole: Point[]): string | null {
  const texts = [got, whole].map((points) => points.map((point) => JSON.stringify(point)))
  const n = Array.from({ length: Math.max(got.length, whole.length) }, (_, i) => i).find(
    (i) => texts[0]?.[i] !== texts[1]?.[i],
  )
  return n === undefined ? null : `point ${n}: expected ${texts[1]?.[n]}, got ${texts[0]?.[n]}`
}

describe('a question of any size', () => {
  itLong('for single domains is split within all limits without changing the answer', async () => {
    await fc.assert(
      fc.asyncProperty(questions, async ({ zone, question, choice, labels, area }) => {
        const broken: string[] = []
        const { queries, clock } = createTestClient(createLimitedService(zone, choice, broken), {
          timezone: zone.name,
        })
        clock.time = at('2027-06-01T00:00')
        const asked = { ...question, labels, ...(area === undefined ? {} : { area }) }
        const got = await collectEach(queries, asked)
        expect(broken).toEqual([])
        const from = alignDown(question.from, question.grain, zone)
        for (const domain of [question.domains[0] ?? '', question.domains.at(-1) ?? '']) {
          const whole = computeUnlimited(
            [domain],
            { ...question, from, labels, area: area ?? 'all' },
            zone,
          )
          expect(
            describeDifference(got.get(domain)?.toSorted((a, b) => a.time - b.time) ?? [], whole),
          ).toBe(null)
        }
      }),
      { numRuns: runs(1, 40) },
    )
  })

  itLong('for a sum is split in the same way, and counts of a label add up', async () => {
    await fc.assert(
      fc.asyncProperty(questions, async ({ zone, question, choice }) => {
        const broken: string[] = []
        const { queries, clock } = createTestClient(createLimitedService(zone, choice, broken), {
          timezone: zone.name,
        })
        clock.time = at('2027-06-01T00:00')
        const got = await collectTogether(queries, question)
        expect(broken).toEqual([])
        const from = alignDown(question.from, question.grain, zone)
        expect(
          describeDifference(got, computeUnlimited(question.domains, { ...question, from }, zone)),
        ).toBe(null)
      }),
      { numRuns: runs(1, 40) },
    )
  })
})

describe('the times of the queries', () => {
  const near = fc
    .record({
      change: fc.constantFrom(...changes),
      before: fc.integer({ min: -300, max: 300 }),
      minutes: fc.integer({ min: 1, max: 600 }),
    })
    .map(({ change: [name, moment], before, minutes }) => {
      const from = at(moment) - before * 60_000
      return { zone: createTimeZone(name), from, to: from + minutes * 60_000 }
    })

  itLong('cover the window however the service interprets a repeated or skipped local time', () => {
    fc.assert(
      fc.property(near, ({ zone, from, to }) => {
        const { start, end, earliest, latest } = buildLocalWindow(from, to, zone)
        const [starts, ends] = [start, end].map((text) =>
          zone.listUtcCandidates(at(text.replace(' ', 'T'))),
        )
        expect(Math.max(...(starts ?? []))).toBeLessThanOrEqual(from)
        expect(Math.min(...(ends ?? []))).toBeGreaterThanOrEqual(to - 60_000)
        expect([earliest, latest]).toEqual([Math.min(...(starts ?? [])), Math.max(...(ends ?? []))])
        // At most the shift of a clock change.
        expect(from - earliest).toBeLessThanOrEqual(2 * 3_600_000)
        expect(latest - to).toBeLessThanOrEqual(2 * 3_600_000)
      }),
      { numRuns: runs(100, 6_000) },
    )
  })

  it('are the plain local times without a clock change', () => {
    expect(
      buildLocalWindow(
        at('2026-05-01T10:00'),
        at('2026-05-01T11:00'),
        createTimeZone('Asia/Kolkata'),
      ),
    ).toMatchObject({
      start: '2026-05-01 15:30',
      end: '2026-05-01 16:29',
      lengthMs: 59 * 60_000,
    })
  })
})

describe('parts', () => {
  const ten = Array.from({ length: 10 }, (_, i) => `d${i}.example.com`)
  const parts = (domains: number, days: number, grain: Grain, kind: 'each' | 'together') =>
    splitQuestion(
      {
        domains: Array.from({ length: domains }, (_, i) => `d${i}.example.com`),
        from: at('2026-05-01T00:00'),
        to: at('2026-05-01T00:00') + days * dayMs,
        grain,
      },
      kind,
      utc,
    )

  it.each<[number, number, Grain, 'each' | 'together', number]>([
    [10, 31, 'minute5', 'each', 1],
    [11, 31, 'minute5', 'each', 2],
    [10, 32, 'minute5', 'each', 2],
    [10, 1, 'minute', 'each', 1],
    [10, 2, 'minute', 'each', 2],
    [10, 31, 'day', 'each', 1],
    [10, 62, 'day', 'each', 2],
    [10, 1, 'minute5', 'together', 1],
    [10, 2, 'minute5', 'together', 2],
    [1, 10, 'minute5', 'together', 1],
    [3, 9, 'minute5', 'together', 3],
    [2, 1, 'minute', 'together', 1],
    [3, 1, 'minute', 'together', 2],
    [10, 12, 'hour', 'together', 1],
    [10, 31, 'day', 'together', 1],
    [10_000, 1, 'minute5', 'together', 1000],
  ])('%i domains for %f days at %s, %s: %i', (domains, days, grain, kind, count) => {
    expect(parts(domains, days, grain, kind)).toHaveLength(count)
  })

  it('of all domains are days, since their number is not known', () => {
    const all = splitQuestion(
      { domains: 'all', from: at('2026-05-01T00:00'), to: at('2026-05-04T00:00'), grain: 'hour' },
      'together',
      utc,
    )
    expect(all.map(({ domains, window }) => [domains, window.start, window.end])).toEqual([
      ['all', '2026-05-01 00:00', '2026-05-01 23:59'],
      ['all', '2026-05-02 00:00', '2026-05-02 23:59'],
      ['all', '2026-05-03 00:00', '2026-05-03 23:59'],
    ])
  })

  it('contain a domain once', () => {
    const from = at('2026-05-01T00:00')
    const [part, ...rest] = splitQuestion(
      { domains: [...ten, ...ten], from, to: from + dayMs, grain: 'hour' },
      'each',
      utc,
    )
    expect([part?.domains, rest]).toEqual([ten, []])
  })

  it('are refused without domains, without time, and over misaligned hours', () => {
    const from = at('2026-05-01T00:00')
    expect(() =>
      splitQuestion({ domains: [], from, to: from + dayMs, grain: 'hour' }, 'each', utc),
    ).toThrow('at least one domain')
    expect(() =>
      splitQuestion({ domains: ten, from, to: from, grain: 'hour' }, 'each', utc),
    ).toThrow('ends after it begins')
    const change = at('2026-04-04T15:00')
    const howe = {
      domains: ten,
      from: change - 40 * dayMs,
      to: change + 40 * dayMs,
      grain: 'hour',
    } as const
    expect(() => splitQuestion(howe, 'each', createTimeZone('Australia/Lord_Howe'))).toThrow(
      'change by 30 minutes',
    )
  })
})
