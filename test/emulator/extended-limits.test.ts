import { describe, expect, it } from 'vitest'
import { createExtendedWorld, getData, type ExtendedWorld } from './extended-world.ts'
import type { WorldOptions } from './world.ts'
import { itLong } from '../runs.ts'

const read = 'GET /v2/domain/config?domains=www.example.com'
const domain = 'GET /v2/domain?domains=www.example.com'

/** Sends calls 100 ms apart, below the limit of the account, and returns their statuses. */
async function sendSlowly(
  service: ExtendedWorld,
  call: typeof read | typeof domain,
  count: number,
): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < count; n++) {
    service.clock.now += 100
    statuses.push((await service.send(call)).status)
  }
  return statuses
}

describe('the call rate of a query', () => {
  it.each([
    ['configurations', read, 30],
    ['domains', domain, 60],
  ] as const)('of %s has its own window', async (_, call, limit) => {
    const service = createExtendedWorld({ callsPerMinute: 1 })
    expect(await sendSlowly(service, call, limit + 1)).toEqual([
      ...Array<number>(limit).fill(200),
      429,
    ])
    const { headers, body } = await service.send(call)
    expect(headers).toMatchObject({
      'X-Ratelimit-Limit': String(limit),
      'X-Ratelimit-Remaining': '0',
      'X-Retry-After': String(60 - limit / 10),
    })
    expect(body).toMatchObject({ code: 429001 })
    service.clock.now += 60_000
    expect((await service.send(call)).headers).toMatchObject({
      'X-Ratelimit-Remaining': String(limit - 1),
    })
    expect((await service.write({ timeout: { time: '60' } })).status).toBe(200)
  })

  it('answers as the limit style says', async () => {
    const service = createExtendedWorld({ callsPerMinute: 1, limitStyle: 'body' })
    await sendSlowly(service, read, 30)
    expect(await service.send(read)).toMatchObject({ status: 200, body: { code: 429001 } })
  })

  it('does not exist without a call rate', async () => {
    const service = createExtendedWorld({ callsPerMinute: 0 })
    expect(new Set(await sendSlowly(service, read, 61))).toEqual(new Set([200]))
    expect((await service.send(read)).headers).toMatchObject({ 'X-Ratelimit-Limit': '1000000' })
  })
})

describe('the account', () => {
  it.each<[string, WorldOptions, number[]]>([
    ['24 calls in 2 seconds', { callsPerMinute: 100 }, [429, 200]],
    ['any calls without a call rate', { callsPerMinute: 0 }, [200, 200]],
    ['any calls of the specification', { callsPerMinute: 100, extended: false }, [200, 200]],
  ])('may make %s', async (_, options, expected) => {
    const service = createExtendedWorld(options)
    const write = async () => (await service.write({ timeout: { time: '60' } })).status
    for (let n = 0; n < 24; n++) expect(await write()).toBe(200)
    service.clock.now += 1999
    const late = await write()
    service.clock.now += 1
    expect([late, await write()]).toEqual(expected)
  })

  itLong('may prefetch 10,000 URLs a day', async () => {
    const service = createExtendedWorld({ callsPerMinute: 1, timezone: 'Asia/Shanghai' })
    const submit = (count: number) => {
      service.clock.now += 100
      const urls = Array.from({ length: count }, (__, i) => `https://www.example.com/${i}`)
      return service.send('POST /v2/cache/prefetch', { urls })
    }
    for (let n = 1; n <= 19; n++)
      expect((await submit(500)).headers).toMatchObject({
        'X-Push-Remaining': String(10_000 - n * 500),
      })
    expect(await submit(499)).toMatchObject({ status: 200 })
    expect(await submit(2)).toMatchObject({ status: 429, headers: { 'X-Push-Remaining': '1' } })
    // The local day of Shanghai ends at 16:00 UTC.
    service.clock.now = Date.UTC(2026, 10, 20, 16)
    const next = await submit(2)
    expect(getData(next.body)).toMatchObject({ count: 2 })
    expect(next.headers).toMatchObject({ 'X-Push-Remaining': '9998' })
  })
})
