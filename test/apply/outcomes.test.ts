import { describe, expect, it } from 'vitest'
import type { Form } from '../../src/core/model/change.ts'
import type { Value } from '../../src/core/model/item.ts'
import type { Outcome } from '../../src/core/model/outcome.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { bad, doubt, limits, unreached, World } from './world.ts'

const [a, b] = ['a.example.com', 'b.example.com']
const time = (seconds: number) => ({ time: String(seconds) })
const ips = (...list: string[]) => ({ list, mode: 'cover' })

/** A plan whose write of an item takes another form than the planner's first. */
function by(plan: Plan, form: Form): Plan {
  return {
    ...plan,
    writes: plan.writes.map((write) => ({ ...write, items: { ip_black_list: form } })),
  }
}

const black = (...list: string[]) => ({ ip_black_list: ips(...list) })
const appending: Form = { name: 'append', payload: { list: ['192.0.2.2'], mode: 'append' } }

describe('a confirmed write', () => {
  it('is recorded with value, time, apply and origin', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    await world.apply(world.plan({ [a]: { timeout: time(10) } }))
    expect(world.item(a, 'timeout')).toEqual({
      status: 'confirmed',
      candidates: [time(10)],
      at: new Date(world.clock.now()).toISOString(),
      apply: 'apply-1',
      origin: 'write',
    })
  })

  it('leaves the other items of the domain as they were recorded', async () => {
    const world = new World().holds(a, {
      timeout: time(5),
      connect_timeout: { origin_connect_timeout: '10' },
    })
    const before = world.item(a, 'connect_timeout')
    await world.apply(
      world.plan({ [a]: { timeout: time(10), connect_timeout: { origin_connect_timeout: '10' } } }),
    )
    expect(world.item(a, 'connect_timeout')).toEqual(before)
  })

  it('removes the items that it clears from state', async () => {
    const world = new World().holds(a, { ip_white_list: ips('192.0.2.1') })
    await world.apply(world.plan({ [a]: { ip_black_list: ips('192.0.2.9') } }))
    expect(Object.keys(world.durable[a] ?? {})).toEqual(['ip_black_list'])
    expect(world.truth.get(a)).toEqual(new Map([['ip_black_list', ips('192.0.2.9')]]))
  })

  it('of a delta is recorded as the whole value', async () => {
    const world = new World().holds(a, { ip_black_list: ips('192.0.2.1') })
    const plan = world.plan({ [a]: { ip_black_list: ips('192.0.2.1', '192.0.2.2') } })
    await world.apply(by(plan, appending))
    expect(world.item(a, 'ip_black_list')).toMatchObject({
      status: 'confirmed',
      candidates: [ips('192.0.2.1', '192.0.2.2')],
    })
  })

  it('keeps the fields that the service keeps', async () => {
    const world = new World().holds(a, {
      https: { cert_id: 1, http2: 'on', ocsp: 'on', force_https: 0 },
    })
    await world.apply(world.plan({ [a]: { https: { cert_id: 2 } } }))
    expect(world.item(a, 'https')?.candidates).toEqual([world.truth.get(a)?.get('https')])
    expect(world.item(a, 'https')).toMatchObject({
      candidates: [{ cert_id: 2, http2: 'on', ocsp: 'on' }],
    })
  })

  it('drops a kept field whose candidates differ, unlike one whose candidates agree', async () => {
    const world = new World()
    const old = { cert_id: 1, force_https: 0, http2: 'on' }
    world.holds(
      a,
      { https: old },
      {
        status: 'in-doubt',
        candidates: [
          { ...old, ocsp: 'on' },
          { ...old, ocsp: 'off' },
        ],
      },
    )
    await world.apply(world.plan({ [a]: { https: { cert_id: 2 } } }))
    expect(world.item(a, 'https')).toMatchObject({
      status: 'confirmed',
      candidates: [{ cert_id: 2, force_https: 0, http2: 'on' }],
    })
    expect(world.item(a, 'https')?.candidates[0]).not.toHaveProperty('ocsp')
  })

  it('that unsets an item is recorded as unset, with the remaining value', async () => {
    const world = new World().holds(a, {
      ip_black_list: ips('192.0.2.1'),
      https: { cert_id: 1, force_https: 0, http2: 'on' },
    })
    await world.apply(world.plan({ [a]: { ip_black_list: null, https: null } }))
    expect(world.item(a, 'ip_black_list')).toMatchObject({ status: 'unset', candidates: [] })
    expect(world.item(a, 'https')).toMatchObject({
      status: 'unset',
      candidates: [{ cert_id: 0, force_https: 0, http2: 'on' }],
    })
    expect(world.plan({ [a]: { ip_black_list: null, https: null } }).changes).toEqual([])
  })

  it('does not release an item when the apply was interrupted before it began', async () => {
    const world = new World().holds(a, { timeout: time(10) })
    world.interrupt.abort()
    const result = await world.apply(world.plan({}))
    expect(result).toMatchObject({ sent: false, stopped: 'interrupted' })
    expect(world.item(a, 'timeout')).toMatchObject({ status: 'confirmed' })
    expect(world.log.filter((line) => line.startsWith('save'))).toEqual([])
  })

  it('removes a released item from state without a call', async () => {
    const world = new World()
      .holds(a, { timeout: time(5), rate_limit: { max_rate_count: 1 } })
      .holds(b, { timeout: time(5) })
    const result = await world.apply(world.plan({ [a]: { timeout: time(5) } }))
    expect(world.calls).toEqual([])
    expect(result).toMatchObject({ sent: false, confirmed: 0, notSent: 0, stopped: null })
    expect(Object.keys(world.durable[a] ?? {})).toEqual(['timeout'])
    expect(world.durable[b]).toBeUndefined()
  })

  it('records the templates of its secrets', async () => {
    const world = new World()
    world.secrets.listTemplates = (value): Record<string, string> =>
      JSON.stringify(value).includes('scrypt:1') ? { 'scrypt:1': 'signing' } : {}
    world.secrets.reveal = (payload) =>
      JSON.parse(JSON.stringify(payload).replace('{"$secret":"scrypt:1"}', '"plain"')) as Value
    const value = {
      pattern: '.*',
      time_format: 'timestamp',
      key: { $secret: 'scrypt:1' },
      deadtime: 60,
      req_uri_type: 1,
    }
    await world.apply(world.plan({ [a]: { visit_timestamp: value } }))
    expect(world.truth.get(a)?.get('visit_timestamp')).toMatchObject({ key: 'plain' })
    expect(world.item(a, 'visit_timestamp')).toMatchObject({
      candidates: [{ key: { $secret: 'scrypt:1' } }],
      templates: { 'scrypt:1': 'signing' },
    })
    expect(JSON.stringify(world.durable)).not.toContain('plain')
  })
})

describe('an in-doubt write', () => {
  it.each<[string, Record<string, Value>, Record<string, Value>, Form | null, string, object]>([
    [
      'leaves the old and the new value as candidates',
      { timeout: time(5) },
      { timeout: time(10) },
      null,
      'timeout',
      { candidates: [time(5), time(10)] },
    ],
    [
      'of an unrecorded item leaves the new value and an unknown one',
      {},
      { timeout: time(10) },
      null,
      'timeout',
      { candidates: [time(10)], unknown: true },
    ],
    [
      'marks items that it may have cleared as in-doubt',
      { ip_white_list: ips('192.0.2.1') },
      black('192.0.2.9'),
      null,
      'ip_white_list',
      { candidates: [ips('192.0.2.1')], unknown: true },
    ],
    [
      'of a delta has the result of the delta for each candidate',
      black('192.0.2.1'),
      black('192.0.2.1', '192.0.2.2'),
      appending,
      'ip_black_list',
      { candidates: [ips('192.0.2.1'), ips('192.0.2.1', '192.0.2.2')] },
    ],
  ])('%s', async (_what, before, after, form, item, expected) => {
    const world = new World().holds(a, before)
    const plan = world.plan({ [a]: after })
    await world.apply(form === null ? plan : by(plan, form), () => ({ outcome: doubt }))
    expect(world.item(a, item)).toMatchObject({ status: 'in-doubt', ...expected })
    expect(world.item(a, item)?.unknown === true).toBe('unknown' in expected)
  })

  it('is written again as a whole, even if the manifest is reverted', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    await world.apply(world.plan({ [a]: { timeout: time(10) } }), () => ({ outcome: doubt }))
    const again = world.plan({ [a]: { timeout: time(5) } })
    expect(again.changes).toMatchObject([{ action: 'change', reason: 'in-doubt' }])
    await world.apply(again)
    expect(world.item(a, 'timeout')).toMatchObject({ status: 'confirmed', candidates: [time(5)] })
  })

  it('collects candidates over several applies, without duplicates', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    for (const seconds of [10, 20, 10])
      await world.apply(world.plan({ [a]: { timeout: time(seconds) } }), () => ({ outcome: doubt }))
    expect(world.item(a, 'timeout')?.candidates).toEqual([time(5), time(10), time(20)])
  })
})

describe('a refused write', () => {
  it('to one domain leaves the state unchanged', async () => {
    const world = new World().holds(a, { timeout: time(5) })
    const before = world.durable[a]
    await world.apply(world.plan({ [a]: { timeout: time(10) } }), () => ({ outcome: bad }))
    expect(world.durable[a]).toEqual(before)
  })
})

describe('a write that was not sent', () => {
  it('leaves the state unchanged, in-doubt items included', async () => {
    const world = new World().holds(
      a,
      { timeout: time(5) },
      { status: 'in-doubt', candidates: [time(5), time(6)], unknown: true },
    )
    const before = world.durable[a]
    await world.apply(world.plan({ [a]: { timeout: time(10) } }), () => ({ outcome: unreached }))
    expect(world.durable[a]).toEqual(before)
  })

  it.each<[string, Outcome]>([
    ['refused', bad],
    ['throttled', { kind: 'throttled', message: 'slow', retryAfterMs: 1000, limits }],
    ['unreached', unreached],
    ['refused with no calls left', { ...bad, limits: { remaining: 0, resetMs: 400_000 } }],
  ])('is in-doubt when one attempt was, and the others were %s', async (what, then) => {
    const world = new World().holds(a, { timeout: time(5) })
    await world.apply(world.plan({ [a]: { timeout: time(10) } }), (call) => ({
      outcome: call === 0 ? doubt : then,
      saves: call === 0 ? [a] : [],
    }))
    const candidates = [time(5), time(10)]
    expect(world.item(a, 'timeout')).toMatchObject({ status: 'in-doubt', candidates })
    if (what !== 'refused') expect(world.events.at(-1)).toMatchObject({ inDoubt: 1, notSent: 0 })
  })

  it('is in-doubt when several domains refuse it without calls left', async () => {
    const world = new World().holds(a, { timeout: time(5) }).holds(b, { timeout: time(5) })
    const full: Outcome = { ...bad, limits: { remaining: 0, resetMs: 30_000 } }
    const plan = world.plan({ [a]: { timeout: time(10) }, [b]: { timeout: time(10) } })
    void world.clock.sleep(5000).then(() => world.interrupt.abort())
    await world.apply(plan, () => ({ outcome: full, saves: [b] }))
    expect(world.item(b, 'timeout')).toMatchObject({
      status: 'in-doubt',
      candidates: [time(5), time(10)],
    })
  })
})
