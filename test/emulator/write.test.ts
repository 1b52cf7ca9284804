import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { createWorld } from './world.ts'

const good = { timeout: { time: '60' } }

function buildIps(from: number, count: number): string[] {
  return Array.from(
    { length: count },
    (_, i) => `10.0.${Math.floor((from + i) / 256)}.${(from + i) % 256}`,
  )
}

describe('a write', () => {
  it('answers exactly the submitted values, and stores canonical ones', async () => {
    const service = createWorld()
    const config = {
      referer: { type: '2', list: ['B.example.com', 'a.example.com'] },
      rate_limit: { max_rate_count: '5' },
    }
    const { status, body } = await service.write(config)
    expect(status).toBe(200)
    expect(body).toEqual({
      code: 0,
      data: { config, domains: [{ id: expect.any(String) as string, domain: 'www.example.com' }] },
    })
    expect(await service.state()).toMatchObject({
      'www.example.com': {
        referer: { type: 2, list: ['a.example.com', 'b.example.com'], allow_empty: true },
        rate_limit: { max_rate_count: 5, max_rate_unit: 'MB' },
      },
    })
  })

  it('is refused whole for one invalid item; the message names item and field', async () => {
    const service = createWorld()
    await service.write({ timeout: { time: '30' } }, 'a.example.com')
    const before = await service.state()
    const { body } = await service.write(
      { ...good, https: { cert_id: 1, http2: 'yes' }, referer: { type: 3, list: [] } },
      'a.example.com,b.example.com',
    )
    expect(body).toMatchObject({
      code: 400203,
      message: expect.stringMatching(
        /^item\(https\) field\(http2\) .*; item\(referer\) field\(type\) /,
      ) as string,
    })
    expect(await service.state()).toEqual(before)
  })

  it('reports how many problems it does not list', async () => {
    const { body } = await createWorld().write({
      deny_url: { urls: Array.from({ length: 30 }, () => ({})) },
    })
    expect((body as { message: string }).message).toMatch(/; and 20 more$/)
  })

  it('names an unknown item and suggests a known one', async () => {
    const { body } = await createWorld().write({ ...good, ip_blacklist: { list: [] } })
    expect(body).toMatchObject({
      code: 400202,
      message: 'item(ip_blacklist) is unknown. Did you mean "ip_black_list"?',
    })
  })

  it('handles names of prototype members', async () => {
    const service = createWorld()
    const buildBody = (config: string) =>
      `{"token": "tok", "domains": "www.example.com", "config": {${config}}}`
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const body = buildBody(`"${name}": {"time": "60"}`)
      expect(await service.request({ body })).toMatchObject({ status: 400, body: { code: 400202 } })
    }
    const body = buildBody('"timeout": {"time": "60", "__proto__": {"x": 1}}')
    expect(await service.request({ body })).toMatchObject({ status: 400, body: { code: 400203 } })
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  it('refuses the placeholder of a secret: on the wire it is an object', async () => {
    const { body } = await createWorld().write({
      origin_host: { host: { $secret: 'unresolved:host' } },
    })
    expect(body).toMatchObject({
      code: 400203,
      message: expect.stringContaining('item(origin_host) field(host)') as string,
    })
  })

  it('accepts mapped names beside the canonical ones', async () => {
    const service = createWorld({ itemKeys: { deny_protocol: 'forbid_scheme' } })
    expect((await service.write({ forbid_scheme: { protocol: 'http' } })).body).toMatchObject({
      data: { config: { forbid_scheme: { protocol: 'http' } } },
    })
    expect(await service.state()).toEqual({
      'www.example.com': { deny_protocol: { protocol: 'http' } },
    })
    expect(await service.write({ deny_protocol: { protocol: 'https' } })).toMatchObject({
      status: 200,
    })
    expect((await service.write({ forbid_scheme: { protocol: 'ftp' } })).body).toMatchObject({
      message: expect.stringContaining('item(forbid_scheme)') as string,
    })
    expect((await service.calls()).at(-1)).toMatchObject({ items: ['deny_protocol'] })
  })

  it('refuses wire names that collide', () => {
    expect(() => createWorld({ itemKeys: { timeout: 'https' } })).toThrow(
      /itemKeys\.timeout: "https" is the name of another item/,
    )
    expect(() => createWorld({ itemKeys: { timeout: 'x', https: 'x' } })).toThrow(
      /itemKeys\.https: the name "x" is already used for "timeout"/,
    )
    expect(() => createWorld({ itemKeys: { time_out: 'x' } })).toThrow(
      /itemKeys\.time_out: there is no item "time_out"\. Did you mean "timeout"\?/,
    )
  })

  it('distinguishes two items with the same name by their shape', async () => {
    const service = createWorld({ itemKeys: { error_bcache: 'cache_error_code' } })
    const on = { bcache: 'on', cache_unit: 'day', cache_time: 1 }
    const items = async (code: string) => {
      const { status } = await service.write({ cache_error_code: { ...on, code: [code] } })
      expect(status).toBe(200)
      return Object.keys(((await service.state()) as JsonObject)['www.example.com'] ?? {})
    }
    expect(await items('5XX')).toEqual(['cache_error_code'])
    expect(await items('5xx')).toEqual(['error_bcache'])
    expect(await items('5XX')).toEqual(['cache_error_code'])
    expect((await service.calls()).map(({ items: named }) => named)).toEqual([
      ['cache_error_code'],
      ['error_bcache'],
      ['cache_error_code'],
    ])
  })

  it('drops unknown fields if lenient, and stays strict about the others', async () => {
    const service = createWorld({ lenient: true })
    const config = {
      https: { cert_id: 1, hsts: 'on' },
      cache_rule: [{ type: 1, pattern: 'jpg', time: 1, x: 1 }],
    }
    expect((await service.write(config)).body).toMatchObject({ data: { config } })
    expect(await service.state()).toMatchObject({
      'www.example.com': { https: { cert_id: 1, force_https: 0 } },
    })
    expect(JSON.stringify(await service.state())).not.toMatch(/hsts|"x"/)
    expect(await service.write({ https: { hsts: 'on' } })).toMatchObject({ status: 400 })
    expect(await createWorld().write(config)).toMatchObject({ status: 400, body: { code: 400203 } })
  })
})

describe('items that are not simply replaced', () => {
  it('applies both IP lists in the order of the keys', async () => {
    const [black, white] = [{ list: ['192.0.2.1'] }, { list: ['192.0.2.2'] }]
    const service = createWorld()
    await service.write({ ip_black_list: black, ip_white_list: white }, 'a.example.com')
    await service.write({ ip_white_list: white, ip_black_list: black }, 'b.example.com')
    expect(await service.state()).toEqual({
      'a.example.com': { ip_white_list: { list: ['192.0.2.2'], mode: 'cover' } },
      'b.example.com': { ip_black_list: { list: ['192.0.2.1'], mode: 'cover' } },
    })
  })

  it('refuses an append whose resulting list is invalid, on all domains', async () => {
    const service = createWorld()
    await service.write({ ip_black_list: { list: ['10.1.0.0/16'] } }, 'a.example.com')
    await service.write({ ip_black_list: { list: buildIps(0, 150) } }, 'b.example.com')
    const before = await service.state()
    const both = 'c.example.com,a.example.com,b.example.com'
    const overlap = await service.write(
      { ...good, ip_black_list: { list: ['10.0.0.0/8'], mode: 'append' } },
      both,
    )
    expect(overlap).toMatchObject({
      status: 400,
      body: {
        code: 400203,
        message: expect.stringMatching(/item\(ip_black_list\).*overlap.*a\.example\.com/) as string,
      },
    })
    const tooMany = await service.write(
      { ...good, ip_black_list: { list: buildIps(150, 51), mode: 'append' } },
      both,
    )
    expect(tooMany).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('b.example.com') as string },
    })
    expect(await service.state()).toEqual(before)
    expect(
      await service.write({ ip_black_list: { list: buildIps(100, 100), mode: 'append' } }, both),
    ).toMatchObject({ status: 200 })
  })

  it('answers visit_deny_whitelist with the URLs that are switched on', async () => {
    const entries = [
      { url: '/b', turn_on: true },
      { url: '/a', turn_on: 'true' },
      { url: '/c', turn_on: false },
      { url: '/b', turn_on: false },
    ]
    const service = createWorld()
    expect((await service.write({ visit_deny_whitelist: entries })).body).toMatchObject({
      data: { config: { visit_deny_whitelist: { url: ['/a'] } } },
    })
    expect(await service.state()).toEqual({
      'www.example.com': { visit_deny_whitelist: [{ url: '/a', turn_on: true }] },
    })
    await service.write({ visit_deny_whitelist: [{ url: '/a', turn_on: false }] })
    expect(await service.state()).toEqual({})
  })

  it('names the domains beside data for combined_ban, alone or with others', async () => {
    const combined_ban = [{ configs: { ua: { list: ['curl'] } } }]
    const domains = [{ id: expect.any(String) as string, domain: 'www.example.com' }]
    for (const config of [{ combined_ban }, { ...good, combined_ban }]) {
      expect((await createWorld().write(config)).body).toEqual({
        code: 0,
        data: { config },
        domains,
      })
    }
  })
})

it.each([
  [{ name: 'A b', value: '1' }, 'field(list.0.name)'],
  [{ name: 'A' }, 'the field "value" is required'],
  [{ name: 'A', value: 'a\nb' }, 'field(list.0.value)'],
  [{ name: 'A', value: '1', other: 1 }, 'field(list.0.other)'],
])('names the field of a refused header %j', async (header, field) => {
  const { body } = await createWorld().write({ add_response_head: { list: [header] } })
  expect(body).toMatchObject({ message: expect.stringContaining(field) as unknown })
})
