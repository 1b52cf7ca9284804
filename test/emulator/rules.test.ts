import { describe, expect, it } from 'vitest'
import type { EmulatorAnswer } from '../../src/emulator/routes/exchange.ts'
import type { Json } from '../../src/core/model/json.ts'
import { parseSeries } from './series.ts'
import { createWorld, type World } from './world.ts'
import { itLong } from '../runs.ts'

const each = '/v2/stat/httpcode/eachDomain'
const sum = '/v2/stat/httpcode'
const prefetch = '/v2/cache/prefetch'
const day = { domains: 'a.example.com', start_time: '2026-11-10', end_time: '2026-11-10' }
const range = { start_time: '2026-11-10', end_time: '2026-11-10' }
const good = { timeout: { time: '60' } }
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => `d${i}.example.com`).join(',')

/** One valid call of each endpoint. */
const calls: [
  string,
  (service: World, token?: string) => Promise<EmulatorAnswer & { body: Json }>,
][] = [
  [
    'POST /domain/config',
    (service, token) =>
      service.request({
        body: JSON.stringify({
          ...(token === undefined ? {} : { token }),
          domains: 'a.example.com',
          config: good,
        }),
      }),
  ],
  ...(
    [
      [each, day],
      [sum, day],
      [prefetch, range],
    ] as const
  ).map(([path, query]): (typeof calls)[number] => [
    `GET ${path.slice(3)}`,
    (service, token) =>
      service.request({
        method: 'GET',
        path,
        query: String(new URLSearchParams({ ...query, ...(token === undefined ? {} : { token }) })),
      }),
  ]),
]

async function sendRefused(
  service: World,
  path: string,
  query: Record<string, string>,
): Promise<Json> {
  const { status, body } = await service.query(path, query)
  expect(status).toBe(400)
  return body
}

const exceeds = {
  code: expect.any(Number) as number,
  message: expect.stringContaining('exceeds the limit') as string,
}

describe('Endpoints', () => {
  it.each(calls)('All paths are under /v2: %s answers, with the envelope', async (_, call) => {
    expect(await call(createWorld(), 'tok')).toMatchObject({
      status: 200,
      body: { code: 0, data: expect.anything() as Json },
    })
  })

  it('Query parameters must be URL-encoded', async () => {
    expect(
      await createWorld().request({
        method: 'GET',
        path: prefetch,
        query: 'token=tok&task_id=%FF',
      }),
    ).toMatchObject({ status: 400 })
  })

  it('domains, start_time and end_time are required', async () => {
    for (const path of [each, sum]) {
      for (const name of Object.keys(day)) {
        const rest = Object.fromEntries(Object.entries(day).filter(([key]) => key !== name))
        expect(await sendRefused(createWorld(), path, rest)).toMatchObject({
          message: expect.stringContaining(name) as string,
        })
      }
    }
  })

  it('stat_is_forward and query_area have their values, which /stat/httpcode ignores', async () => {
    for (const wrong of [{ stat_is_forward: '2' }, { query_area: 'CN' }, { grad: '' }] as Record<
      string,
      string
    >[]) {
      expect(await sendRefused(createWorld(), each, { ...day, ...wrong })).toMatchObject({
        code: 400302,
      })
    }
    expect(
      (await createWorld().query(sum, { ...day, stat_is_forward: 'x', query_area: 'y', more: 'z' }))
        .status,
    ).toBe(200)
  })

  it('The last value of a repeated parameter counts', async () => {
    const query = `token=tok&${String(new URLSearchParams({ ...day, grad: 'nothing' }))}&grad=hour`
    const { body } = await createWorld().request({ method: 'GET', path: sum, query })
    expect(parseSeries(body)[0]?.length).toBe(24)
  })
})

describe('Authentication', () => {
  it.each([each, sum, prefetch])(
    'Queries send it in the query string, and it is checked before parameters: GET %s',
    async (path) => {
      const body = JSON.stringify({ token: 'tok' })
      expect(await createWorld().request({ method: 'GET', path, query: '', body })).toMatchObject({
        status: 401,
      })
      expect(
        await createWorld().request({ method: 'GET', path, query: 'token=wrong&start_time=x' }),
      ).toMatchObject({ status: 401 })
    },
  )
})

describe('Errors', () => {
  it.each<[number, (service: World) => Promise<EmulatorAnswer>]>([
    [200, (service) => service.write(good)],
    [400, (service) => service.write({ timeout: {} })],
    [400, (service) => service.query(sum, {})],
    [401, (service) => service.request({ body: '{}' })],
    [404, (service) => service.query('/v2/nothing', {})],
    [
      413,
      (service) =>
        service.request({ method: 'GET', path: sum, query: 'token=tok', body: 'too large' }),
    ],
    [
      503,
      (service) =>
        service
          .postControl('faults', { faults: [{ kind: 'error' }] })
          .then(() => service.write(good)),
    ],
  ])('HTTP %i comes with the envelope; a non-zero code with a message', async (status, call) => {
    const answer = await call(createWorld())
    const message = {
      code: expect.any(Number) as number,
      message: expect.stringMatching(/./) as string,
    }
    expect(answer).toMatchObject({ status, body: status === 200 ? { code: 0 } : message })
  })
})

describe('Limits', () => {
  it('call rate: at most 30 calls per minute, POST /domain/config', async () => {
    const service = createWorld({ callsPerMinute: 30 })
    for (let n = 0; n < 30; n++) expect((await service.write(good)).status).toBe(200)
    expect((await service.write(good)).status).toBe(429)
    for (let n = 0; n < 40; n++) expect((await service.query(prefetch, range)).status).toBe(200)
  })

  itLong('granularity spans: minute one day; minute5, hour and day 31 days', async () => {
    const until = async (grad: string, end_time: string) =>
      (await createWorld().query(each, { ...day, grad, start_time: '2026-10-01', end_time })).status
    expect([
      await until('minute', '2026-10-02 00:00'),
      await until('minute', '2026-10-02 00:01'),
    ]).toEqual([200, 400])
    for (const grad of ['minute5', 'hour', 'day']) {
      expect([await until(grad, '2026-11-01 00:00'), await until(grad, '2026-11-01')]).toEqual([
        200, 400,
      ])
    }
  })

  it('request size: domains x points per day x days <= 2880, also for "all"', async () => {
    const service = createWorld({ domains: many(11).split(',') })
    const query = { ...day, domains: 'all', grad: 'hour' }
    expect((await service.query(sum, { ...query, end_time: '2026-11-19' })).status).toBe(200)
    expect(await sendRefused(service, sum, { ...query, end_time: '2026-11-20' })).toMatchObject(
      exceeds,
    )
  })

  it.each(calls)('Rate-limit headers are sent on responses: %s', async (_, call) => {
    for (const token of ['tok', 'wrong']) {
      const { headers } = await call(createWorld({ callsPerMinute: 30 }), token)
      expect(headers).toMatchObject({
        'Api-Id': expect.stringMatching(/./) as string,
        'X-Ratelimit-Grad': 'minute',
      })
      for (const name of ['X-Ratelimit-Limit', 'X-Ratelimit-Remaining', 'X-Retry-After'])
        expect(headers[name]).toMatch(/^\d+$/)
    }
  })
})
