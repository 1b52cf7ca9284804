import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { createWorld } from './world.ts'
import { itLong } from '../runs.ts'

const url = 'application/x-www-form-urlencoded'
const boundary = 'multipart/form-data; boundary=x'

/** Builds one part of a multipart form. */
function buildPart(name: string, value: string): string {
  return `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
}

function encodeForm(fields: [string, string][]): string {
  return String(new URLSearchParams([['token', 'tok'], ['domains', 'www.example.com'], ...fields]))
}

async function loadStateAfter(request: {
  contentType: string
  body: string | Uint8Array
}): Promise<Json> {
  const service = createWorld()
  expect((await service.request(request)).body).toMatchObject({ code: 0 })
  return ((await service.state()) as JsonObject)['www.example.com'] ?? null
}

describe('urlencoded bodies', () => {
  it('nest by brackets, with the types of the specification', async () => {
    const body = encodeForm([
      ['config[https][cert_id]', '1001'],
      ['config[https][http2]', 'on'],
      ['config[referer][type]', '1'],
      ['config[referer][list][]', 'b.example.com'],
      ['config[referer][list][]', 'a.example.com'],
      ['config[referer][allow_empty]', 'false'],
      ['config[cache_rule][0][type]', '4'],
      ['config[cache_rule][0][pattern]', '.*\\.(a|b)[0-9]=1 +'],
      ['config[cache_rule][0][time]', '0'],
      ['config[visit_deny_whitelist][0][url]', '/ä?x=[]=&y'],
      ['config[visit_deny_whitelist][0][turn_on]', 'true'],
      ['config[range_back_source]', 'off'],
    ])
    expect(await loadStateAfter({ contentType: `${url}; charset=UTF-8`, body })).toMatchObject({
      https: { cert_id: 1001, http2: 'on' },
      referer: { type: 1, list: ['a.example.com', 'b.example.com'], allow_empty: false },
      cache_rule: [{ type: 4, pattern: '.*\\.(a|b)[0-9]=1 +', time: 0 }],
      visit_deny_whitelist: [{ url: '/ä?x=[]=&y', turn_on: true }],
      range_back_source: 'off',
    })
  })

  it.each([
    ['numbered', (i: number) => `config[deny_url][urls][${i}]`],
    ['unnumbered', () => 'config[deny_url][urls][]'],
  ])('hold lists of hundreds of entries, %s, in their order', async (_, name) => {
    const entries = Array.from({ length: 300 }, (__, i): [string, string] => [
      name(i),
      `/path-${String(i).padStart(3, '0')}`,
    ])
    const { deny_url } = (await loadStateAfter({
      contentType: url,
      body: encodeForm(entries),
    })) as {
      deny_url: { urls: string[] }
    }
    expect(deny_url.urls).toEqual(entries.map(([, path]) => path))
  })

  it('may contain config as JSON', async () => {
    expect(
      await loadStateAfter({
        contentType: url,
        body: encodeForm([['config', '{"timeout": {"time": 60}}']]),
      }),
    ).toEqual({
      timeout: { time: '60' },
    })
  })

  it('use the last value of a repeated field', async () => {
    const body = encodeForm([
      ['config[timeout][time]', '60'],
      ['config[timeout][time]', '61'],
    ])
    expect(await loadStateAfter({ contentType: url, body })).toEqual({ timeout: { time: '61' } })
  })

  it.each([
    ['a prototype', 'config[__proto__][x]=1'],
    ['a prototype further down', 'config[timeout][__proto__][time]=1'],
    ['an encoded prototype', 'config%5B%5F%5Fproto__%5D%5Bx%5D=1'],
    ['bytes that are no UTF-8', 'config[origin_host][host]=%FF'],
    ['a broken escape', 'config[origin_host][host]=%4'],
    ['deep nesting', `config${'[a]'.repeat(40)}=1`],
    ['an index out of all measure', 'config[deny_url][urls][999999]=a'],
    ['malformed JSON', 'config={"timeout"'],
    ['too many fields', Array.from({ length: 21_000 }, (_, i) => `x${i}=`).join('&')],
  ])('are malformed with %s', async (_, fields) => {
    const answer = await createWorld().request({
      contentType: url,
      body: `token=tok&domains=www.example.com&${fields}`,
    })
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 400001, message: expect.stringMatching(/./) as string },
    })
    expect(({} as JsonObject)['x']).toBeUndefined()
  })

  it('treat names of prototype members as unknown items', async () => {
    const body = encodeForm([['config[constructor][prototype][x]', '1']])
    expect(await createWorld().request({ contentType: url, body })).toMatchObject({
      status: 400,
      body: { code: 400202 },
    })
  })
})

describe('multipart bodies', () => {
  const parts = [
    buildPart('token', 'tok'),
    buildPart('domains', 'www.example.com'),
    buildPart('config[origin_host][host]', 'o.example.com'),
  ]
  const whole = `${parts.join('')}--x--\r\n`

  it('nest by brackets, and count files as text', async () => {
    const multipart = new FormData()
    multipart.append('token', 'tok')
    multipart.append('domains', 'www.example.com')
    multipart.append(
      'config',
      new Blob(['{"extend": {"squid": "a\\r\\nb=ä&c"}}'], { type: 'application/json' }),
      'config.json',
    )
    const response = new Response(multipart)
    const body = new Uint8Array(await response.arrayBuffer())
    expect(
      await loadStateAfter({ contentType: response.headers.get('content-type') ?? '', body }),
    ).toEqual({ extend: { squid: 'a\r\nb=ä&c' } })
    expect(await loadStateAfter({ contentType: boundary, body: whole })).toEqual({
      origin_host: { host: 'o.example.com' },
    })
  })

  itLong('are answered wherever they are cut off, and save nothing', async () => {
    for (let length = 1; length < whole.length - 6; length++) {
      const service = createWorld()
      const { status } = await service.request({
        contentType: boundary,
        body: whole.slice(0, length),
      })
      expect({ length, status: [400, 401].includes(status) }).toEqual({ length, status: true })
      expect(await service.state()).toEqual({})
    }
  })

  it.each([
    ['no boundary', 'multipart/form-data', whole],
    ['another boundary', 'multipart/form-data; boundary=y', whole],
    ['a part without name', boundary, whole.replace('name="token"', 'x="y"')],
    ['a prototype', boundary, `${buildPart('__proto__[x]', '1')}${whole}`],
  ])('are malformed with %s', async (_, contentType, body) => {
    expect(await createWorld().request({ contentType, body })).toMatchObject({
      status: 400,
      body: { code: 400001 },
    })
  })
})

describe('content types', () => {
  const body = JSON.stringify({
    token: 'tok',
    domains: 'www.example.com',
    config: { timeout: { time: '60' } },
  })

  it.each([
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;charset="UTF8"',
  ])('%s is JSON', async (contentType) => {
    expect(await createWorld().request({ contentType, body })).toMatchObject({ status: 200 })
  })

  it.each([undefined, 'text/plain', 'application/json; charset=latin1', 'application/jsonx'])(
    '%s is unknown',
    async (contentType) => {
      expect(await createWorld().request({ contentType, body })).toMatchObject({
        status: 415,
        body: { code: 415001 },
      })
    },
  )

  it('compressed bodies are refused', async () => {
    expect(await createWorld().request({ contentEncoding: 'gzip', body })).toMatchObject({
      status: 415,
    })
  })

  it('bytes that are not UTF-8 are malformed', async () => {
    expect(await createWorld().request({ body: Buffer.from([0x7b, 0xff, 0x7d]) })).toMatchObject({
      status: 400,
      body: { code: 400001 },
    })
  })

  it('a malformed body is not quoted: it contains the token', async () => {
    const answer = await createWorld().request({ body: '{"token": "sesame", oops}' })
    expect(answer).toMatchObject({ status: 400, body: { code: 400001 } })
    expect(JSON.stringify(answer)).not.toContain('sesame')
  })
})
