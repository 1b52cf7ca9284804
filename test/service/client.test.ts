import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Connection } from '../../src/service/write/client.ts'

const url = 'https://api.cdn.test'
const token = 'tok-5ecret'
const secret = 'line one\nline "two"'

function createTestClient(options: Partial<Connection> = {}) {
  const scrub = (text: string) => text.replaceAll(token, '(token)').replaceAll(secret, '(secret)')
  return createClient({ url, token, timeoutMs: 2000, itemKeys: {}, scrub, ...options })
}

const write = (options: Partial<Connection> = {}) =>
  createTestClient(options).write(['a.example.com', 'b.example.com'], { timeout: { time: '60' } })

beforeAll(() => {
  if (!nock.isActive()) nock.activate()
  nock.disableNetConnect()
})
afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
})
afterAll(() => {
  nock.enableNetConnect()
  nock.restore()
})

describe('a write as the service sees it', () => {
  it('is one JSON body with token, domains and config; the address has no token', async () => {
    const seen: { path: string; body: unknown; headers: Record<string, unknown> }[] = []
    nock(url)
      .post(/.*/)
      .reply(function (path, body) {
        seen.push({ path, body, headers: this.req.headers })
        return [200, { code: 0 }]
      })
    await write()
    expect(seen).toHaveLength(1)
    expect(seen[0]?.path).toBe('/v2/domain/config')
    expect(seen[0]?.body).toEqual({
      token,
      domains: 'a.example.com,b.example.com',
      config: { timeout: { time: '60' } },
    })
    expect(String(seen[0]?.headers['content-type'])).toContain('application/json')
    expect(JSON.stringify([seen[0]?.path, seen[0]?.headers])).not.toContain(token)
  })

  it.each(['error_bcache', 'cache_error_code'])(
    'names %s in the answer if it was sent under a shared name',
    async (item) => {
      const payload = { bcache: 'off', code: ['404'] }
      const config = { cache_error_code: payload }
      nock(url).post('/v2/domain/config').reply(200, { code: 0, data: { config } })
      const client = createTestClient({ itemKeys: { error_bcache: 'cache_error_code' } })
      const outcome = await client.write(['a.example.com'], { [item]: payload })
      expect(outcome).toMatchObject({ kind: 'confirmed', config: { [item]: payload } })
    },
  )

  it('has the wire names of items, and so have answers', async () => {
    let config: unknown
    nock(url)
      .post('/v2/domain/config', (body: { config: unknown }) => {
        config = body.config
        return true
      })
      .reply(200, {
        code: 0,
        data: {
          config: {
            acme_auth: { auth_url: 'http://a' },
            no_proto: { protocol: 'http' },
            timeout: { time: '5' },
          },
        },
      })
    const named = createTestClient({
      itemKeys: { vendor_origin_auth: 'acme_auth', deny_protocol: 'no_proto' },
    })
    const outcome = await named.write(['a.example.com'], {
      vendor_origin_auth: { auth_url: 'http://a' },
      deny_protocol: { protocol: 'http' },
      timeout: { time: '5' },
    })
    expect(config).toEqual({
      acme_auth: { auth_url: 'http://a' },
      no_proto: { protocol: 'http' },
      timeout: { time: '5' },
    })
    expect(outcome).toMatchObject({
      kind: 'confirmed',
      config: {
        vendor_origin_auth: { auth_url: 'http://a' },
        deny_protocol: { protocol: 'http' },
        timeout: { time: '5' },
      },
    })
  })

  it('is sent once: the client itself never retries', async () => {
    let calls = 0
    nock(url)
      .persist()
      .post('/v2/domain/config')
      .reply(() => [[500, 429, 400][calls++ % 3] ?? 500, '{}'])
    await write()
    expect(calls).toBe(1)
  })
})

describe('messages', () => {
  async function writeRefused(status: number, message: string): Promise<string> {
    nock(url).post('/v2/domain/config').reply(status, { code: 9, message })
    return ((await write()) as { message: string }).message
  }

  it.each([400, 401, 404, 429, 500])(
    'of HTTP %i never show the token or a secret',
    async (status) => {
      const message = await writeRefused(status, `bad token ${token} and key ${secret}!`)
      expect(message).not.toContain(token)
      expect(message).not.toContain('line one')
    },
  )

  it('show no part of a token at the end of a message that is cut off', async () => {
    for (let before = 1980; before < 2000; before++) {
      const shown = (await writeRefused(400, `${'x'.repeat(before)}${token}`)).slice(before)
      expect(shown, `what is shown of a token from ${before} on`).not.toMatch(/^t/)
    }
  })
})

describe('a DELETE as the service sees it', () => {
  const unset = (options: Partial<Connection> = {}, secrets: null | [] = []) =>
    createTestClient(options).unset(
      ['a.example.com', 'b.example.com'],
      ['timeout', 'deny_protocol'],
      secrets,
    )
  const path = '/v2/domain/config'

  it('has the token, the domains and the names on the wire in its body, and no query', async () => {
    const seen: { path: string; body: unknown; headers: Record<string, unknown> }[] = []
    nock(url)
      .delete(/.*/)
      .reply(function (at, body) {
        seen.push({ path: at, body, headers: this.req.headers })
        return [200, { code: 0 }]
      })
    await unset({ itemKeys: { deny_protocol: 'protocol_deny' } })
    const [call] = seen
    expect(seen).toHaveLength(1)
    expect(call?.path).toBe(path)
    const config = ['timeout', 'protocol_deny']
    expect(call?.body).toEqual({ token, domains: 'a.example.com,b.example.com', config })
    expect(String(call?.headers['content-type'])).toContain('application/json')
    expect(JSON.stringify([call?.path, call?.headers])).not.toContain(token)
  })

  it.each<[string, object]>([
    ['nothing', {}],
    ['a text', { data: 'ok' }],
    ['an empty text', { data: '' }],
    ['null', { data: null }],
    ['a configuration', { data: { config: { timeout: { time: '60' } } } }],
  ])('is confirmed without values by an answer with %s', async (_name, data) => {
    nock(url)
      .delete(path)
      .reply(200, { code: 0, ...data })
    const outcome = await unset()
    expect(outcome).toMatchObject({ kind: 'confirmed' })
    expect(outcome).toHaveProperty('config', {})
  })

  it.each([
    [401, { code: 401_001, message: 'no' }],
    [404, 'not found'],
    [405, '<html>'],
    [400, { code: 401_006, message: 'no permission for the interface' }],
  ])('is accepted from no account if the answer is HTTP %i %j', async (status, body) => {
    nock(url).delete(path).reply(status, body)
    expect(await unset()).toMatchObject({
      kind: 'refused',
      fatal: true,
      message: expect.stringMatching(/^DELETE was not accepted by .* \(service\.unset in edgewise/),
    })
  })

  it('is refused for itself alone by other codes, and in-doubt without an answer', async () => {
    nock(url)
      .delete(path)
      .reply(400, { code: 400_101, message: `bad ${token}` })
    expect(await unset()).toMatchObject({ kind: 'refused', fatal: false, message: 'bad (token)' })
    nock(url).delete(path).reply(502, 'bad gateway')
    expect(await unset()).toMatchObject({ kind: 'in-doubt' })
    nock(url).delete(path).reply(200, 'ok')
    expect(await unset()).toMatchObject({ kind: 'in-doubt' })
  })

  it('shows no text of the answer if the value may have had a secret', async () => {
    nock(url).delete(path).reply(400, { code: 7, message: 'had timeout 5ecret' })
    const names = ['timeout']
    const outcome = await unset({ names }, null)
    expect(outcome).toMatchObject({ message: expect.stringContaining('code 7, timeout (message') })
    expect(JSON.stringify(outcome)).not.toContain('5ecret')
  })
})

it('a POST that is answered 405 is refused for itself alone', async () => {
  nock(url).post('/v2/domain/config').reply(405, { code: 405, message: 'no' })
  expect(await write()).toMatchObject({ kind: 'refused', fatal: false })
})
