import { describe, expect, it } from 'vitest'
import type { Domain, ItemKey } from '../../src/model/item.ts'
import type { Plan } from '../../src/model/plan.ts'
import type { OutcomeCounts } from '../../src/model/outcome.ts'
import { bad, doubt, good, notKnown, throttled, unauthorised, unreached, World } from './world.ts'
import { EdgewiseError } from '../../src/model/edgewise-error.ts'
import { fc, itOften, runs } from '../runs.ts'

const createDomains = (count: number) =>
  Array.from({ length: count }, (_, i) => `d${i}.example.com`)
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
    world.bisects = true
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
    world.bisects = true
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
      world.bisects = true
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

itOften('the sum of the parts is domains × items of the writes, always', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        domains: fc.integer({ min: 1, max: 8 }),
        domainsPerWrite: fc.integer({ min: 1, max: 4 }),
        bisects: fc.boolean(),
        answers: fc.array(
          fc.constantFrom(good, good, bad, notKnown, doubt, throttled, unreached, unauthorised),
          { minLength: 9, maxLength: 9 },
        ),
        interruptedAt: fc.option(fc.nat(20), { nil: null }),
        failingSave: fc.option(fc.nat(12), { nil: null }),
      }),
      async ({ domains, domainsPerWrite, bisects, answers, interruptedAt, failingSave }) => {
        const world = new World()
        world.bisects = bisects
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
          .apply(plan, (call) => {
            if (call === interruptedAt) world.interrupt.abort()
            return { outcome: answers[call % answers.length] ?? good, ms: 10 + (call % 3) }
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
        // The journal has all outcomes of an apply that ended.
        if (world.ended !== null && failingSave === null) expect(world.ended).toMatchObject(counts)
      },
    ),
    { numRuns: runs(60, 2_000) },
  ),
)
