import { describe, expect, it } from 'vitest'
import type { Domain } from '../../src/core/model/item.ts'
import { unknownDomain, type Outcome } from '../../src/core/model/outcome.ts'
import { createDomains, bad, good, World } from './world.ts'
import { itLong } from '../runs.ts'

const gone = 'd3.example.com'
const invalid = (domain: Domain, isNamed: boolean) =>
  ({
    ...bad,
    code: unknownDomain,
    message: isNamed ? `domain(${domain}) is invalid` : 'invalid',
  }) as Outcome

/** Creates a world with timeouts and sizes that different domains share: each is in two writes. */
function createWorld(count: number, domainsPerWrite = 10) {
  const world = new World()
  const all = createDomains(count)
  for (const domain of all)
    world.holds(domain, { timeout: { time: '5' }, post_upload_size_limit: { limit_value: 1 } })
  const plan = world.plan(
    Object.fromEntries(
      all.map((domain, i) => [
        domain,
        {
          timeout: { time: String(6 + (i % 2)) },
          post_upload_size_limit: { limit_value: 2 + Math.floor(i / 2) },
        },
      ]),
    ),
    domainsPerWrite,
  )
  return { world, plan }
}

const answer = (unknown: Domain[], isNamed: boolean) => (_call: number, sentTo: Domain[]) => {
  const found = sentTo.find((domain) => unknown.includes(domain))
  return { outcome: found === undefined ? good : invalid(found, isNamed) }
}

describe.each([true, false])('an unknown domain, named by the answer: %s', (isNamed) => {
  itLong('is found with all items, and left out of the later writes', async () => {
    const { world, plan } = createWorld(8)
    expect(plan.writes.filter(({ domains }) => domains.includes(gone)).length).toBe(2)
    const result = await world.apply(plan, answer([gone], isNamed))
    const [first] = plan.writes.filter(({ domains }) => domains.includes(gone))
    const items = Object.keys(first?.items ?? {})
    expect(result.refusals).toMatchObject([{ domains: [gone], items, code: unknownDomain }])
    const alone = world.calls.findIndex(({ domains }) => domains.join() === gone)
    expect(world.calls.slice(alone + 1).some(({ domains }) => domains.includes(gone))).toBe(false)
    const lost = plan.writes
      .filter(({ domains }) => domains.includes(gone))
      .reduce((sum, write) => sum + Object.keys(write.items).length, 0)
    const notSent = lost - items.length
    expect(notSent).toBeGreaterThan(0)
    expect(result.parts).toEqual({
      confirmed: 16 - lost,
      refused: items.length,
      inDoubt: 0,
      notSent,
    })
    expect(result).toMatchObject({ refused: 1, notSent: 0, inDoubt: 0 })
    expect(world.ended).toMatchObject({ outcome: 'incomplete', parts: result.parts })
    expect(world.events.filter(({ type }) => type === 'part.not-sent')).toMatchObject([
      { domains: [gone], message: 'left out: the service does not know the domain' },
    ])
    for (const [domain, recorded] of world.recorded())
      for (const [item, { status, apply }] of recorded)
        expect([domain, item, status, apply === 'before']).toEqual([
          domain,
          item,
          'confirmed',
          domain === gone,
        ])
  })

  it('takes two calls if it is named, else those of a search', async () => {
    const world = new World()
    const all = createDomains(10)
    for (const domain of all) world.holds(domain, { timeout: { time: '5' } })
    const plan = world.plan(
      Object.fromEntries(all.map((domain) => [domain, { timeout: { time: '6' } }])),
    )
    await world.apply(plan, answer([gone], isNamed))
    expect(world.calls.length - 1).toBeLessThanOrEqual(isNamed ? 2 : 6)
  })

  itLong('is found beside others, and beside an item that is refused', async () => {
    const { world, plan } = createWorld(8)
    const unknown = ['d0.example.com', gone, 'd7.example.com']
    const result = await world.apply(plan, (call, sentTo, items) => {
      const { outcome } = answer(unknown, isNamed)(call, sentTo)
      const isBad = sentTo.includes('d5.example.com') && items.includes('post_upload_size_limit')
      return { outcome: outcome === good && isBad ? { ...bad, code: 2 } : outcome }
    })
    for (const domain of createDomains(8)) {
      const lives = !unknown.includes(domain)
      expect(world.item(domain, 'timeout')?.apply === 'before', domain).toBe(!lives)
      const isSet = world.item(domain, 'post_upload_size_limit')?.apply !== 'before'
      if (domain !== 'd5.example.com') expect(isSet, domain).toBe(lives)
    }
    expect(world.truth.get('d5.example.com')?.get('post_upload_size_limit')).toEqual({
      limit_value: 1,
    })
    const { confirmed, refused, inDoubt, notSent } = result.parts
    expect(confirmed + refused + inDoubt + notSent).toBe(16)
    expect(confirmed).toBe(9)
  })
})

it('a write of unknown domains only is not sent, and its intents are settled', async () => {
  const { world, plan } = createWorld(4, 1)
  const result = await world.apply(plan, answer([gone], true))
  const own = plan.writes.filter(({ domains }) => domains.includes(gone))
  expect(own.length).toBeGreaterThanOrEqual(1)
  expect(world.calls.filter(({ domains }) => domains.includes(gone))).toHaveLength(1)
  expect(result).toMatchObject({ refused: 1, notSent: own.length - 1 })
  expect(world.open).toBe(null)
})

it('a domain that another code refuses is no unknown one', async () => {
  const { world, plan } = createWorld(8)
  const result = await world.apply(plan, (_call, sentTo) => ({
    outcome: sentTo.includes(gone) ? bad : good,
  }))
  expect(result.refused).toBe(2)
  expect(result.parts).toMatchObject({ confirmed: 14, refused: 2, notSent: 0 })
})
