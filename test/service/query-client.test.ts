import { describe, expect, it } from 'vitest'
import type { Question } from '../../src/core/model/statistics.ts'
import type { Transport } from '../../src/service/transport.ts'
import { createWorld } from '../emulator/world.ts'
import {
  buildAnswer,
  createTestClient,
  collectEach,
  collectTogether,
  createEmulatorTransport,
  token,
  type CannedAnswer,
} from './query-world.ts'
import { fc, itLong, runs } from '../runs.ts'

const at = (text: string) => Date.parse(`${text}Z`)
const domain = 'a.example.com'
const hour: Question & { domains: string[] } = {
  domains: [domain],
  from: at('2026-11-19T10:00'),
  to: at('2026-11-19T11:00'),
  grain: 'minute5',
}

/** Sends hand-made answers, repeating the last one. */
function createTransport(...answers: (CannedAnswer | Error)[]): Transport {
  let n = 0
  return async () => {
    const next = answers[Math.min(n++, answers.length - 1)] ?? { body: {} }
    if (next instanceof Error) throw next
    return buildAnswer(next)
  }
}

const series = (points: unknown, name = domain) => ({
  body: { code: 0, data: { [name]: { domain: name, data: points } } },
})
const lost = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

async function queryEach(
  transport: Transport,
  question = hour,
  options: Parameters<typeof createTestClient>[1] = {},
) {
  const { queries, clock, requests } = createTestClient(transport, options)
  const got = await clock.drive(collectEach(queries, question))
  return { got, clock, requests }
}

async function queryFailure(
  transport: Transport,
  question = hour,
  options: Parameters<typeof createTestClient>[1] = {},
) {
  const error = await queryEach(transport, question, options).then(
    () => new Error('expected a failure'),
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ name: 'EdgewiseError' })
  const { code, message, hint } = error as { code: string; message: string; hint: string }
  expect(message + hint).not.toContain(token)
  expect(message + hint).not.toContain(encodeURIComponent(token))
  expect(message + hint).not.toContain('5ecret')
  return { code, message, hint }
}

describe('a query as the service sees it', () => {
  it('has all parameters in the query string, escaped, and no body', async () => {
    const { requests } = await queryEach(createTransport(series([])), {
      ...hour,
      domains: [domain, 'b.example.com'],
      area: 'cn',
      labels: 'end',
    })
    expect(requests).toHaveLength(1)
    expect(requests[0]?.body).toBeUndefined()
    expect(requests[0]?.url).toContain('https://api.cdn.test/v2/stat/httpcode/eachDomain?')
    expect(requests[0]?.url).toContain('start_time=2026-11-19%2010%3A00')
    expect(requests[0]?.query).toEqual({
      token,
      domains: 'a.example.com,b.example.com',
      start_time: '2026-11-19 10:00',
      end_time: '2026-11-19 10:59',
      grad: 'minute5',
      stat_is_forward: '1',
      query_area: 'cn',
    })
  })

  it('of the emulator returns twelve points of an hour, also as a sum', async () => {
    const service = createWorld({ token })
    const { got } = await queryEach(createEmulatorTransport(service))
    const points = got.get(domain) ?? []
    expect(points.map(({ time }) => time)).toEqual(
      Array.from({ length: 12 }, (_, i) => hour.from + i * 300_000),
    )
    const { queries } = createTestClient(createEmulatorTransport(service))
    expect(await collectTogether(queries, hour)).toEqual(points)
  })

  it('uses the local time of the zone', async () => {
    const service = createWorld({ token, timezone: 'Asia/Shanghai' })
    const { got, requests } = await queryEach(createEmulatorTransport(service), hour, {
      timezone: 'Asia/Shanghai',
    })
    expect(requests[0]?.query).toMatchObject({
      start_time: '2026-11-19 18:00',
      end_time: '2026-11-19 18:59',
    })
    expect(got.get(domain)?.[0]?.time).toBe(hour.from)
  })
})

describe('failed queries', () => {
  it.each<[string, CannedAnswer | Error]>([
    ['HTTP 500', { status: 500, body: '' }],
    ['HTTP 503 with code 0', { status: 503, body: { code: 0 } }],
    ['a reset', lost('ECONNRESET')],
    ['a refused connection', lost('ECONNREFUSED')],
    ['a time-out', new DOMException('timed out', 'TimeoutError')],
    ['no JSON', { body: '<html>' }],
    ['half a JSON', { body: '{"code": 0, "data": {' }],
    ['no code', { body: { data: {} } }],
  ])('%s is sent again, with a growing pause', async (_what, reply) => {
    const { got, clock, requests } = await queryEach(
      createTransport(reply, reply, series([[hour.from / 1000, { '200': 3 }]])),
    )
    expect(requests).toHaveLength(3)
    expect(clock.slept).toEqual([750, 1500])
    expect(got.get(domain)).toEqual([{ time: hour.from, counts: { '200': 3 } }])
    const result = await queryFailure(createTransport(reply))
    expect(result).toMatchObject({ code: 'service-failed' })
    expect(result.message).toContain('5 attempts')
  })

  it.each([300, 301, 302, 307, 308, 399])(
    'a redirect (%i) is not followed, and the token is not sent on',
    async (status) => {
      const headers = { Location: `https://elsewhere.test/?token=${token}` }
      const { message } = await queryFailure(
        createTransport({ status, body: { code: 0, data: {} }, headers }),
      )
      expect(message).toContain(`redirect (HTTP ${status})`)
    },
  )

  it('an error with the address contains no token', async () => {
    await queryFailure((request) =>
      Promise.reject(new TypeError(`Failed to parse URL from ${request.url}`)),
    )
  })
})

describe('the pace', () => {
  it('waits for the reset when no calls remain', async () => {
    const headers = { 'X-Ratelimit-Remaining': '0', 'X-Retry-After': '7' }
    const day = { ...hour, grain: 'minute' as const, to: hour.from + 10 * 86_400_000 }
    const { clock, requests } = await queryEach(createTransport({ ...series([]), headers }), {
      ...day,
      domains: [domain],
    })
    expect(requests).toHaveLength(10)
    expect(Math.max(...clock.slept)).toBe(7000)
  })

  it('waits after 429 as long as the service demands, or a minute, and queries again', async () => {
    const result = await queryEach(
      createTransport(
        { status: 429, body: { code: 1 }, headers: { 'Retry-After': '5' } },
        series([]),
      ),
    )
    expect(result.clock.slept).toEqual([5000])
    expect(
      (await queryEach(createTransport({ status: 429, body: '' }, series([])))).clock.slept,
    ).toEqual([60_000])
    expect((await queryFailure(createTransport({ status: 429, body: '' }))).code).toBe(
      'service-failed',
    )
  })

  it('reports a wait once, however many queries wait', async () => {
    const waited: number[] = []
    const headers = { 'X-Ratelimit-Remaining': '0', 'X-Retry-After': '7' }
    const { queries, clock } = createTestClient(createTransport({ ...series([]), headers }), {
      onWait: (ms) => waited.push(ms),
    })
    const days: typeof hour = { ...hour, grain: 'minute', to: hour.from + 9 * 86_400_000 }
    await clock.drive(collectEach(queries, days))
    // Four start at once; from then on one waits after another.
    expect([waited.length, new Set(waited)]).toEqual([5, new Set([7000])])
  })

  it('refuses a wait that is too long', async () => {
    const { message, hint } = await queryFailure(
      createTransport({ status: 429, body: '', headers: { 'X-Retry-After': '3600' } }),
    )
    expect(message).toContain('3600 s; expected at most 300 s')
    expect(hint).toContain('limits.maxWaitSeconds')
    const fiveMinutes = () =>
      createTransport({ status: 429, body: '', headers: { 'X-Retry-After': '300' } }, series([]))
    expect((await queryEach(fiveMinutes())).clock.slept).toEqual([300_000])
    expect(await queryFailure(fiveMinutes(), hour, { maxWaitMs: 299_999 })).toMatchObject({
      code: 'service-failed',
    })
  })

  it('has at most four in flight', async () => {
    let [running, most] = [0, 0]
    const question = {
      ...hour,
      domains: Array.from({ length: 300 }, (_, i) => `d${i}.example.com`),
    }
    await queryEach(async () => {
      most = Math.max(most, ++running)
      for (let i = 0; i < 10; i++) await Promise.resolve()
      running--
      return buildAnswer({ body: { code: 0, data: {} } })
    }, question)
    expect(most).toBe(4)
  })

  it('ends when interrupted', async () => {
    const stop = new AbortController()
    const transport: Transport = async () => {
      stop.abort()
      return buildAnswer({ status: 500, body: '' })
    }
    expect(await queryFailure(transport, hour, { signal: stop.signal })).toMatchObject({
      code: 'declined',
      message: 'interrupted',
    })
  })
})

describe('refusals of the service', () => {
  it('401: the token lacks the permission', async () => {
    const { code, message, hint } = await queryFailure(
      createTransport({
        status: 401,
        body: { code: 401002, message: `bad ${token} ${encodeURIComponent(token)}` },
      }),
    )
    expect(code).toBe('access')
    expect(message).toContain('the token lacks permission for statistics (HTTP 401)')
    expect(hint).toMatch(/Not accepted by https:.*check EDGEWISE_TOKEN.*ask the operator/)
  })

  it.each([
    [401, 'access', 'the token is wrong, or this interface is not enabled for it'],
    [403, 'access', 'HTTP 403, no message'],
    [404, 'service-refused', 'there is no such interface at this address'],
  ])(
    'HTTP %i without a message is described in words, for any body',
    async (status, code, words) => {
      for (const body of [{ code: 5 }, { code: 0, data: {} }]) {
        const result = await queryFailure(createTransport({ status, body }))
        expect([result.code, result.message]).toEqual([code, expect.stringContaining(words)])
      }
    },
  )

  it.each([200, 400])('400101 with HTTP %i names the domain', async (status) => {
    const body = { code: 400101, message: 'domain(b.example.com) is invalid' }
    const { code, message } = await queryFailure(createTransport({ status, body }), {
      ...hour,
      domains: [domain, 'b.example.com'],
    })
    expect(code).toBe('service-refused')
    expect(message).toContain('does not know b.example.com')
    expect(message).not.toContain(domain)
    const shouted = createTransport({
      status,
      body: { ...body, message: 'domain(B.EXAMPLE.com) is invalid' },
    })
    expect(
      await queryFailure(shouted, { ...hour, domains: [domain, 'b.example.com'] }),
    ).toMatchObject({
      message: expect.stringContaining('does not know b.example.com (') as string,
    })
  })

  it('400101 without a name lists all domains of the query', async () => {
    const { message } = await queryFailure(
      createTransport({ body: { code: 400101, message: '' } }),
      {
        ...hour,
        domains: [domain, 'b.example.com'],
      },
    )
    expect(message).toContain('one of a.example.com, b.example.com')
  })

  it('any other refusal has its code and is not retried', async () => {
    const { requests } = createTestClient(createTransport({ body: {} }))
    expect(requests).toEqual([])
    expect(
      await queryFailure(createTransport({ status: 400, body: { code: 7, message: 'too much' } })),
    ).toMatchObject({
      code: 'service-refused',
      message: 'the service refused the query for statistics (HTTP 400, code 7): too much',
    })
  })
})

describe('hostile answers', () => {
  const first = hour.from / 1000

  it('points may be sparse and in any order; counts may be an empty list', async () => {
    const points = [
      [first + 900, { '0': 2, '200': 5 }],
      [first, []],
      [first + 300, {}],
    ]
    const { got } = await queryEach(createTransport(series(points, 'A.example.com')))
    expect(got.get(domain)).toEqual([
      { time: hour.from, counts: {} },
      { time: hour.from + 300_000, counts: {} },
      { time: hour.from + 900_000, counts: { '0': 2, '200': 5 } },
    ])
  })

  it('an absent domain has no points; an empty list is no data', async () => {
    expect((await queryEach(createTransport({ body: { code: 0, data: [] } }))).got.size).toBe(0)
    expect((await queryEach(createTransport({ body: { code: 0, data: {} } }))).got.size).toBe(0)
  })

  it.each<[string, unknown, string]>([
    [
      'a label twice',
      [
        [first, {}],
        [first, {}],
      ],
      'twice',
    ],
    ['a negative count', [[first, { '200': -1 }]], 'count of status 200'],
    ['half a request', [[first, { '200': 0.5 }]], 'count of status 200'],
    ['a count in text', [[first, { '200': '5' }]], 'count of status 200'],
    ['a status that is a word', [[first, { ok: 1 }]], 'status code'],
    ['a prototype', `[[${first}, {"__proto__": 1}]]`, 'status code'],
    ['a time with a fraction', [[first + 0.5, {}]], 'whole seconds'],
    ['a time in text', [[String(first), {}]], 'whole seconds'],
    ['a time beyond all calendars', [[9e15, {}]], 'whole seconds'],
    ['a status of four digits', [[first, { 1000: 1 }]], 'status code'],
    ['a status with a zero before it', [[first, { '0200': 1 }]], 'status code'],
    ['counts that are a number', [[first, 5]], 'counts by status code'],
    ['counts that are a text', [[first, 'x']], 'counts by status code'],
    ['counts that are null', [[first, null]], 'counts by status code'],
    ['a list of counts', [[first, [1]]], 'counts by status code'],
    ['three elements', [[first, {}, 1]], '[seconds, counts]'],
    ['one element', [[first]], '[seconds, counts]'],
    ['an object for a point', [{ 0: first, 1: {} }], '[seconds, counts]'],
    ['no list', { a: 1 }, 'list of points'],
    ['null', null, 'list of points'],
  ])('%s is an error', async (_what, points, word) => {
    const data = typeof points === 'string' ? (JSON.parse(points) as unknown) : points
    const { code, message } = await queryFailure(createTransport(series(data)))
    expect([code, message]).toEqual(['answer-invalid', expect.stringContaining(word)])
  })

  it('a domain outside the query, or with another name inside, is an error', async () => {
    expect(
      (await queryFailure(createTransport(series([], 'other.example.com')))).message,
    ).toContain('other.example.com')
    const body = { code: 0, data: { [domain]: { domain: 'other.example.com', data: [] } } }
    expect((await queryFailure(createTransport({ body }))).message).toContain(
      'expected "domain" to be a.example.com',
    )
  })

  itLong('of any shape are parsed or refused with a message, without a defect', async () => {
    // Every part is sometimes valid, so that errors may lie deep.
    const counts = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom('0', '200', '0200', 'x', '__proto__'),
        fc.oneof(fc.nat(), fc.jsonValue()),
      ),
    )
    const label = fc.oneof(
      fc.jsonValue(),
      fc.integer({ min: -4, max: 15 }).map((n) => first + 300 * n),
    )
    const points = fc.oneof(
      fc.jsonValue(),
      fc.array(fc.oneof(fc.jsonValue(), fc.tuple(label, counts))),
    )
    const anySeries = fc.record({
      domain: fc.oneof(fc.jsonValue(), fc.constant(domain)),
      data: points,
    })
    const anyEach = fc.dictionary(
      fc.constantFrom(domain, domain.toUpperCase(), 'other.example.com'),
      fc.oneof(fc.jsonValue(), anySeries),
    )
    const record = fc.record({
      id: fc.jsonValue(),
      url: fc.jsonValue(),
      status: fc.constantFrom('failed', 'x', 1),
      create_time: fc.string(),
    })
    const page = fc.record({
      total: fc.oneof(fc.nat(3), fc.jsonValue()),
      page_number: fc.constantFrom(1, 2),
      list: fc.array(fc.oneof(record, fc.jsonValue())),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anyEach, points, page, fc.jsonValue()),
        fc.constantFrom(0, 0, 0, 1, 400101),
        async (data, code) => {
          const ask = () =>
            createTestClient(createTransport({ body: { code, data, message: 'no' } }))
          for (const work of [
            ({ queries, clock }: ReturnType<typeof ask>) => clock.drive(collectEach(queries, hour)),
            ({ queries, clock }: ReturnType<typeof ask>) =>
              clock.drive(collectTogether(queries, hour)),
            ({ queries, clock }: ReturnType<typeof ask>) =>
              clock.drive(queries.queryPrefetches({ task: '1' })),
          ]) {
            const error: unknown = await work(ask()).then(
              () => null,
              (thrown: unknown) => thrown,
            )
            if (error !== null)
              expect(error).toMatchObject({
                name: 'EdgewiseError',
                code: code === 0 ? 'answer-invalid' : 'service-refused',
              })
          }
        },
      ),
      { numRuns: runs(100, 1_200) },
    )
  })

  itLong(
    'quotes of an answer are short, and never contain the token, whole or cut off',
    async () => {
      for (let before = 250; before < 330; before++) {
        const { message } = await queryFailure(
          createTransport({ body: { code: 0, data: 'x'.repeat(before) + token } }),
        )
        expect(message.length).toBeLessThan(500)
        expect(message).not.toContain('tok/')
      }
    },
  )
})

describe('time zones and clocks', () => {
  const dense = (from: number) =>
    Array.from({ length: 12 }, (_, i) => [from / 1000 + i * 300, { '200': 10 }])

  it('a service in another zone is detected, with the difference', async () => {
    const service = createWorld({ token, timezone: 'Asia/Shanghai' })
    const { code, message, hint } = await queryFailure(createEmulatorTransport(service))
    expect(code).toBe('answer-invalid')
    expect(message).toContain('8 h too early')
    expect(hint).toContain('service.timezone')
    expect(
      (await queryFailure(createTransport(series(dense(hour.from + 5 * 3_600_000))))).message,
    ).toContain('5 h too late')
  })

  it('a shift by one period is accepted as alignment', async () => {
    const { got } = await queryEach(
      createTransport(series([[hour.from / 1000 - 300, { '200': 1 }], ...dense(hour.from)])),
    )
    expect(got.get(domain)).toHaveLength(12)
  })

  it('future requests mean a wrong clock; empty future periods do not', async () => {
    const now = Date.UTC(2026, 10, 20)
    const question = { ...hour, from: now - 600_000, to: now + 3_600_000 }
    const ahead = (counts: object) => createTransport(series([[now / 1000 + 600, counts]]))
    const { message, hint } = await queryFailure(ahead({ '200': 1 }), question)
    expect(message).toContain('10 min from now')
    expect(hint).toContain('clock')
    expect((await queryEach(ahead({}), question)).got.size).toBe(1)
  })
})
