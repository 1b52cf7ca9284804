import { describe, expect, it } from 'vitest'
import type { Domain, ItemKey, Value } from '../../src/model/item.ts'
import type { Outcome } from '../../src/model/outcome.ts'
import { bad, doubt, good, unreached, World } from './world.ts'
import { fc, itOften, runs } from '../runs.ts'

/** Items with a plain value each; none empties another. */
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
const domainsOf = (count: number) => Array.from({ length: count }, (_, i) => `d${i}.example.com`)
const log2 = (n: number) => Math.ceil(Math.log2(n))

interface Given {
  domains: number
  items: number
  guilty: (domain: Domain, item: ItemKey) => boolean
  message: string
}

async function isolated({ domains, items, guilty, message }: Given) {
  const world = new World()
  world.isolate = true
  for (const domain of domainsOf(domains)) world.holds(domain, some(before, items))
  const plan = world.plan(
    Object.fromEntries(domainsOf(domains).map((domain) => [domain, some(after, items)])),
  )
  const result = await world.apply(plan, (_call, sentTo, sent) => ({
    outcome: sentTo.some((domain) => sent.some((item) => guilty(domain, item)))
      ? { ...bad, message }
      : good,
  }))
  return { world, result, extra: world.calls.length - 1 }
}

/**
 * Everything innocent is confirmed with its new value, everything guilty is as it was, and nothing
 * is in doubt.
 */
function expectTakenApart(world: World, { domains, items, guilty }: Given): void {
  for (const domain of domainsOf(domains)) {
    for (const item of names.slice(0, items)) {
      const value = (guilty(domain, item) ? before : after)[item]
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

describe('a refused write is taken apart', () => {
  it.each(['the item is invalid', 'named'] as const)(
    'one guilty item, message: %s',
    { tags: 'often' },
    (said) =>
      fc.assert(
        fc.asyncProperty(size, index, async ({ domains, items }, n) => {
          fc.pre(domains * items > 1)
          const culprit = names[n % items] ?? ''
          const given: Given = {
            domains,
            items,
            guilty: (_domain, item) => item === culprit,
            message: said === 'named' ? `${culprit} is invalid` : said,
          }
          const { world, result, extra } = await isolated(given)
          expect(extra).toBeLessThanOrEqual(2 * log2(items) + 2 * log2(domains) + 2)
          expectTakenApart(world, given)
          expect(result.refusals.flatMap((refusal) => refusal.items)).toEqual(
            result.refusals.map(() => culprit),
          )
          expect(result.refusals.flatMap((refusal) => refusal.domains).toSorted()).toEqual(
            domainsOf(domains).toSorted(),
          )
        }),
        { numRuns: runs(45, 1_350) },
      ),
  )

  it.each(['something is invalid', 'named'] as const)(
    'one guilty domain, message: %s',
    { tags: 'often' },
    (said) =>
      fc.assert(
        fc.asyncProperty(size, index, async ({ domains, items }, n) => {
          fc.pre(domains > 1)
          const culprit = domainsOf(domains)[n % domains] ?? ''
          const given: Given = {
            domains,
            items,
            guilty: (domain) => domain === culprit,
            message: said === 'named' ? `domain(${culprit}) is invalid` : said,
          }
          const { world, result, extra } = await isolated(given)
          expect(extra).toBeLessThanOrEqual(2 * log2(items) + 2 * log2(domains) + 2)
          expectTakenApart(world, given)
          expect([...new Set(result.refusals.flatMap((refusal) => refusal.domains))]).toEqual([
            culprit,
          ])
        }),
        { numRuns: runs(45, 1_350) },
      ),
  )

  itOften('one item that one domain refuses', () =>
    fc.assert(
      fc.asyncProperty(size, index, index, async ({ domains, items }, n, m) => {
        fc.pre(domains > 1 || items > 1)
        const [where, what] = [domainsOf(domains)[n % domains], names[m % items]]
        const given: Given = {
          domains,
          items,
          guilty: (domain, item) => domain === where && item === what,
          message: 'no',
        }
        const { world } = await isolated(given)
        for (const domain of domainsOf(domains)) {
          for (const item of names.slice(0, items)) {
            const held = world.item(domain, item)
            expect(
              world.allows(domain, item, world.truth.get(domain)?.get(item)),
              `${item} of ${domain}: ${JSON.stringify(held)}`,
            ).toBe(true)
            if (domain !== where && item !== what)
              expect(held).toMatchObject({ status: 'confirmed', candidates: [after[item]] })
          }
        }
      }),
      { numRuns: runs(45, 1_350) },
    ),
  )

  it('several guilty items are all found', async () => {
    const given: Given = {
      domains: 1,
      items: names.length,
      guilty: (_domain, item) => item === 'timeout' || item === 'extend',
      message: 'no',
    }
    const { world, result } = await isolated(given)
    expectTakenApart(world, given)
    expect(result.refusals.flatMap((refusal) => refusal.items).toSorted()).toEqual([
      'extend',
      'timeout',
    ])
  })

  it('a hint that is wrong costs one write and changes nothing', async () => {
    const given: Given = {
      domains: 3,
      items: 4,
      guilty: (_domain, item) => item === 'timeout',
      message: 'client_real_ip looks odd',
    }
    const { world } = await isolated(given)
    expectTakenApart(world, given)
  })

  itOften('whatever is refused, what is recorded allows for what the service holds', () =>
    fc.assert(
      fc.asyncProperty(
        size,
        fc.array(fc.tuple(index, index), { minLength: 1, maxLength: 6 }),
        async ({ domains, items }, pairs) => {
          const refused = new Set(
            pairs.map(([n, m]) => `${domainsOf(domains)[n % domains]} ${names[m % items]}`),
          )
          const { world, result } = await isolated({
            domains,
            items,
            guilty: (domain, item) => refused.has(`${domain} ${item}`),
            message: 'no',
          })
          for (const domain of domainsOf(domains)) {
            for (const item of names.slice(0, items))
              expect(world.allows(domain, item, world.truth.get(domain)?.get(item))).toBe(true)
          }
          expect(result.refusals.length).toBeGreaterThan(0)
        },
      ),
      { numRuns: runs(60, 1_800) },
    ),
  )
})

it('the parts are told', async () => {
  const { world } = await isolated({
    domains: 2,
    items: 2,
    guilty: (_domain, item) => item === 'timeout',
    message: 'no',
  })
  expect(world.events.filter((event) => event.type === 'write.isolating').length).toBe(
    world.calls.length - 1,
  )
})

it('nothing is sent with less of the lock left than a call may take', async () => {
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

it('a process that dies while a write of one domain is taken apart leaves nothing recorded that is not so', async () => {
  const domain = 'a.example.com'
  for (let diesAt = 0; diesAt < 40; diesAt++) {
    const world = new World().holds(domain, some(before, 4))
    world.isolate = true
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

describe('what a refused write to several domains may have saved stays in doubt', () => {
  const [one, two] = domainsOf(2) as [Domain, Domain]
  const afterFirst = async (
    outcome: (sentTo: Domain[], world: World) => Outcome,
  ): Promise<World> => {
    const world = new World().holds(one, some(before, 1)).holds(two, some(before, 1))
    world.isolate = true
    const plan = world.plan({ [one]: some(after, 1), [two]: some(after, 1) })
    // The first write spoils the second domain only.
    await world.apply(plan, (call, sentTo) =>
      call === 0 ? { outcome: bad, saves: [one] } : { outcome: outcome(sentTo, world) },
    )
    return world
  }

  it('where a domain alone is refused for another reason', async () => {
    const world = await afterFirst(() => ({ ...bad, code: 429_001 }) as Outcome)
    expect(world.item(one, 'timeout')).toMatchObject({
      status: 'in-doubt',
      candidates: [before['timeout'], after['timeout']],
    })
  })

  it('where a part is refused after an attempt in doubt', async () => {
    let attempts = 0
    const world = await afterFirst(() => (attempts++ === 0 ? doubt : bad))
    expect(world.item(one, 'timeout')?.status).toBe('in-doubt')
  })

  it('where a part is not sent', async () => {
    const world = await afterFirst((_sentTo, { interrupt }) => {
      interrupt.abort()
      return unreached
    })
    expect(world.item(one, 'timeout')?.status).toBe('in-doubt')
  })

  it('and not where it is refused again for the same reason', async () => {
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
