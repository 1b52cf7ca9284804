// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import type { Domain, ItemKey, Value } from '../../src/core/model/item.ts'
import type { Outcome } from '../../src/core/model/outcome.ts'
import { createDomains, bad, doubt, good, unreached, World } from './world.ts'
import { fc, itOften, runs } from '../runs.ts'

/** Items with a plain value each; none clears another. */
const before: Record<ItemKey, Value> = {
  timeout: { time: '5' },
  connect_timeout: { origin_connect_timeout: '5' },
  client_real_ip: { head: 'X-Before' },
  post_upload_size_limit: { limit_value: 1 },
  range_back_source: 'on',
  origin_host: { host: 'before.example.com' },
  extend: { squid: 'before' },
}
const after: Record<ItemKey, Value> = {
  timeout: { time: '6' },
  connect_timeout: { origin_connect_timeout: '6' },
  client_real_ip: { head: 'X-After' },
  post_upload_size_limit: { limit_value: 2 },
  range_back_source: 'off',
  origin_host: { host: 'after.example.com' },
  extend: { squid: 'after' },
}
const names = Object.keys(before)
const some = (from: Record<ItemKey, Value>, count: number) =>
  Object.fromEntries(names.slice(0, count).map((item) => [item, from[item] ?? null]))
const log2 = (n: number) => Math.ceil(Math.log2(n))

interface Given {
  domains: number
  items: number
  isBad: (domain: Domain, item: ItemKey) => boolean
  message: string
}

async function runBisection({ domains, items, isBad, message }: Given) {
  const world = new World()
  for (const domain of createDomains(domains)) world.holds(domain, some(before, items))
  const plan = world.plan(
    Object.fromEntries(createDomains(domains).map((domain) => [domain, some(after, items)])),
  )
  const result = await world.apply(plan, (_call, sentTo, sent) => ({
    outcome: sentTo.some((domain) => sent.some((item) => isBad(domain, item)))
      ? { ...bad, message }
      : good,
  }))
  return { world, result, extra: world.calls.length - 1 }
}

/**
 * Expects all good items with their new value, all bad items with their old value, and nothing
 * in-doubt.
 */
function expectBisected(world: World, { domains, items, isBad }: Given): void {
  for (const domain of createDomains(domains)) {
    for (const item of names.slice(0, items)) {
      const value = (isBad(domain, item) ? before : after)[item]
      expect(world.item(domain, item), `${item} of ${domain}`).toMatchObject({
        status: 'confirmed',
        candidates: [value],
      })
      expect(world.truth.get(domain)?.get(item)).toEqual(value)
    }
  }
}

const size = fc.record({
  domains: fc.integer({ min: 1, max: 10 }),
  items: fc.integer({ min: 1, max: names.length }),
})
const index = fc.nat(1000)

/** What is refused, by one domain and one item. */
const kinds: Record<string, (where: Domain, what: ItemKey) => Given['isBad']> = {
  'an item': (_where, what) => (_domain, item) => item === what,
  'a domain': (where) => (domain) => domain === where,
  'an item of a domain': (where, what) => (domain, item) => domain === where && item === what,
}
/** Lists domains × items of some parts. */
const listCells = (parts: { domains: Domain[]; items: ItemKey[] }[]): string[] =>
  parts
    .flatMap(({ domains, items }) => domains.flatMap((name) => items.map((item) => [name, item])))
    .map((cell) => cell.join(' '))
    .toSorted()

describe('bisecting a refused write', () => {
  it.each([
    ['an item', 'nothing'],
    ['an item', 'it'],
    ['a domain', 'nothing'],
    ['a domain', 'the domain'],
    ['an item of a domain', 'nothing'],
    ['an item of a domain', 'it'],
    ['an item of a domain', 'the domain'],
  ])('isolates %s, message names %s', { tags: 'often' }, (kind, named) =>
    fc.assert(
      fc.asyncProperty(size, index, index, async ({ domains, items }, n, m) => {
        fc.pre(domains > 1 || (kind !== 'a domain' && items > 1))
        const all = { domains: createDomains(domains), items: names.slice(0, items) }
        const [where, what] = [all.domains[n % domains] ?? '', all.items[m % items] ?? '']
        const isBad = kinds[kind]?.(where, what) ?? (() => false)
        const message = { it: `${what} is invalid`, 'the domain': `domain(${where}) is invalid` }
        const given = { domains, items, isBad, message: message[named as 'it'] ?? 'no' }
        const { world, result, extra } = await runBisection(given)
        expect(extra).toBeLessThanOrEqual(2 * log2(items) + 2 * log2(domains) + 2)
        expectBisected(world, given)
        const refused = listCells([all]).filter((cell) =>
          isBad(...(cell.split(' ') as [Domain, ItemKey])),
        )
        expect(listCells(result.refusals)).toEqual(refused)
        const confirmed = domains * items - refused.length
        expect(result.parts).toEqual({ confirmed, refused: refused.length, inDoubt: 0, notSent: 0 })
      }),
      { numRuns: runs(10, 700) },
    ),
  )

  itOften('has a state that includes the real one, and isolates up to two items of domains', () =>
    fc.assert(
      fc.asyncProperty(
        size,
        fc.array(fc.tuple(index, index), { minLength: 1, maxLength: 6 }),
        async ({ domains, items }, pairs) => {
          const all = { domains: createDomains(domains), items: names.slice(0, items) }
          const refused = new Set(
            pairs.map(([n, m]) => `${all.domains[n % domains]} ${all.items[m % items]}`),
          )
          const isBad: Given['isBad'] = (domain, item) => refused.has(`${domain} ${item}`)
          const given = { domains, items, isBad, message: 'no' }
          const { world, result } = await runBisection(given)
          for (const domain of all.domains)
            for (const item of all.items)
              expect(world.allows(domain, item, world.truth.get(domain)?.get(item))).toBe(true)
          expect(result.refusals.length).toBeGreaterThan(0)
          if (refused.size > 2) return
          expectBisected(world, given)
          const report = (type: 'part.refused' | 'part.confirmed') =>
            listCells(world.events.flatMap((event) => (event.type === type ? [event] : [])))
          expect(report('part.refused')).toEqual([...refused].toSorted())
          // Nothing is sent again that has passed.
          expect(report('part.confirmed')).toHaveLength(result.parts.confirmed)
        },
      ),
      { numRuns: runs(20, 2_000) },
    ),
  )

  it('keeps items together that are sent together, and refuses them together', async () => {
    const world = new World()
    world.together = [['timeout', 'extend']]
    for (const domain of createDomains(4)) world.holds(domain, some(before, 7))
    const plan = world.plan(
      Object.fromEntries(createDomains(4).map((domain) => [domain, some(after, 7)])),
    )
    const result = await world.apply(plan, (_call, sentTo, items) => ({
      outcome: sentTo.includes('d2.example.com') && items.includes('extend') ? bad : good,
    }))
    for (const { items } of world.calls)
      expect(items.includes('timeout')).toBe(items.includes('extend'))
    expect(result.refusals).toMatchObject([
      { domains: ['d2.example.com'], items: ['extend', 'timeout'] },
    ])
    expect(result.parts).toEqual({ confirmed: 26, refused: 2, inDoubt: 0, notSent: 0 })
  })

  it('reports an item for all domains only if none of those tried accepts it', async () => {
    const given: Given = {
      domains: 4,
      items: 3,
      isBad: (domain, item) => item === 'timeout' && domain !== 'd3.example.com',
      message: 'no',
    }
    const { world, result } = await runBisection(given)
    expectBisected(world, given)
    expect(result.parts).toMatchObject({ confirmed: 9, refused: 3 })
  })

  it('ends soon where everything is refused, or two items are refused everywhere', async () => {
    const isBads: [Given['isBad'], number][] = [
      [() => true, 30],
      [(_domain, item) => item === 'timeout' || item === 'extend', 30],
    ]
    for (const [isBad, most] of isBads) {
      const given: Given = { domains: 10, items: 7, isBad, message: 'no' }
      const { world, extra } = await runBisection(given)
      expectBisected(world, given)
      expect(extra).toBeLessThanOrEqual(most)
    }
  })

  it('isolates several bad items', async () => {
    const given: Given = {
      domains: 1,
      items: names.length,
      isBad: (_domain, item) => item === 'timeout' || item === 'extend',
      message: 'no',
    }
    const { world, result } = await runBisection(given)
    expectBisected(world, given)
    expect(result.refusals.flatMap((refusal) => refusal.items).toSorted()).toEqual([
      'extend',
      'timeout',
    ])
  })

  it('spends one write on a wrong hint and has the same result', async () => {
    const given: Given = {
      domains: 3,
      items: 4,
      isBad: (_domain, item) => item === 'timeout',
      message: 'no',
    }
    const { extra } = await runBisection(given)
    const hinted = await runBisection({ ...given, message: 'client_real_ip looks odd' })
    expectBisected(hinted.world, given)
    expect(hinted.extra).toBe(extra + 1)
  })
})

it('the parts are reported', async () => {
  const { world } = await runBisection({
    domains: 2,
    items: 2,
    isBad: (_domain, item) => item === 'timeout',
    message: 'no',
  })
  expect(world.events.filter((event) => event.type === 'write.isolating').length).toBe(
    world.calls.length - 1,
  )
})

it('nothing is sent when the lease may expire during the call', async () => {
  const world = new World()
  world.leaseLeftMs = 30_000
  const result = await world.apply(world.plan({ 'a.example.com': { timeout: { time: '5' } } }))
  expect(world.calls).toEqual([])
  expect(result).toMatchObject({
    notSent: 1,
    sent: false,
    stopped: expect.stringContaining('the lock') as string,
  })
  expect(world.item('a.example.com', 'timeout')).toBeUndefined()
})

it('a process killed while it bisects a write of one domain leaves a true state', async () => {
  const domain = 'a.example.com'
  for (let diesAt = 0; diesAt < 40; diesAt++) {
    const world = new World().holds(domain, some(before, 4))
    world.diesAt = diesAt
    const ended = world.start(
      world.plan({ [domain]: some(after, 4) }),
      (_call, _domains, items) => ({
        outcome: items.includes('timeout') ? bad : good,
      }),
    )
    await world.clock.drive(
      ended.then(
        () => {},
        () => {},
      ),
    )
    await world.clock.advance(60_000)
    for (const item of names.slice(0, 4)) {
      const value = world.truth.get(domain)?.get(item)
      expect(
        world.allows(domain, item, value),
        `dead at ${diesAt}: ${item} is ${JSON.stringify(value)}`,
      ).toBe(true)
    }
  }
})

describe('a refused write to several domains stays in-doubt', () => {
  const [one, two] = createDomains(2) as [Domain, Domain]
  const afterFirst = async (
    outcome: (sentTo: Domain[], world: World) => Outcome,
  ): Promise<World> => {
    const world = new World().holds(one, some(before, 1)).holds(two, some(before, 1))
    const plan = world.plan({ [one]: some(after, 1), [two]: some(after, 1) })
    // The first write spoils the second domain only.
    await world.apply(plan, (call, sentTo) =>
      call === 0 ? { outcome: bad, saves: [one] } : { outcome: outcome(sentTo, world) },
    )
    return world
  }

  it('when a single domain is refused for another reason', async () => {
    const world = await afterFirst(() => ({ ...bad, code: 429_001 }))
    expect(world.item(one, 'timeout')).toMatchObject({
      status: 'in-doubt',
      candidates: [before['timeout'], after['timeout']],
    })
  })

  it('only where a single domain is refused for another reason', async () => {
    const world = new World()
    const all = createDomains(3)
    for (const domain of all) world.holds(domain, some(before, 1))
    const plan = world.plan(Object.fromEntries(all.map((domain) => [domain, some(after, 1)])))
    const result = await world.apply(plan, (_call, sentTo) => ({
      outcome: sentTo.includes(one) ? bad : sentTo.includes(two) ? { ...bad, code: 2 } : good,
    }))
    expect(world.item(one, 'timeout')).toMatchObject({ status: 'confirmed', apply: 'before' })
    expect(world.item(two, 'timeout')?.status).toBe('in-doubt')
    expect(result.parts).toEqual({ confirmed: 1, refused: 1, inDoubt: 1, notSent: 0 })
    expect(world.events.filter(({ type }) => type === 'write.in-doubt')).toMatchObject([
      { domains: [two], items: ['timeout'], message: expect.stringContaining('earlier call') },
    ])
  })

  it('when a part is refused after an in-doubt attempt', async () => {
    let attempts = 0
    const world = await afterFirst(() => (attempts++ === 0 ? doubt : bad))
    expect(world.item(one, 'timeout')?.status).toBe('in-doubt')
  })

  it('when a part is not sent', async () => {
    const world = await afterFirst((_sentTo, { interrupt }) => {
      interrupt.abort()
      return unreached
    })
    expect(world.item(one, 'timeout')?.status).toBe('in-doubt')
  })

  it('but not the items that it clears when it is refused again for the same reason', async () => {
    const world = new World()
    const list = (ip: string): Value => ({ list: [ip] })
    for (const domain of [one, two]) world.holds(domain, { ip_white_list: list('192.0.2.1') })
    const desired = { ip_black_list: list('192.0.2.9') }
    await world.apply(world.plan({ [one]: desired, [two]: desired }), () => ({ outcome: bad }))
    for (const domain of [one, two])
      expect(world.item(domain, 'ip_white_list')).toMatchObject({
        status: 'confirmed',
        apply: 'before',
      })
  })

  it('but not when it is refused again for the same reason', async () => {
    const world = await afterFirst((sentTo) => (sentTo.includes(two) ? bad : good))
    expect(world.item(one, 'timeout')).toMatchObject({
      status: 'confirmed',
      candidates: [after['timeout']],
    })
    expect(world.item(two, 'timeout')).toMatchObject({
      status: 'confirmed',
      candidates: [before['timeout']],
    })
  })
})
