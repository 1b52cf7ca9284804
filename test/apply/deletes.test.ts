import { describe, expect, it } from 'vitest'
import type { RecordedItem } from '../../src/state/store/store.ts'
import { bad, doubt, good, unauthorised, World, type Step } from './world.ts'

const [a, b] = ['a.example.com', 'b.example.com']
const time = { time: '10' }
const connectTime = { origin_connect_timeout: '10' }
const realIp = { head: 'X-Real-IP' }

/** Domains with three items, in an account that offers DELETE. */
function createWorld(domains = [a]): World {
  const world = new World()
  world.deletes = true
  for (const domain of domains)
    world.holds(domain, { timeout: time, connect_timeout: connectTime, client_real_ip: realIp })
  return world
}

const describeCalls = ({ calls }: World) =>
  calls.map(({ method, domains, items }) => `${method} ${domains.join()} ${items.join()}`)

const answers =
  (...outcomes: Step['outcome'][]) =>
  (call: number): Step => ({ outcome: outcomes[call] ?? good })

const expectUnset = (state: RecordedItem | undefined) =>
  expect(state).toMatchObject({ status: 'unset', candidates: [], origin: 'write' })

describe('a DELETE', () => {
  it('is sent once its intent is recorded, before the other writes of its domains', async () => {
    const world = createWorld()
    const plan = world.plan({
      [a]: { timeout: null, connect_timeout: { origin_connect_timeout: '5' } },
    })
    const during: (RecordedItem | undefined)[] = []
    const result = await world.apply(plan, () => {
      during.push(world.item(a, 'timeout'))
      return { outcome: good }
    })
    expect(describeCalls(world)).toEqual([`DELETE ${a} timeout`, `POST ${a} connect_timeout`])
    expect(world.log.indexOf('intend')).toBeLessThan(world.log.indexOf(`send ${a}`))
    expect(during[0]).toMatchObject({ status: 'in-doubt', candidates: [time], unknown: true })
    expect(world.calls[1]?.at).toBeGreaterThanOrEqual(world.calls[0]?.answeredAt ?? Infinity)
    expectUnset(world.item(a, 'timeout'))
    expect(result).toMatchObject({ confirmed: 2, refused: 0, inDoubt: 0, notSent: 0 })
    expect(world.truth.get(a)?.has('timeout')).toBe(false)
  })

  it('leaves nothing to plan, and an item that can be released', async () => {
    const world = createWorld()
    await world.apply(world.plan({ [a]: { timeout: null } }))
    expect(world.item(a, 'connect_timeout')).toBeUndefined()
    expect(world.plan({ [a]: { timeout: null } }).changes).toEqual([])
    const released = world.plan({ [a]: {} })
    expect(released).toMatchObject({ changes: [{ action: 'release' }], writes: [] })
    await world.apply(released)
    expect(world.item(a, 'timeout')).toBeUndefined()
    expect(world.calls).toHaveLength(1)
  })

  it('may have had an effect if it got no answer, and is sent again after that', async () => {
    const world = createWorld()
    const plan = world.plan({ [a]: { timeout: null } })
    await world.apply(plan, answers(doubt, doubt))
    expect(world.calls).toHaveLength(3)
    for (const [i, call] of world.calls.slice(1).entries())
      expect(call.at - (world.calls[i]?.answeredAt ?? 0)).toBeGreaterThanOrEqual(world.settleMs)
    expectUnset(world.item(a, 'timeout'))
  })

  it('stays in-doubt if no answer comes, and the next apply repeats it', async () => {
    const world = createWorld()
    const result = await world.apply(
      world.plan({ [a]: { timeout: null } }),
      answers(doubt, doubt, doubt),
    )
    expect(result.inDoubt).toBe(1)
    expect(world.item(a, 'timeout')).toMatchObject({
      status: 'in-doubt',
      candidates: [time],
      unknown: true,
    })
    const again = world.plan({ [a]: { timeout: null } })
    expect(again.changes).toMatchObject([{ action: 'unset', reason: 'in-doubt' }])
    await world.apply(again)
    expectUnset(world.item(a, 'timeout'))
  })

  it('that a refusal ends is bisected, until the rest is unset', async () => {
    const world = createWorld([a, b])
    const unset = { timeout: null, connect_timeout: null, client_real_ip: null }
    const result = await world.apply(
      world.plan({ [a]: unset, [b]: unset }),
      (_call, _on, items) => ({
        outcome: items.includes('timeout') ? bad : good,
      }),
    )
    expect(world.calls.every(({ method }) => method === 'DELETE')).toBe(true)
    for (const domain of [a, b]) {
      expectUnset(world.item(domain, 'connect_timeout'))
      expectUnset(world.item(domain, 'client_real_ip'))
      expect(world.item(domain, 'timeout')).toMatchObject({
        status: 'confirmed',
        candidates: [time],
      })
    }
    expect(result.refusals).toMatchObject([{ domains: [a, b], items: ['timeout'] }])
    expect(result.parts).toEqual({ confirmed: 4, refused: 2, inDoubt: 0, notSent: 0 })
  })

  it('ends the apply if the account does not offer it, and changes nothing', async () => {
    const world = createWorld()
    const plan = world.plan({
      [a]: { timeout: null, connect_timeout: { origin_connect_timeout: '5' } },
    })
    const result = await world.apply(plan, answers(unauthorised))
    expect(world.calls).toHaveLength(1)
    expect(result.stopped).toContain('not accepted')
    expect(world.item(a, 'timeout')).toMatchObject({ status: 'confirmed', candidates: [time] })
  })

  it('unsets an item that was never recorded', async () => {
    const world = createWorld()
    await world.apply(world.plan({ [a]: { extend: null } }))
    expect(describeCalls(world)).toEqual([`DELETE ${a} extend`])
    expectUnset(world.item(a, 'extend'))
  })
})

describe('a DELETE of an apply that died', () => {
  const [otherValue, unset] = [{ timeout: { time: '20' } }, { timeout: null }]

  it.each([
    ['is over before another value is sent', otherValue, 40_000, Infinity],
    ['is repeated at once', unset, 0, 5000],
  ])('%s', async (_name, next, min, max) => {
    const world = createWorld()
    const dead = world.apply(world.plan({ [a]: unset }), () => {
      world.diesAt = world.steps
      return { outcome: good, late: 20_000 }
    })
    await expect(dead).rejects.toThrow('the process is dead')
    world.diesAt = Infinity
    const begin = world.clock.now()
    await world.apply(world.plan({ [a]: next }))
    const wait = (world.calls.at(-1)?.at ?? 0) - begin
    expect(wait).toBeGreaterThanOrEqual(min)
    expect(wait).toBeLessThanOrEqual(max)
  })
})
