import { describe, expect, it } from 'vitest'
import { createWorld, type World } from './world.ts'

const good = { timeout: { time: '60' } }

async function send(service: World, count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < count; n++) statuses.push((await service.write(good)).status)
  return statuses
}

function buildHeaders(remaining: number, resetSeconds: number, id: number): Record<string, string> {
  return {
    'Api-Id': `request-${id}`,
    'X-Ratelimit-Grad': 'minute',
    'X-Ratelimit-Limit': '2',
    'X-Ratelimit-Remaining': String(remaining),
    'X-Retry-After': String(resetSeconds),
  }
}

describe('the call rate', () => {
  it('slides: any 60 seconds have at most 30 calls', async () => {
    const service = createWorld({ callsPerMinute: 30 })
    expect(new Set(await send(service, 10))).toEqual(new Set([200]))
    service.clock.now += 50_000
    expect(new Set(await send(service, 20))).toEqual(new Set([200]))
    service.clock.now += 9_999
    expect(await send(service, 1)).toEqual([429])
    service.clock.now += 1
    expect(await send(service, 11)).toEqual([...Array<number>(10).fill(200), 429])
    service.clock.now += 49_999
    expect(await send(service, 1)).toEqual([429])
    service.clock.now += 1
    expect(await send(service, 20)).toEqual(Array<number>(20).fill(200))
  })

  it('is in the headers of every answer, with the time until the next free call', async () => {
    const service = createWorld({ callsPerMinute: 2 })
    expect((await service.request({ path: '/v2/nothing' })).headers).toMatchObject(
      buildHeaders(2, 0, 1),
    )
    expect((await service.write(good)).headers).toMatchObject(buildHeaders(1, 60, 2))
    service.clock.now += 10_999
    expect((await service.write({})).headers).toMatchObject(buildHeaders(0, 50, 3))
    const refused = await service.write(good)
    expect(refused).toMatchObject({
      status: 429,
      headers: buildHeaders(0, 50, 4),
      body: { code: 429001, message: expect.stringContaining('50 seconds') as string },
    })
    service.clock.now += 49_001
    expect((await service.write(good)).headers).toMatchObject(buildHeaders(0, 11, 5))
  })

  it('counts refused writes, and neither 401 nor 429 nor other paths', async () => {
    const service = createWorld({ callsPerMinute: 2 })
    const wrong = {
      body: JSON.stringify({ token: 'wrong', domains: 'www.example.com', config: good }),
    }
    expect((await service.write({ nothing: 1 })).status).toBe(400)
    for (let n = 0; n < 5; n++) {
      expect((await service.request(wrong)).status).toBe(401)
      expect((await service.request({ path: '/v2/nothing' })).status).toBe(404)
      expect((await service.request({ body: '{' })).status).toBe(400)
    }
    expect(await send(service, 3)).toEqual([200, 429, 429])
    service.clock.now += 60_000
    expect(await send(service, 2)).toEqual([200, 200])
  })

  it('refuses nothing at 0, and reports 1000000', async () => {
    const service = createWorld({ callsPerMinute: 0 })
    expect(new Set(await send(service, 100))).toEqual(new Set([200]))
    expect((await service.write(good)).headers).toMatchObject({
      'X-Ratelimit-Limit': '1000000',
      'X-Ratelimit-Remaining': '1000000',
    })
  })

  it('neither forgets nor stays full when the clock is set back', async () => {
    const service = createWorld({ callsPerMinute: 1 })
    await send(service, 1)
    service.clock.now -= 3_600_000
    expect(await service.write(good)).toMatchObject({
      status: 429,
      headers: { 'X-Retry-After': '60' },
    })
  })
})
