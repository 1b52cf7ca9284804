import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/json.ts'
import { createExtendedWorld, getData, listEntries, type ExtendedWorld } from './extended-world.ts'

const origin = { default_master: '192.0.2.1', origin_mode: 'default' }
const fresh = { domain: 'new.example.com', area: 'global', type: 'page', config: { origin } }

async function list(service: ExtendedWorld, query = ''): Promise<Json> {
  const { list: domains, ...rest } = getData(
    (await service.send(`GET /v2/domain/list${query}`)).body,
  )
  const names = listEntries({ data: domains ?? null }).map((entry) => entry['domain'] ?? null)
  return { ...rest, names }
}

describe('creating a domain', () => {
  it.each([null, ['www.example.com']])('makes it exist beside %j', async (domains) => {
    const service = createExtendedWorld({ domains })
    const created = await service.send('POST /v2/domain', fresh)
    expect(created.body).toEqual({
      code: 0,
      data: {
        id: expect.stringMatching(/^[1-9]\d*$/) as string,
        domain: fresh.domain,
        type: 'page',
        status: 'deploying',
        cname: 'new.example.com.cdn.example',
        config: { origin },
      },
    })
    const { id } = getData(created.body)
    expect(await service.read(fresh.domain)).toMatchObject({ origin: { origin_mode: 'default' } })
    expect((await service.write({ timeout: { time: '60' } }, fresh.domain)).body).toMatchObject({
      data: { domains: [{ id, domain: fresh.domain }] },
    })
    expect(await service.state()).toEqual({
      [fresh.domain]: { origin, timeout: { time: '60' } },
    })
  })

  it.each<[string, object, number]>([
    ['of a name twice', {}, 400103],
    ['of a domain that exists without', { domain: 'www.example.com' }, 400103],
    ['of an invalid name', { domain: 'nothing' }, 400101],
    ['of two names', { domain: 'a.example.com,b.example.com' }, 400101],
    ['in an unknown area', { domain: 'a.example.com', area: 'moon' }, 400302],
    ['of an unknown type', { domain: 'a.example.com', type: 'toString' }, 400302],
    ['without configuration', { domain: 'a.example.com', config: {} }, 400201],
    ['with an invalid item', { domain: 'a.example.com', config: { origin: {} } }, 400203],
  ])('%s is refused', async (_, part, code) => {
    const service = createExtendedWorld({ domains: ['www.example.com'] })
    expect((await service.send('POST /v2/domain', fresh)).body).toMatchObject({ code: 0 })
    const before = await service.state()
    const answer = await service.send('POST /v2/domain', { ...fresh, ...part })
    expect(answer).toMatchObject({ status: 400, body: { code } })
    expect(await service.state()).toEqual(before)
    expect(await list(service)).toMatchObject({ total_number: '2' })
  })

  it('may be a wildcard', async () => {
    const service = createExtendedWorld({ domains: [] })
    const wildcard = { ...fresh, domain: '.example.com' }
    expect((await service.send('POST /v2/domain', wildcard)).status).toBe(200)
    expect((await service.write({ timeout: { time: '60' } }, '.example.com')).status).toBe(200)
    expect(await service.read('.example.com', '&config[]=timeout')).toEqual({
      timeout: { time: '60' },
    })
  })
})

describe('the query of domains', () => {
  it('has their records', async () => {
    const service = createExtendedWorld({ domains: ['www.example.com'], timezone: 'Asia/Shanghai' })
    await service.send('POST /v2/domain', { ...fresh, type: 'download' })
    service.clock.now += 61_000
    await service.write({ https: { cert_id: 7 } }, fresh.domain)
    const query = `domains=www.example.com,gone.example.com,${fresh.domain}`
    const answer = await service.send(`GET /v2/domain?${query}`)
    expect(listEntries(answer.body)).toEqual([
      expect.objectContaining({
        domain: 'www.example.com',
        status: 'serving',
        create_time: '',
        update_time: '',
        https: 0,
        config: [],
      }) as object,
      {
        id: expect.stringMatching(/^[1-9]\d*$/) as string,
        domain: fresh.domain,
        type: 'download',
        status: 'serving',
        icp_status: 'no',
        icp_num: '',
        area: 'global',
        cname: 'new.example.com.cdn.example',
        create_time: '2026-11-20 08:00:00',
        update_time: '2026-11-20 08:01:01',
        https: 1,
        config: {
          origin: { ...origin, ori_https: 'no', port: '' },
          https: { cert_id: 7, force_https: '0', http2: '' },
        },
      },
    ])
  })

  it('shows for a while that a change is deploying', async () => {
    const service = createExtendedWorld({ deployMs: 5000 })
    const getStatus = async () =>
      listEntries((await service.send(`GET /v2/domain?domains=${fresh.domain}`)).body)[0]?.[
        'status'
      ]
    expect(await getStatus()).toBe('serving')
    await service.send('POST /v2/domain', fresh)
    service.clock.now += 4999
    expect(await getStatus()).toBe('deploying')
    expect(await list(service, '?domain_status=deploying')).toMatchObject({ total_number: '1' })
    service.clock.now += 1
    expect(await getStatus()).toBe('serving')
    await service.write({ timeout: { time: '60' } }, fresh.domain)
    expect(await getStatus()).toBe('deploying')
    service.clock.now += 5000
    await service.send('DELETE /v2/domain/config', { domains: fresh.domain, config: ['timeout'] })
    expect(await getStatus()).toBe('deploying')
    service.clock.now -= 60_000
    expect(await getStatus()).toBe('serving')
  })
})

describe('the list of domains', () => {
  it('has pages, whose totals are texts', async () => {
    const domains = Array.from({ length: 120 }, (_, i) => `d${i}.example.com`)
    const service = createExtendedWorld({ domains })
    expect(await list(service)).toEqual({
      total_number: '120',
      page_number: '1',
      names: domains.slice(0, 100),
    })
    expect(await list(service, '?page_number=3&page_size=50&domain_status=')).toEqual({
      total_number: '120',
      page_number: '3',
      names: domains.slice(100),
    })
    expect(await list(service, '?domain_status=suspend')).toMatchObject({ total_number: '0' })
    for (const query of ['page_size=501', 'page_size=0', 'page_number=x', 'domain_status=none'])
      expect(await service.send(`GET /v2/domain/list?${query}`)).toMatchObject({ status: 400 })
  })

  it('has those that were written, if every domain exists', async () => {
    const service = createExtendedWorld()
    expect(await list(service)).toMatchObject({ total_number: '0' })
    await service.write({ timeout: { time: '60' } }, 'www.example.com')
    expect(await list(service)).toMatchObject({ names: ['www.example.com'] })
  })
})

describe('removing domains', () => {
  it('forgets their configuration, until they are created again', async () => {
    const service = createExtendedWorld()
    await service.send('POST /v2/domain', fresh)
    await service.write({ timeout: { time: '60' } }, 'www.example.com')
    const path = `DELETE /v2/domain?domains=${fresh.domain},www.example.com` as const
    expect((await service.send(path)).body).toEqual({ code: 0 })
    expect(await service.state()).toEqual({})
    expect(await service.read(fresh.domain)).toBeUndefined()
    expect(await service.write({ timeout: { time: '60' } }, fresh.domain)).toMatchObject({
      status: 400,
      body: { code: 400101 },
    })
    const record = await service.send(`GET /v2/domain?domains=${fresh.domain}`)
    expect(listEntries(record.body)).toMatchObject([{ status: 'deleted', config: [] }])
    expect(await list(service)).toMatchObject({ total_number: '2' })
    expect(await list(service, '?domain_status=serving,suspend')).toMatchObject({
      total_number: '0',
    })
    expect((await service.send('POST /v2/domain', fresh)).status).toBe(200)
    expect(await service.read(fresh.domain)).toMatchObject({
      origin: { default_master: '192.0.2.1' },
    })
    expect(await list(service, '?domain_status=serving,suspend')).toMatchObject({
      names: [fresh.domain],
    })
  })

  it('is refused as a whole', async () => {
    const service = createExtendedWorld({ domains: ['www.example.com'] })
    const path = 'DELETE /v2/domain?domains=www.example.com,gone.example.com' as const
    expect((await service.send(path)).body).toMatchObject({ code: 400101 })
    expect(await list(service)).toMatchObject({ total_number: '1' })
    expect((await service.send('DELETE /v2/domain')).body).toMatchObject({ code: 400102 })
  })
})

describe('what real clients send', () => {
  it('creates a domain without an area, and finds it by its id', async () => {
    const service = createExtendedWorld()
    const { area: _, ...rest } = fresh
    expect((await service.send('POST /v2/domain', rest)).status).toBe(200)
    const [record] = listEntries(
      (await service.send(`GET /v2/domain?domains=${fresh.domain}`)).body,
    )
    const byId = await service.send(`GET /v2/domain?domains=${String(record?.['id'])}`)
    expect(listEntries(byId.body)).toMatchObject([{ domain: fresh.domain, area: 'mainland_china' }])
  })

  it('lists domains of several statuses, where serving includes deploying', async () => {
    const service = createExtendedWorld({ deployMs: 10_000 })
    await service.send('POST /v2/domain', fresh)
    expect(await list(service, '?domain_status=serving,suspend')).toMatchObject({
      names: expect.arrayContaining([fresh.domain]) as unknown,
    })
    expect(await list(service, '?domain_status=suspend')).toMatchObject({ total_number: '0' })
    const wrong = await service.send('GET /v2/domain/list?domain_status=serving,gone')
    expect(wrong.status).toBe(400)
  })
})
