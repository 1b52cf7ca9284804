import { describe, expect, it } from 'vitest'
import { parseAnswer } from '../../src/service/write/client.ts'
import type { Outcome } from '../../src/core/model/outcome.ts'

function parse(status: number, body: unknown, headers: Record<string, string> = {}): Outcome {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return parseAnswer(
    { status, header: (name) => lower.get(name.toLowerCase()) ?? null, body: text },
    (name) => name,
  )
}

const parseKind = (status: number, body: unknown) => parse(status, body).kind

describe('the meaning of an answer', () => {
  it('HTTP 200 and code 0 is confirmed, with the returned values', () => {
    const config = { timeout: { time: '60' } }
    expect(
      parse(200, { code: 0, data: { config, domains: [{ id: '7', domain: 'a.example.com' }] } }),
    ).toEqual({
      kind: 'confirmed',
      config,
      domains: [{ id: '7', domain: 'a.example.com' }],
      limits: { remaining: null, resetMs: null },
    })
  })

  it.each([
    [400, { code: 400001, message: 'no' }],
    [400, { code: -1, message: 'no' }],
    [200, { code: 1, message: 'no' }],
    [200, { code: 400101 }],
  ])('HTTP %i with %j is refused, and the apply continues', (status, body) => {
    expect(parse(status, body)).toMatchObject({
      kind: 'refused',
      status,
      code: body.code,
      fatal: false,
    })
  })

  it.each([
    [401, 'the token is wrong, or it may not write configurations'],
    [403, 'the token may not write configurations'],
    [404, 'there is no such interface at this address'],
  ])('HTTP %i of the service is refused and ends the apply', (status, words) => {
    for (const body of [{ code: 0 }, { code: 5, message: 'm' }])
      expect(parse(status, body)).toMatchObject({ kind: 'refused', status, fatal: true })
    expect(parse(status, { code: 5 })).toMatchObject({ message: words })
    expect(parse(status, { code: 5, message: 'm' })).toMatchObject({ message: 'm' })
    expect(parse(429, { code: 5 })).toMatchObject({ message: 'too many calls in this minute' })
  })

  it('a 4xx without the envelope is refused; 401 and 404 end the apply', () => {
    for (let status = 400; status < 500; status++)
      for (const body of ['', '<html>', '[]', {}, { message: 'm' }, { code: '0' }])
        expect(parse(status, body)).toMatchObject({
          message: `HTTP ${status} without an answer of the service: a proxy or firewall?`,
          ...(status === 429
            ? { kind: 'throttled' }
            : { kind: 'refused', status, code: null, fatal: [401, 404].includes(status) }),
        })
  })

  it.each([
    ['a wrong number', { code: 429001, message: 'slow down' }],
    ['code 0', { code: 0 }],
    ['no JSON', '<html>'],
    ['nothing', ''],
  ])('HTTP 429 with %s is throttled', (_what, body) =>
    expect(parseKind(429, body)).toBe('throttled'),
  )

  it.each([500, 502, 503, 504, 599])('HTTP %i is in-doubt, even with a code', (status) => {
    for (const body of [{ code: 0 }, { code: 1, message: 'no' }, '<html>'])
      expect(parseKind(status, body)).toBe('in-doubt')
  })

  it.each([300, 301, 302, 303, 307, 308])('a redirect (%i) is in-doubt', (status) => {
    for (const body of [{ code: 0 }, { code: 1 }, ''])
      expect(parseKind(status, body)).toBe('in-doubt')
  })

  it.each([
    '',
    '   ',
    'ok',
    '<html></html>',
    '{"code": 0',
    '{"code": 0}}',
    '[]',
    '[{"code":0}]',
    'null',
    '0',
    '"0"',
  ])('HTTP 200 with %j is no JSON object and in-doubt', (body) =>
    expect(parseKind(200, body)).toBe('in-doubt'),
  )

  it('HTTP 200 with too many levels is in-doubt', () => {
    const config = (levels: number) =>
      `{"code": 0, "data": {"config": {"timeout": ${'['.repeat(levels)}${']'.repeat(levels)}}}}`
    expect(parseKind(200, config(20))).toBe('confirmed')
    expect(parseKind(200, config(100_000))).toBe('in-doubt')
  })

  it.each([
    {},
    { code: null },
    { code: '0' },
    { code: '1' },
    { code: true },
    { code: [0] },
    { code: { a: 0 } },
    { code: 0.5 },
  ])('HTTP 200 with %j has no numeric code and is in-doubt', (body) =>
    expect(parseKind(200, body)).toBe('in-doubt'),
  )

  it('code 0 without HTTP 200 is neither confirmed nor refused', () => {
    for (const status of [201, 202, 204, 206, 304, 400, 409, 500])
      expect(parseKind(status, { code: 0 })).toBe('in-doubt')
  })
})

describe('the data of an answer', () => {
  const a = { id: '1', domain: 'a.example.com' }

  it('domains within data and at the top level (combined_ban); invalid entries are ignored', () => {
    expect(parse(200, { code: 0, data: { config: {}, domains: [a] } })).toMatchObject({
      domains: [a],
    })
    expect(parse(200, { code: 0, data: { config: {} }, domains: [a] })).toMatchObject({
      domains: [a],
    })
    expect(parse(200, { code: 0, domains: [{ id: 5, domain: 'n.example.com' }] })).toMatchObject({
      domains: [{ id: '5', domain: 'n.example.com' }],
    })
    expect(
      parse(200, {
        code: 0,
        data: { domains: [null, 'x', {}, { id: 1 }, { domain: 1, id: 1 }, a] },
      }),
    ).toMatchObject({ domains: [a] })
    expect(parse(200, { code: 0, data: { domains: 'a.example.com' } })).toMatchObject({
      kind: 'confirmed',
      domains: [],
    })
  })

  it('a confirmed write without a readable configuration is still confirmed', () => {
    for (const data of [
      undefined,
      null,
      [],
      'x',
      { config: null },
      { config: [] },
      { config: 'x' },
    ]) {
      expect(parse(200, { code: 0, data })).toMatchObject({ kind: 'confirmed', config: {} })
    }
  })

  it('visit_deny_whitelist as {url: [...]}, unchanged', () => {
    const config = { visit_deny_whitelist: { url: ['/a', '/b?c'] } }
    expect(parse(200, { code: 0, data: { config } })).toMatchObject({ config })
  })

  it('wire names become items', () => {
    const body = JSON.stringify({ code: 0, data: { config: { acme_auth: 1, timeout: 2 } } })
    const items = parseAnswer({ status: 200, header: () => null, body }, (name) =>
      name === 'acme_auth' ? 'vendor_origin_auth' : name,
    )
    expect(items).toMatchObject({ config: { vendor_origin_auth: 1, timeout: 2 } })
  })

  it('names of prototype members are data', () => {
    const outcome = parse(
      200,
      '{"code": 0, "__proto__": {"code": 7}, ' +
        '"data": {"config": {"__proto__": {"x": 1}, "constructor": 1}}}',
    )
    expect(outcome).toMatchObject({ kind: 'confirmed' })
    expect(Object.hasOwn((outcome as { config: object }).config, '__proto__')).toBe(true)
    expect(({} as { x?: number }).x).toBeUndefined()
  })
})

describe('the rate-limit headers', () => {
  it('are parsed in every answer that has them', () => {
    const headers = {
      'X-Ratelimit-Grad': 'minute',
      'X-Ratelimit-Remaining': '3',
      'X-Retry-After': '17',
    }
    for (const [status, body] of [
      [200, { code: 0 }],
      [400, { code: 1 }],
      [429, ''],
      [401, ''],
    ] as const) {
      expect(parse(status, body, headers)).toMatchObject({
        limits: { remaining: 3, resetMs: 17_000 },
      })
    }
  })

  it.each(['hour', 'day'])('are those of the %s that they name', (period) => {
    const parseGrad = (status: number, more: Record<string, string> = {}) =>
      parse(status, { code: 0 }, { 'X-Ratelimit-Grad': period, ...more })
    const limits = { remaining: 0, resetMs: null, period }
    expect(parseGrad(200, { 'X-Ratelimit-Remaining': '0' })).toMatchObject({ limits })
    expect(parseGrad(500, { 'X-Ratelimit-Remaining': '0' })).toMatchObject({
      kind: 'in-doubt',
      limits,
    })
    // A refusal for the rate is of the period that it names.
    expect(parseGrad(429)).toMatchObject({ limits })
  })

  it('of a period that is not specified limit nothing', () => {
    const headers = { 'X-Ratelimit-Grad': 'second', 'X-Ratelimit-Remaining': '0' }
    expect(parse(200, { code: 0 }, headers)).toMatchObject({ limits: { remaining: null } })
  })

  it.each(['', 'soon', '-1', '1.5', '1e3', '0x10', '99999999999999999999', 'NaN'])(
    '%j is not a number of calls or seconds',
    (text) => {
      const headers = { 'X-Ratelimit-Remaining': text, 'X-Retry-After': text }
      expect(parse(429, '', headers)).toMatchObject({
        retryAfterMs: null,
        limits: { remaining: null, resetMs: null },
      })
    },
  )

  it('a throttled call has its wait from X-Retry-After or Retry-After', () => {
    expect(parse(429, '', { 'X-Retry-After': '9' })).toMatchObject({ retryAfterMs: 9000 })
    expect(parse(429, '', { 'Retry-After': '8' })).toMatchObject({ retryAfterMs: 8000 })
    expect(parse(429, '')).toMatchObject({ retryAfterMs: null })
  })
})

describe('a hostile message', () => {
  const parseMessage = (message: unknown) =>
    (parse(400, { code: 1, message }) as { message: string }).message

  it('has no escape codes, line ends or other control characters', () => {
    const text = parseMessage(
      '\u001b[2Jred\u001b]0;title\u0007\r\nfake line\u0000\u009b31m\u0085end\u007f',
    )
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
    expect(text).toContain('fake line')
  })

  it('of a megabyte is cut off', () => {
    expect(parseMessage('x'.repeat(1024 * 1024)).length).toBeLessThanOrEqual(4096)
    expect(
      JSON.stringify(parse(500, { code: 1, message: 'x'.repeat(1024 * 1024) })).length,
    ).toBeLessThanOrEqual(4096)
  })

  it('that is not a text is not shown as one', () => {
    for (const message of [undefined, null, 5, {}, ['x'], ''])
      expect(parseMessage(message)).toMatch(/HTTP 400/)
  })
})
