import { describe, expect, it } from 'vitest'
import { createWorld } from './world.ts'
import { itLong } from '../runs.ts'

const good = { timeout: { time: '60' } }

describe('the control surface', () => {
  it('shows the items of all domains that have any', async () => {
    const service = createWorld()
    await service.write({ ...good, ip_black_list: { list: ['192.0.2.1'] } }, 'a.example.com')
    await service.write({ ip_black_list: { list: ['192.0.2.1'] } }, 'b.example.com')
    await service.write({ ip_black_list: { list: [] } }, 'a.example.com,b.example.com')
    expect((await service.request({ method: 'GET', path: '/_emulator/state' })).body).toEqual({
      domains: { 'a.example.com': good },
    })
  })

  it('lists the calls, and never the token', async () => {
    const service = createWorld({
      domains: ['a.example.com', 'b.example.com'],
      itemKeys: { error_bcache: 'x_cache' },
      callsPerMinute: 3,
    })
    const time = service.clock.now
    await service.write(good, 'b.example.com,A.example.com')
    service.clock.now += 5
    await service.write({ x_cache: {}, timeout: {} }, 'a.example.com')
    await service.write(good, 'c.example.com')
    await service.write(good, 'a.example.com')
    await service.request({ query: 'token=sesame', body: '{' })
    await service.request({ method: 'GET', path: '/v2/x', query: 'token=sesame' })
    const call = { method: 'POST', path: '/v2/domain/config', domains: [], items: [] }
    expect(await service.calls()).toEqual([
      {
        ...call,
        time,
        status: 200,
        code: 0,
        domains: ['b.example.com', 'a.example.com'],
        items: ['timeout'],
      },
      {
        ...call,
        time: time + 5,
        status: 400,
        code: 400203,
        domains: ['a.example.com'],
        items: ['error_bcache', 'timeout'],
      },
      {
        ...call,
        time: time + 5,
        status: 400,
        code: 400101,
        domains: ['c.example.com'],
        items: ['timeout'],
      },
      { ...call, time: time + 5, status: 429, code: 429001 },
      { ...call, time: time + 5, status: 400, code: 400001 },
      { ...call, time: time + 5, method: 'GET', path: '/v2/x', status: 404, code: 404001 },
    ])
  })

  itLong('keeps the last 10,000 calls', async () => {
    const service = createWorld()
    for (let n = 0; n < 10_003; n++) await service.request({ path: `/v2/${n}` })
    const calls = await service.calls()
    expect([calls.length, calls[0]?.['path'], calls.at(-1)?.['path']]).toEqual([
      10_000,
      '/v2/3',
      '/v2/10002',
    ])
  })

  it('resets everything except the existing domains', async () => {
    const service = createWorld({ domains: ['a.example.com'], callsPerMinute: 1 })
    await service.write(good, 'a.example.com')
    expect(await service.request({ path: '/_emulator/reset' })).toMatchObject({
      status: 200,
      body: { code: 0 },
    })
    expect([await service.state(), await service.calls()]).toEqual([{}, []])
    expect((await service.write(good, 'b.example.com')).body).toMatchObject({ code: 400101 })
    expect((await service.write(good, 'a.example.com')).status).toBe(429)
    await service.request({ path: '/_emulator/reset' })
    expect((await service.write(good, 'a.example.com')).status).toBe(200)
  })

  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('answers %s', async (peer) => {
    expect(
      await createWorld().request({ method: 'GET', path: '/_emulator/state', peer }),
    ).toMatchObject({
      status: 200,
      headers: {},
    })
  })

  it.each(['192.0.2.1', '::ffff:192.0.2.1', '1127.0.0.1', '127.0.0.1.example.com', ''])(
    'does not answer "%s"',
    async (peer) => {
      expect(
        await createWorld().request({ method: 'GET', path: '/_emulator/state', peer }),
      ).toMatchObject({ status: 404, body: { code: 404001 } })
    },
  )

  it('can be closed', async () => {
    const service = createWorld({ control: false })
    await service.write(good)
    expect(await service.request({ method: 'GET', path: '/_emulator/state' })).toMatchObject({
      status: 404,
    })
    expect(await service.request({ path: '/_emulator/reset' })).toMatchObject({ status: 404 })
  })

  it('accepts its own paths and methods only', async () => {
    for (const [method, path] of [
      ['POST', '/_emulator/state'],
      ['GET', '/_emulator/reset'],
      ['GET', '/_emulator/'],
      ['GET', '/v2/_emulator/state'],
    ]) {
      expect(await createWorld().request({ method: method ?? '', path: path ?? '' })).toMatchObject(
        {
          status: 404,
          body: { code: 404001 },
        },
      )
    }
  })
})
