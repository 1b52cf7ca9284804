import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import type { Json } from '../../src/core/model/json.ts'
import { createWorld, type World } from './world.ts'
import { itLong } from '../runs.ts'

const good = { timeout: { time: '60' } }
const both = 'a.example.com,b.example.com'

async function listStatuses(
  service: World,
  count: number,
  config: Json = good,
  domains = 'a.example.com',
): Promise<number[]> {
  const answers: number[] = []
  for (let n = 0; n < count; n++) answers.push((await service.write(config, domains)).status)
  return answers
}

function createFaulty(...faults: Fault[]): World {
  return createWorld({ faults })
}

describe('faults', () => {
  it('delay: the answer is late and otherwise unchanged', async () => {
    const service = createFaulty({ kind: 'delay', ms: 60, on: [2] })
    await service.write(good)
    const begun = performance.now()
    expect((await service.write(good)).status).toBe(200)
    expect(performance.now() - begun).toBeGreaterThan(50)
  })

  it('error: a 5xx without effect', async () => {
    const service = createFaulty(
      { kind: 'error', on: [1], status: 502 },
      { kind: 'error', on: [2] },
    )
    expect(await service.write(good)).toMatchObject({ status: 502, body: { code: 500002 } })
    expect((await service.write(good)).status).toBe(503)
    expect(await service.state()).toEqual({})
    expect((await service.write(good)).status).toBe(200)
  })

  it('reset-before: nothing happened; reset-after: the write took effect', async () => {
    const before = createFaulty({ kind: 'reset-before' })
    expect(await before.write(good)).toMatchObject({ delivery: 'reset' })
    expect(await before.state()).toEqual({})
    const after = createFaulty({ kind: 'reset-after' })
    expect(await after.write(good)).toMatchObject({ delivery: 'reset' })
    expect(await after.state()).toEqual({ 'www.example.com': good })
  })

  it.each(['truncated', 'not-json'] as const)('%s: the write took effect', async (kind) => {
    const service = createFaulty({ kind })
    expect(await service.write(good)).toMatchObject({ delivery: kind })
    expect(await service.state()).toEqual({ 'www.example.com': good })
  })

  it('unauthorized-from: 401 from some call on', async () => {
    const service = createFaulty({ kind: 'unauthorized-from', on: [3] })
    expect(await listStatuses(service, 5)).toEqual([200, 200, 401, 401, 401])
    expect(await service.query('/v2/cache/prefetch', { task_id: '1' })).toMatchObject({
      status: 401,
    })
  })

  it('rate: a lower limit than the headers announce', async () => {
    const service = createWorld({ callsPerMinute: 30, faults: [{ kind: 'rate', limit: 2 }] })
    expect(await listStatuses(service, 3)).toEqual([200, 200, 429])
    expect((await service.write(good)).headers).toMatchObject({
      'X-Ratelimit-Limit': '30',
      'X-Ratelimit-Remaining': '28',
    })
    service.clock.now += 60_000
    expect(await listStatuses(service, 1)).toEqual([200])
    const half = createWorld({ callsPerMinute: 30, faults: [{ kind: 'rate' }] })
    expect((await listStatuses(half, 16)).indexOf(429)).toBe(15)
    expect(await listStatuses(createFaulty({ kind: 'rate', on: [2] }), 3)).toEqual([200, 429, 200])
  })

  it('refuse: a domain or an item, named in the message or not; nothing is saved', async () => {
    const service = createFaulty(
      { kind: 'refuse', domain: 'B.example.com'.toLowerCase() },
      { kind: 'refuse', item: 'https' },
      { kind: 'refuse', item: 'extend', named: false },
    )
    expect(await service.write(good, both)).toMatchObject({
      status: 400,
      body: { code: 400101, message: 'domain(b.example.com) is invalid' },
    })
    const item = await service.write({ ...good, https: { cert_id: 1 } }, 'a.example.com')
    expect(item).toMatchObject({
      status: 400,
      body: { code: 400203, message: expect.stringContaining('item(https)') as string },
    })
    const unnamed = await service.write({ ...good, extend: { squid: 'x' } }, 'a.example.com')
    expect(unnamed.status).toBe(400)
    expect(JSON.stringify(unnamed.body)).not.toMatch(/extend|example/)
    expect(await service.state()).toEqual({})
    expect(await listStatuses(service, 1)).toEqual([200])
  })

  it('partial: the good domains are saved, then the call is refused', async () => {
    for (const [fault, saved] of [
      [{ kind: 'partial' }, 'a.example.com'],
      [{ kind: 'partial', domain: 'a.example.com' }, 'b.example.com'],
    ] as const) {
      const service = createFaulty(fault)
      expect((await service.write(good, both)).status).toBe(400)
      expect(await service.state()).toEqual({ [saved]: good })
    }
  })

  it('rewrite: the returned value differs from the one sent', async () => {
    const service = createFaulty({ kind: 'rewrite', item: 'https' })
    const { body } = await service.write({ ...good, https: { cert_id: 7, http2: 'on' } })
    expect(body).toMatchObject({
      code: 0,
      data: { config: { ...good, https: { cert_id: 8, http2: 'on' } } },
    })
    expect(await service.state()).toMatchObject({ 'www.example.com': { https: { cert_id: 7 } } })
  })

  itLong('by probability occur at their rate, equally for the same seed', async () => {
    const run = async (seed: string) =>
      listStatuses(createWorld({ seed, faults: [{ kind: 'error', probability: 0.2 }] }), 500)
    const first = await run('a')
    expect(first.filter((status) => status === 503).length / 500).toBeCloseTo(0.2, 1)
    expect(await run('a')).toEqual(first)
    expect(await run('b')).not.toEqual(first)
  })

  it('count the calls that they apply to', async () => {
    const service = createFaulty({ kind: 'error', domain: 'b.example.com', on: [2] })
    expect(await listStatuses(service, 3)).toEqual([200, 200, 200])
    expect(await listStatuses(service, 3, good, both)).toEqual([200, 503, 200])
    await service.postControl('faults', { faults: [{ kind: 'error', on: [1] }] })
    await service.request({ path: '/v2/nothing' })
    await service.query('/v2/nothing', {})
    expect(await listStatuses(service, 2)).toEqual([503, 200])
    expect(await service.postControl('faults', { faults: [] })).toMatchObject({
      status: 200,
      body: { code: 0 },
    })
  })

  it.each<Json>([
    {},
    { faults: {} },
    { faults: ['error'] },
    { faults: [{ kind: 'nothing' }] },
    { faults: [{ kind: 'error', on: [0] }] },
    { faults: [{ kind: 'error', on: 2 }] },
    { faults: [{ kind: 'error', probability: 2 }] },
    { faults: [{ kind: 'error', on: [1], probability: 1 }] },
    { faults: [{ kind: 'error', ms: 5 }] },
    { faults: [{ kind: 'error', staus: 500 }] },
    { faults: [{ kind: 'refuse' }] },
    { faults: [], more: 1 },
  ])('that can not be understood are refused, and those of before stay: %j', async (body) => {
    const service = createFaulty({ kind: 'error', on: [1] })
    expect(await service.postControl('faults', body)).toMatchObject({
      status: 400,
      body: { code: 400901, message: expect.stringMatching(/./) as string },
    })
    expect(await listStatuses(service, 1)).toEqual([503])
  })
})

describe('the clock', () => {
  it('stands still once it is set, and moves on request', async () => {
    const service = createWorld({ callsPerMinute: 1 })
    const now = service.clock.now
    expect((await service.postControl('clock', { advanceMs: 5 })).body).toEqual({
      code: 0,
      now: now + 5,
    })
    service.clock.now += 1_000_000
    expect((await service.postControl('clock', { advanceMs: 0 })).body).toEqual({
      code: 0,
      now: now + 5,
    })
    expect(await listStatuses(service, 2)).toEqual([200, 429])
    await service.postControl('clock', { advanceMs: 60_000 })
    expect(await listStatuses(service, 1)).toEqual([200])
    expect((await service.postControl('clock', { now: 0 })).body).toEqual({ code: 0, now: 0 })
  })

  it.each<Json>([
    {},
    { now: 1, advanceMs: 1 },
    { now: '1' },
    { now: -1 },
    { now: 1e300 },
    { advanceMs: 0.5 },
    { day: 1 },
    [],
  ])('refuses %j', async (body) => {
    expect((await createWorld().postControl('clock', body)).status).toBe(400)
  })
})

it('the style "body" refuses a call over the rate with HTTP 200 and a code', async () => {
  const service = createWorld({ callsPerMinute: 1, limitStyle: 'body' })
  await service.write(good)
  expect(await service.write(good)).toMatchObject({
    status: 200,
    body: { code: 429001, message: expect.stringMatching(/./) as string },
  })
})
