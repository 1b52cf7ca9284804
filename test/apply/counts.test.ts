// @module-tag often
import { describe, expect, it } from 'vitest'
import type { Domain, ItemKey } from '../../src/core/model/item.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import type { Outcome, OutcomeCounts } from '../../src/core/model/outcome.ts'
import {
  createDomains,
  bad,
  doubt,
  good,
  notKnown,
  throttled,
  unauthorised,
  unreached,
  World,
} from './world.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { fc, itOften, runs } from '../runs.ts'

const desired = (seconds: number) => ({
  timeout: { time: String(seconds) },
  connect_timeout: { origin_connect_timeout: String(seconds) },
  extend: { squid: String(seconds) },
})
const sum = (counts: OutcomeCounts) =>
  Object.values(counts).reduce((total: number, count: number) => total + count, 0)
const countParts = ({ writes }: Plan) =>
  writes.reduce(
    (total, { domains, items }) => total + domains.length * Object.keys(items).length,
    0,
  )

describe('the parts of a bisected write', () => {
  const applyWith = async (isBad: (domain: Domain, item: ItemKey) => boolean) => {
    const world = new World()
    for (const domain of createDomains(3)) world.holds(domain, { timeout: { time: '5' } })
    world.findItemPlace = (domain) => ({ file: `domains/${domain}.yaml`, line: 3 })
    const plan = world.plan(
      Object.fromEntries(createDomains(3).map((domain) => [domain, { timeout: { time: '6' } }])),
    )
    const result = await world.apply(plan, (_call, sentTo, items) => ({
      outcome: sentTo.some((domain) => items.some((item) => isBad(domain, item)))
        ? { ...bad, code: 1104, message: 'the origin is unreachable' }
        : good,
    }))
    return { world, result }
  }

  it('are counted by outcome: two of three domains are confirmed', async () => {
    const { world, result } = await applyWith((domain) => domain === 'd1.example.com')
    expect(result).toMatchObject({ confirmed: 0, refused: 1, inDoubt: 0, notSent: 0 })
    const parts = { confirmed: 2, refused: 1, inDoubt: 0, notSent: 0 }
    expect(result.parts).toEqual(parts)
    expect(world.events.at(-1)).toMatchObject({ type: 'apply.finished', refused: 1, parts })
    expect(world.ended).toMatchObject({ writes: { confirmed: 0, refused: 1 }, parts })
  })

  it('are reported with domains and items, and refused ones with file, line and code', async () => {
    const { world } = await applyWith((domain) => domain === 'd1.example.com')
    const confirmed = world.events.filter((event) => event.type === 'part.confirmed')
    expect(confirmed.flatMap(({ domains }) => domains).toSorted()).toEqual([
      'd0.example.com',
      'd2.example.com',
    ])
    expect(confirmed.every(({ id, items }) => id === 1 && items.join() === 'timeout')).toBe(true)
    expect(world.events.filter((event) => event.type === 'part.refused')).toMatchObject([
      {
        id: 1,
        domains: ['d1.example.com'],
        items: ['timeout'],
        file: 'domains/d1.example.com.yaml',
        line: 3,
        code: 1104,
        message: 'the origin is unreachable',
      },
    ])
  })

  it('are reported as refused without bisection too, without a place in no manifest', async () => {
    const world = new World()
    await world.apply(world.plan({ 'a.example.com': desired(6) }), () => ({ outcome: bad }))
    expect(world.events.filter((event) => event.type === 'part.refused')).toMatchObject([
      { domains: ['a.example.com'], file: null, line: null, code: 1, message: 'no' },
    ])
  })

  it('are reported each with the answer to it', async () => {
    const world = new World()
    await world.apply(world.plan({ 'a.example.com': desired(6) }), (_call, _sentTo, items) => ({
      outcome: items.includes('timeout')
        ? { ...bad, message: 'too short' }
        : items.includes('extend')
          ? { ...bad, message: 'unknown directive' }
          : good,
    }))
    const refused = world.events.filter((event) => event.type === 'part.refused')
    expect(refused.map(({ items, message }) => `${items.join()}: ${message}`).toSorted()).toEqual([
      'extend: unknown directive',
      'timeout: too short',
    ])
  })

  it('left by an interrupt are in-doubt, unless nothing of them can be saved', async () => {
    for (const [count, rest] of [
      [2, 'inDoubt'],
      [1, 'refused'],
    ] as const) {
      const world = new World()
      const plan = world.plan(
        Object.fromEntries(createDomains(count).map((domain) => [domain, desired(6)])),
      )
      const result = await world.apply(plan, () => {
        world.interrupt.abort()
        return { outcome: bad }
      })
      expect(result, String(count)).toMatchObject({ refused: 1, parts: { [rest]: 3 * count } })
    }
  })
})

const outcomes: Outcome[] = [
  good,
  good,
  good,
  bad,
  bad,
  { ...bad, code: 2 },
  notKnown,
  doubt,
  unreached,
  throttled,
  { ...bad, limits: { remaining: 0, resetMs: 1000 } },
  unauthorised,
]

itOften('all parts are counted, and exactly those that are recorded so as in-doubt', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        domains: fc.integer({ min: 1, max: 8 }),
        domainsPerWrite: fc.integer({ min: 1, max: 4 }),
        answers: fc.array(fc.record({ outcome: fc.constantFrom(...outcomes), mask: fc.nat(15) }), {
          minLength: 1,
          maxLength: 12,
        }),
        interruptedAt: fc.option(fc.nat(20), { nil: null }),
        failingSave: fc.option(fc.nat(12), { nil: null }),
      }),
      async ({ domains, domainsPerWrite, answers, interruptedAt, failingSave }) => {
        const world = new World()
        const names = createDomains(domains)
        for (const [i, domain] of names.entries()) world.holds(domain, desired(100 + (i % 3)))
        const plan = world.plan(
          Object.fromEntries(names.map((domain, i) => [domain, desired(10 + (i % 2))])),
          domainsPerWrite,
        )
        let saves = 0
        world.onSave = () => {
          if (saves++ === failingSave) throw new EdgewiseError('record-unreachable', 'disk full')
        }
        const ended = await world
          .apply(plan, (call, sentTo) => {
            if (call === interruptedAt) world.interrupt.abort()
            const { outcome = good, mask = 0 } = answers[call % answers.length] ?? {}
            const ms = 10 + (call % 3)
            if (outcome.kind === 'confirmed') return { outcome, ms }
            // Only a call that is refused by several domains, or without an answer, may be saved.
            const savable =
              outcome.kind === 'in-doubt' ||
              (outcome.kind === 'refused' && !outcome.fatal && sentTo.length > 1)
            return { outcome, ms, saves: sentTo.filter((_, i) => savable && (mask >> i) & 1) }
          })
          .catch((error: unknown) => error)
        // The store failed before anything was sent.
        if (ended instanceof Error) return
        const result = ended as Awaited<ReturnType<World['apply']>>
        const { confirmed, refused, inDoubt, notSent, parts } = result
        const counts = { writes: { confirmed, refused, inDoubt, notSent }, parts }
        const all = [counts, ...world.journal, ...(world.ended === null ? [] : [world.ended])]
        for (const { writes, parts: counted = parts } of all) {
          expect(sum(writes)).toBe(plan.writes.length)
          expect(sum(counted)).toBe(countParts(plan))
          for (const count of [...Object.values(writes), ...Object.values(counted)])
            expect(count).toBeGreaterThanOrEqual(0)
        }
        if (failingSave !== null) return
        // The journal has all outcomes of an apply that ended.
        if (world.ended !== null) expect(world.ended).toMatchObject(counts)
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
        expect(parts.inDoubt).toBe(recorded.length)
        expect(world.events.at(-1)).toMatchObject({ type: 'apply.finished', parts })
      },
    ),
    { numRuns: runs(40, 3_500) },
  ),
)
