import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/json.ts'
import { createWorld } from './world.ts'

const good = { timeout: { time: '60' } }

describe('the order in which a write is judged', () => {
  it('reports wrong paths, methods and spellings before everything else', async () => {
    const service = createWorld()
    for (const request of [
      { path: '/v2/domain/config/' },
      { path: '/v2/Domain/config' },
      { path: '//v2/domain/config' },
      { path: '/' },
      { method: 'GET' },
      { method: 'DELETE' },
      { path: '/v2/domain', body: 'too large' },
      { path: '/v2/cache/prefetch', method: 'POST', body: '{' },
    ]) {
      const { status, body } = await service.request(request)
      expect({ request, status, body }).toEqual({
        request,
        status: 404,
        body: { code: 404001, message: expect.any(String) as string },
      })
    }
  })

  it('reports a body without a readable token before a wrong token', async () => {
    const service = createWorld()
    const query = 'token=wrong'
    const deep = `{"config": ${'['.repeat(40)}${']'.repeat(40)}}`
    expect(await service.request({ query, body: 'too large' })).toMatchObject({
      status: 413,
      body: { code: 413001 },
    })
    expect(await service.request({ query, body: 'x', contentType: 'text/xml' })).toMatchObject({
      status: 415,
      body: { code: 415001 },
    })
    for (const body of ['{', '[]', 'null', '"x"', '', deep]) {
      expect({ body, answer: await service.request({ query, body }) }).toMatchObject({
        answer: { status: body === '' ? 401 : 400 },
      })
    }
  })

  it('reports a wrong token, then the call rate, then wrong parameters', async () => {
    const service = createWorld({ callsPerMinute: 1 })
    expect(await service.write({})).toMatchObject({ status: 400 })
    expect(await service.write({})).toMatchObject({ status: 429, body: { code: 429001 } })
    expect(await service.request({ body: JSON.stringify({ token: 'wrong' }) })).toMatchObject({
      status: 401,
    })
  })
})

describe('the token', () => {
  const cases: [string, Json | undefined, string, number][] = [
    ['in the body', 'tok', '', 200],
    ['in the query', undefined, 'token=tok', 200],
    ['in the query, the last counts', undefined, 'token=wrong&token=tok&x=1', 200],
    ['in the query, the last is wrong', undefined, 'token=tok&token=wrong', 401],
    ['in both', 'tok', 'token=tok', 200],
    ['in both, the query empty', 'tok', 'token=', 401],
    ['in both, the body wrong', 'to', 'token=tok', 401],
    ['longer', 'tokk', '', 401],
    ['empty', '', '', 401],
    ['null', null, '', 401],
    ['a list', ['tok'], '', 401],
    ['missing', undefined, '', 401],
  ]
  it.each(cases)('%s', async (_, token, query, expected) => {
    const sent = {
      domains: 'www.example.com',
      config: good,
      ...(token === undefined ? {} : { token }),
    }
    expect(await createWorld().request({ query, body: JSON.stringify(sent) })).toMatchObject({
      status: expected,
    })
  })

  it('may be any text that is not empty if none is configured', async () => {
    const service = createWorld({ token: null })
    const send = (token: Json) =>
      service.request({ body: JSON.stringify({ token, domains: 'www.example.com', config: good }) })
    expect(await send('anything')).toMatchObject({ status: 200 })
    expect(await send('')).toMatchObject({ status: 401 })
    expect(await send(false)).toMatchObject({ status: 401 })
  })

  it('may be a number, like any numeric string', async () => {
    const body = JSON.stringify({ token: 12, domains: 'www.example.com', config: good })
    expect(await createWorld({ token: '12' }).request({ body })).toMatchObject({ status: 200 })
  })
})

describe('the domains', () => {
  const ten = Array.from({ length: 10 }, (_, i) => `d${i}.example.com`)

  it('are trimmed, in lower case and counted once', async () => {
    const { body } = await createWorld().write(
      good,
      ` WWW.example.com,www.Example.com , ${ten.slice(1).join(',')}`,
    )
    expect(body).toMatchObject({ code: 0 })
    expect(
      (body as { data: { domains: { domain: string }[] } }).data.domains.map(
        ({ domain }) => domain,
      ),
    ).toEqual(['www.example.com', ...ten.slice(1)])
  })

  it('must exist; the refusal uses the words of the specification', async () => {
    const service = createWorld({ domains: ['www.example.com'] })
    expect(await service.write(good, 'www.example.com,Other.example.com')).toEqual(
      expect.objectContaining({
        status: 400,
        body: { code: 400101, message: 'domain(other.example.com) is invalid' },
      }),
    )
    expect(await service.state()).toEqual({})
  })

  it.each([
    'localhost',
    '192.0.2.1',
    '*.example.com',
    'www.example.com.',
    'http://www.example.com',
    'a b.example.com',
  ])('are well-formed, unlike %s', async (domain) => {
    expect(await createWorld().write(good, domain)).toMatchObject({
      status: 400,
      body: { code: 400101, message: `domain(${domain}) is invalid` },
    })
  })

  it('keep their ids', async () => {
    const service = createWorld()
    const first = await service.write(good, 'a.example.com,b.example.com')
    const ids = (first.body as { data: { domains: { id: string; domain: string }[] } }).data.domains
    expect(new Set(ids.map(({ id }) => id)).size).toBe(2)
    await service.write(good, 'c.example.com')
    expect((await service.write(good, 'b.example.com,a.example.com')).body).toMatchObject({
      data: { domains: ids.toReversed() },
    })
  })
})
