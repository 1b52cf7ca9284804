import { describe, expect, it } from 'vitest'
import { createExtendedWorld, listEntries } from './extended-world.ts'
import { createWorld } from './world.ts'

const first = 'www.example.com'
const second = 'img.example.com'
const config = { timeout: { time: '60' }, deny_url: { urls: ['/a'] } }

describe('the query of the configuration', () => {
  it('has an entry for each existing domain, with an id that never changes', async () => {
    const service = createExtendedWorld({ domains: [first, second] })
    const path = `GET /v2/domain/config?domains=${second},gone.example.com,${first}` as const
    const before = await service.send(path)
    await service.write(config, first)
    const after = await service.send(path)
    const id = /^[1-9]\d*$/
    expect(listEntries(after.body)).toEqual([
      { domain: second, domain_id: expect.stringMatching(id) as string, config: [] },
      { domain: first, domain_id: expect.stringMatching(id) as string, config },
    ])
    const listIds = (answer: typeof before) =>
      listEntries(answer.body).map((entry) => entry['domain_id'])
    expect(listIds(before)).toEqual(listIds(after))
    expect(new Set(listIds(after)).size).toBe(2)
    expect((await service.write(config, first)).body).toMatchObject({
      data: { domains: [{ id: listIds(after)[1], domain: first }] },
    })
    expect((await service.send('GET /v2/domain/config?domains=gone.example.com')).body).toEqual({
      code: 0,
      data: [],
    })
  })

  it.each([
    ['config[]=timeout', { timeout: { time: '60' } }],
    ['config%5B%5D=timeout', { timeout: { time: '60' } }],
    ['config[]=timeout&config%5B%5D=deny_url&config[]=https', config],
    ['config[0]=deny_url', { deny_url: { urls: ['/a'] } }],
    ['config[]=https', []],
    ['unknown=1', config],
  ])('with %s has these items', async (query, expected) => {
    const service = createExtendedWorld()
    await service.write(config)
    expect(await service.read(first, `&${query}`)).toEqual(expected)
  })

  it('names items as the wire does', async () => {
    const service = createExtendedWorld({ itemKeys: { deny_protocol: 'forbid_http' } })
    await service.write({ forbid_http: { protocol: 'http' } })
    const expected = { forbid_http: { protocol: 'http' } }
    expect(await service.read(first)).toEqual(expected)
    expect(await service.read(first, '&config[]=forbid_http')).toEqual(expected)
    expect(await service.read(first, '&config[]=deny_protocol')).toEqual(expected)
  })

  it.each([
    [`domains=${first}&config=https`, 400, 400209, 'parameter config must be an array.'],
    [`domains=${first}&config=https&config[]=https`, 400, 400209, 'parameter config must be an'],
    [`domains=${first}&config[]=nothing`, 400, 400202, 'nothing'],
    ['config[]=https', 400, 400102, 'domains'],
    [
      `domains=${Array.from({ length: 11 }, (_, i) => `d${i}.example.com`).join()}`,
      400,
      400102,
      '10',
    ],
    [`domains=not_a_domain`, 400, 400101, 'not_a_domain'],
    [`domains=${first}&token=other`, 200, 0, undefined],
  ])('%s is answered with HTTP %i, code %i', async (query, status, code, message) => {
    const answer = await createExtendedWorld().send(`GET /v2/domain/config?${query}`)
    expect(answer).toMatchObject({ status, body: { code } })
    if (message !== undefined)
      expect(answer.body).toMatchObject({ message: expect.stringContaining(message) as string })
  })

  it('needs a token', async () => {
    const service = createExtendedWorld()
    const read = (query: string) =>
      service.request({ method: 'GET', path: '/v2/domain/config', query })
    expect((await read(`domains=${first}`)).body).toMatchObject({ code: 401001 })
    expect((await read(`domains=${first}&token=wrong`)).body).toMatchObject({ code: 401002 })
  })

  it('does not exist in the mode of the specification', async () => {
    const service = createWorld()
    for (const method of ['GET', 'DELETE'])
      expect(await service.request({ method, path: '/v2/domain/config' })).toMatchObject({
        status: 404,
        body: { code: 404001 },
      })
  })
})

describe('an unset', () => {
  it('removes the named items of all domains, set or not', async () => {
    const service = createExtendedWorld()
    await service.write(config, `${first},${second}`)
    const answer = await service.send('DELETE /v2/domain/config', {
      domains: `${first},${second}`,
      config: ['timeout', 'https'],
    })
    expect(answer).toMatchObject({ status: 200, body: { code: 0, data: '' } })
    const left = { deny_url: { urls: ['/a'] } }
    expect(await service.state()).toEqual({ [first]: left, [second]: left })
    await service.send('DELETE /v2/domain/config', { domains: first, config: ['deny_url'] })
    expect(await service.read(first)).toEqual([])
    expect((await service.calls()).at(-2)).toMatchObject({
      method: 'DELETE',
      domains: [first],
      items: ['deny_url'],
    })
  })

  it('takes the token from the body or the query', async () => {
    const service = createExtendedWorld()
    const body = { domains: first, config: ['timeout'] }
    const send = (token: object) =>
      service.request({
        method: 'DELETE',
        path: '/v2/domain/config',
        body: JSON.stringify({ ...body, ...token }),
      })
    expect((await send({ token: 'tok' })).status).toBe(200)
    expect((await send({})).body).toMatchObject({ code: 401001 })
    expect((await send({ token: 'wrong' })).body).toMatchObject({ code: 401002 })
  })

  it.each([
    [{ domains: first, config: ['timeout', 'nothing'] }, 400202],
    [{ domains: first, config: 'timeout' }, 400209],
    [{ domains: first, config: { timeout: null } }, 400209],
    [{ domains: first }, 400209],
    [{ domains: first, config: [] }, 400201],
    [{ domains: `${first},gone.example.com`, config: ['timeout'] }, 400101],
    [{ domains: [first], config: ['timeout'] }, 400102],
  ])('%j is refused as a whole', async (body, code) => {
    const service = createExtendedWorld({ domains: [first] })
    await service.write(config)
    const answer = await service.send('DELETE /v2/domain/config', body)
    expect(answer).toMatchObject({ status: 400, body: { code } })
    expect(await service.state()).toEqual({ [first]: config })
  })

  it('counts against the call rate of writes', async () => {
    const service = createExtendedWorld({ callsPerMinute: 2 })
    const body = { domains: first, config: ['timeout'] }
    expect((await service.write(config)).headers).toMatchObject({ 'X-Ratelimit-Remaining': '1' })
    expect((await service.send('DELETE /v2/domain/config', body)).headers).toMatchObject({
      'X-Ratelimit-Limit': '2',
      'X-Ratelimit-Remaining': '0',
    })
    expect(await service.send('DELETE /v2/domain/config', body)).toMatchObject({ status: 429 })
    expect(await service.write(config)).toMatchObject({ status: 429 })
  })
})

describe('faults', () => {
  it('affect the calls beyond the specification', async () => {
    const service = createExtendedWorld({
      faults: [
        { kind: 'error', item: 'https', status: 502 },
        { kind: 'refuse', item: 'timeout' },
        { kind: 'reset-after', domain: second },
      ],
    })
    expect(
      await service.send(`GET /v2/domain/config?domains=${first}&config[]=https`),
    ).toMatchObject({ status: 502, body: { code: 500002 } })
    const unset = { domains: first, config: ['timeout'] }
    const refused = await service.send('DELETE /v2/domain/config', unset)
    expect(refused.body).toMatchObject({
      code: 400203,
      message: expect.stringContaining('item(timeout)') as string,
    })
    expect(await service.send(`GET /v2/domain?domains=${second}`)).toMatchObject({
      delivery: 'reset',
    })
    const created = { domain: second, area: 'global', type: 'page', config }
    expect(await service.send('POST /v2/domain', created)).toMatchObject({ delivery: 'reset' })
    const urls = { urls: [`https://${second}/a`] }
    expect(await service.send('POST /v2/cache/prefetch', urls)).toMatchObject({ delivery: 'reset' })
    expect(await service.send(`DELETE /v2/domain?domains=${second}`)).toMatchObject({
      delivery: 'reset',
    })
  })

  it('can save an unset for some of its domains', async () => {
    const service = createExtendedWorld({ faults: [{ kind: 'partial', on: [2] }] })
    await service.write(config, `${first},${second}`)
    await service.send('DELETE /v2/domain/config', {
      domains: `${first},${second}`,
      config: ['timeout', 'deny_url'],
    })
    expect(await service.state()).toEqual({ [second]: config })
  })
})

it('takes its parameters in a JSON body, with the token', async () => {
  const service = createExtendedWorld({ domains: [first, second] })
  await service.write(config, first)
  const body = { token: 'tok', domains: `${first},${second}`, config: ['timeout'] }
  const answer = await service.request({
    method: 'GET',
    path: '/v2/domain/config',
    query: '',
    body: JSON.stringify(body),
  })
  expect(listEntries(answer.body)).toMatchObject([
    { domain: first, config: { timeout: { time: '60' } } },
    { domain: second, config: [] },
  ])
})

it('unsets both IP lists at once', async () => {
  const service = createExtendedWorld({ domains: [first] })
  await service.write({ ip_black_list: { list: ['192.0.2.1'] } }, first)
  const items = ['ip_black_list', 'ip_white_list']
  const answer = await service.send('DELETE /v2/domain/config', { domains: first, config: items })
  expect(answer.status).toBe(200)
  expect(await service.read(first)).toEqual([])
})
