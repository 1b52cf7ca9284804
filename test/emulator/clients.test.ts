import { describe, expect, it } from 'vitest'
import { createWorld, type World } from './world.ts'

const host = 'www.example.com'
const origin = { default_master: '192.0.2.10,192.0.2.11' }
const get = (service: World, path: string, more: Parameters<World['request']>[0] = {}) =>
  service.request({ method: 'GET', path, host, ...more })

async function configure(config: Parameters<World['write']>[0], domain = host): Promise<World> {
  const service = createWorld()
  expect(await service.write(config, domain)).toMatchObject({ status: 200 })
  return service
}

describe('a client of a configured domain', () => {
  it('gets 200, or 403 where the configuration denies it', async () => {
    const service = await configure({
      origin,
      deny_url: { urls: ['/private'] },
      user_agent: {
        ua_list: 'BadBot',
        url_pattern: '.*',
        url_case_insensitive: 'no',
        allow_empty_ua: 'yes',
        ua_case_insensitive: 'no',
        url_match_type: 'all',
        ua_type: 'black',
        ua_match_type: 'pattern',
      },
    })
    expect(await get(service, '/a')).toMatchObject({ status: 200, body: { domain: host } })
    expect(await get(service, '/private')).toMatchObject({ status: 403, body: { domain: host } })
    const headers = { 'user-agent': 'BadBot/1' }
    expect(await get(service, '/a', { headers })).toMatchObject({ status: 403 })
    expect(await service.calls()).toHaveLength(1)
  })

  it('is redirected to https, and refused by https without a certificate', async () => {
    const service = await configure({ origin, https: { cert_id: 1001, force_https: 301 } })
    const headers = { 'x-forwarded-proto': 'https' }
    expect(await get(service, '/a', { query: 'b=1' })).toMatchObject({
      status: 301,
      headers: { Location: `https://${host}/a?b=1` },
    })
    expect(await get(service, '/a', { headers })).toMatchObject({ status: 200 })
    await service.write({ https: { cert_id: 0 } })
    expect(await get(service, '/a', { headers })).toMatchObject({ delivery: 'reset' })
  })

  it('gets 502 while all origins are dead', async () => {
    const service = await configure({ origin })
    const statuses: number[] = []
    for (const dead of [['192.0.2.10'], ['192.0.2.10', '192.0.2.11'], []]) {
      await service.postControl('origins', { dead })
      statuses.push((await get(service, '/a')).status)
    }
    expect(statuses).toEqual([200, 502, 200])
  })

  it('is served by the nearest wildcard', async () => {
    const service = await configure({ origin, deny_url: { urls: ['/x'] } }, '.example.com')
    expect(await get(service, '/x', { host: 'a.b.example.com:8080' })).toMatchObject({
      status: 403,
      body: { domain: '.example.com' },
    })
  })

  it.each([
    ['/v2'],
    ['/v2/domain/config'],
    ['/_emulator'],
    ['/_emulator/state'],
    ['http://www.example.com/a'],
  ])('is not served under %s', async (path) => {
    const service = await configure({ origin })
    expect(await get(service, path)).toMatchObject({ status: 403, body: { code: 403001 } })
  })

  it.each([
    [{ host: 'other.example.com' }],
    [{ host: 'evil.example' }],
    [{ host: '' }],
    [{ origin: `http://${host}` }],
    [{ fetchSite: 'cross-site' }],
    [{ fetchSite: 'same-origin' }],
  ])('is served under no other name, and to no web page: %j', async (given) => {
    const service = await configure({ origin })
    expect(await get(service, '/a', given)).toMatchObject({ status: 403, body: { code: 403001 } })
  })

  it('gets 400 for what is no request', async () => {
    const service = await configure({ origin })
    expect(await get(service, '/a\u0001')).toMatchObject({ status: 400 })
  })
})
