import { expect } from 'vitest'
import type { Value } from '../../src/model/item.ts'
import type { Outcome } from '../../src/model/outcome.ts'
import { bad, doubt, good, notKnown, throttled, unauthorised, unreached, World } from './world.ts'
import { fc, itOften, runs } from '../runs.ts'

const outcomes: Outcome[] = [
  good,
  good,
  bad,
  bad,
  { ...bad, code: 2 } as Outcome,
  notKnown,
  { ...bad, limits: { remaining: 0, resetMs: 1000 } } as Outcome,
  doubt,
  unreached,
  throttled,
  unauthorised,
]
const names = ['d0.example.com', 'd1.example.com', 'd2.example.com', 'd3.example.com']
const createItems = (time: number, count: number): Record<string, Value> =>
  Object.fromEntries(
    [
      ['timeout', { time: String(time) }],
      ['connect_timeout', { origin_connect_timeout: String(time) }],
      ['post_upload_size_limit', { limit_value: time }],
    ].slice(0, count) as [string, Value][],
  )

itOften('an apply reports and counts as in-doubt exactly what it records as in-doubt', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        domains: fc.integer({ min: 1, max: 4 }),
        items: fc.integer({ min: 1, max: 3 }),
        perWrite: fc.constantFrom(1, 2, 10),
        bisects: fc.boolean(),
        answers: fc.array(fc.tuple(fc.nat(outcomes.length - 1), fc.nat(15)), {
          minLength: 1,
          maxLength: 12,
        }),
      }),
      async ({ domains, items, perWrite, bisects, answers }) => {
        const world = new World()
        world.bisects = bisects
        const all = names.slice(0, domains)
        for (const domain of all) world.holds(domain, createItems(5, items))
        const plan = world.plan(
          Object.fromEntries(all.map((domain) => [domain, createItems(6, items)])),
          perWrite,
        )
        const result = await world.apply(plan, (call, sentTo) => {
          const [n, mask] = answers[call % answers.length] ?? [0, 0]
          const outcome = outcomes[n] ?? good
          if (outcome.kind === 'confirmed') return { outcome }
          // Only a call that is refused by several domains, or without an answer, may be saved.
          const savable =
            outcome.kind === 'in-doubt' ||
            (outcome.kind === 'refused' && !outcome.fatal && sentTo.length > 1)
          return { outcome, saves: savable ? sentTo.filter((_, i) => (mask >> i) & 1) : [] }
        })
        const recorded = [...world.recorded()].flatMap(([domain, states]) =>
          [...states].flatMap(([item, { status, apply }]) =>
            status === 'in-doubt' && apply === 'apply-1' ? [`${domain} ${item}`] : [],
          ),
        )
        const reported = world.events.flatMap((event) =>
          event.type === 'write.in-doubt'
            ? event.domains.flatMap((domain) => event.items.map((item) => `${domain} ${item}`))
            : [],
        )
        expect(reported.toSorted()).toEqual(recorded.toSorted())
        expect(result.parts.inDoubt).toBe(recorded.length)
        expect(world.ended?.parts).toEqual(result.parts)
        expect(world.events.at(-1)).toMatchObject({ type: 'apply.finished', parts: result.parts })
      },
    ),
    { numRuns: runs(60, 2_000) },
  ),
)
