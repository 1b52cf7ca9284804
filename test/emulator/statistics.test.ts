import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/json.ts'
import {
  addCounts,
  indexByLabel,
  parseSeries,
  sumBySteps,
  sumPoints,
  type Point,
} from './series.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'
import { itLong } from '../runs.ts'

const each = '/v2/stat/httpcode/eachDomain'
const sum = '/v2/stat/httpcode'
const ten = 'abcdefghij'.split('').map((letter) => `${letter}.example.com`)
const domain = 'a.example.com'
const day = { domains: domain, start_time: '2026-11-18', end_time: '2026-11-18' }

async function querySeries(
  service: World,
  query: Record<string, string>,
  path = each,
): Promise<Point[]> {
  const { body } = await service.query(path, query)
  expect(body).toMatchObject({ code: 0 })
  return parseSeries(body)[0] ?? []
}

describe('counts', () => {
  it('at minute grain add up exactly to every coarser grain, even across writes', async () => {
    const service = createWorld()
    const queryDay = (grad: string) =>
      querySeries(service, {
        domains: domain,
        start_time: '2026-11-20',
        end_time: '2026-11-20',
        grad,
      })
    for (const [minutes, config] of [
      [61, { deny_url: { urls: ['/a', '/b'] } }],
      [133, { https: { cert_id: 1, force_https: 301 } }],
      [
        3,
        {
          error_page_rewrite: [
            {
              error_status_code: 404,
              redirect_status_code: 302,
              redirect_url: 'https://e.example.com/',
            },
          ],
        },
      ],
      [600, { ip_white_list: { list: ['10.0.0.0/8'] } }],
    ] as [number, Json][]) {
      service.clock.now += minutes * 60_000 + 7_000
      await service.write(config, domain)
    }
    service.clock.now = Date.UTC(2026, 10, 22)
    const minute = await queryDay('minute')
    expect(minute.length).toBe(1440)
    for (const [grad, step] of Object.entries({ minute5: 300, hour: 3600, day: 86_400 })) {
      expect(indexByLabel(await queryDay(grad))).toEqual(sumBySteps(minute, step))
    }
  })

  itLong('add up with gusts as well, which raise errors for some minutes only', async () => {
    const query = { ...day, grad: 'minute' }
    const calm = createWorld()
    const gusty = createWorld({ faults: [{ kind: 'gusts', factor: 3 }] })
    const [before, minute] = [await querySeries(calm, query), await querySeries(gusty, query)]
    for (const [grad, step] of [
      ['minute5', 300],
      ['hour', 3600],
    ] as const)
      expect(indexByLabel(await querySeries(gusty, { ...day, grad }))).toEqual(
        sumBySteps(minute, step),
      )
    const sumShares = (points: Point[], hundreds: string) =>
      Object.entries(sumPoints(points)).reduce(
        (all, [status, count]) => (status.startsWith(hundreds) ? all + count : all),
        0,
      )
    expect(sumShares(minute, '2')).toBe(sumShares(before, '2'))
    const ratio = sumShares(minute, '4') / sumShares(before, '4')
    expect([ratio > 1.02, ratio < 1.5]).toEqual([true, true])
  })

  it('of several domains add up to the aggregate, also as "all"', async () => {
    const service = createWorld({ domains: ten })
    const { body } = await service.query(each, { ...day, domains: ten.join(','), grad: 'hour' })
    const together = parseSeries(body).reduce<Point[]>(
      (total, points) =>
        points.map(([label, counts], i) => [label, addCounts(total[i]?.[1] ?? {}, counts)]),
      [],
    )
    expect(
      await querySeries(service, { ...day, domains: ten.join(','), grad: 'hour' }, sum),
    ).toEqual(together)
    expect(await querySeries(service, { ...day, domains: 'all', grad: 'hour' }, sum)).toEqual(
      together,
    )
  })

  it('from cn and abroad add up to all', async () => {
    const service = createWorld()
    const [cn = [], abroad = [], all] = await Promise.all(
      ['cn', 'abroad', 'all'].map((area) => querySeries(service, { ...day, query_area: area })),
    )
    expect(
      cn.map(([label, counts], i) => [label, addCounts(counts, abroad[i]?.[1] ?? {})]),
    ).toEqual(all)
    expect(sumPoints(cn)).not.toEqual(sumPoints(abroad))
  })

  itLong('are equal byte for byte for the same seed, and differ for another', async () => {
    const answer = async (options: WorldOptions) => {
      const service = createWorld(options)
      await service.write({ deny_url: { urls: ['/x'] } }, ten.slice(0, 3).join(','))
      service.clock.now += 3_600_000
      return JSON.stringify(
        (
          await service.query(each, {
            domains: ten.join(','),
            start_time: '2026-11-14',
            end_time: '2026-11-20',
          })
        ).body,
      )
    }
    const one = await answer({ seed: 'one' })
    expect(await answer({ seed: 'one' })).toBe(one)
    expect(await answer({ seed: 'two' })).not.toBe(one)
  })

  it('have a daily and a weekly curve', async () => {
    const hours = await querySeries(createWorld(), { ...day, grad: 'hour' })
    const sizes = hours.map((point) => Object.values(point[1]).reduce((a, b) => a + b, 0))
    expect(Math.max(...sizes)).toBeGreaterThan(2 * Math.min(...sizes))
    const days = await querySeries(createWorld(), {
      domains: domain,
      start_time: '2026-11-02',
      end_time: '2026-11-15',
      grad: 'day',
    })
    const [monday = 0, saturday = 0] = [0, 5].map((i) => days[i]?.[1]['200'] ?? 0)
    expect(Math.abs(saturday / monday - 1)).toBeGreaterThan(0.02)
  })
})

describe('the stored configuration', () => {
  const hour = {
    domains: domain,
    grad: 'hour',
    start_time: '2026-11-20 00:00',
    end_time: '2026-11-20 02:00',
  }
  /** Returns the counts of an hour before the write and of one after it. */
  async function countAround(
    config: Json,
    options: WorldOptions = {},
    before: Json = null,
  ): Promise<Record<string, number>[]> {
    const service = createWorld(options)
    if (before !== null) await service.write(before, domain)
    service.clock.now += 3_600_000
    await service.write(config, domain)
    service.clock.now += 3_600_000
    return (await querySeries(service, hour)).map(([, counts]) => counts)
  }

  it.each<[string, Json]>([
    ['deny_url', { urls: ['/private/.*'] }],
    ['ip_white_list', { list: ['192.0.2.1'] }],
    ['ip_black_list', { list: ['10.0.0.0/8'] }],
    ['referer', { type: 2, list: ['www.example.com'] }],
    ['combined_ban', [{ configs: { ua: { list: ['curl'] } } }]],
    ['combined_ban', [{ configs: { ip: { list: ['192.0.2.1'], is_match: 'no' } } }]],
  ])('raises 403 with %s', async (item, value) => {
    const [before = {}, after = {}] = await countAround({ [item]: value })
    expect(after['403'] ?? 0).toBeGreaterThan(4 * (before['403'] ?? 0))
    expect(after['200'] ?? 0).toBeLessThan(before['200'] ?? 0)
  })

  it('adds redirects with https.force_https', async () => {
    for (const [code, status] of [
      [301, '301'],
      [302, '302'],
    ] as const) {
      const [before = {}, after = {}] = await countAround({
        https: { cert_id: 1, force_https: code },
      })
      expect(after[status] ?? 0).toBeGreaterThan(0.05 * (after['200'] ?? 0) + (before[status] ?? 0))
    }
  })

  it('turns errors into redirects with error_page_rewrite', async () => {
    const rule = {
      error_status_code: 404,
      redirect_status_code: 301,
      redirect_url: 'https://e.example.com/',
    }
    const [before = {}, after = {}] = await countAround({ error_page_rewrite: [rule] })
    expect(before['404']).toBeGreaterThan(0)
    expect([after['404'], (after['301'] ?? 0) > 0]).toEqual([undefined, true])
  })

  it('raises 502 and 504 from the minute in which an origin is marked as dead', async () => {
    const service = createWorld()
    await service.write(
      { origin: { default_master: '192.0.2.10,192.0.2.11', default_slave: '192.0.2.12' } },
      domain,
    )
    const errors: number[] = []
    for (const dead of [[], ['192.0.2.10'], ['192.0.2.10', '192.0.2.11', '192.0.2.12'], []]) {
      expect((await service.postControl('origins', { dead })).status).toBe(200)
      service.clock.now += 3_600_000
      const points = await querySeries(service, { ...hour, end_time: '2026-11-20 23:00' })
      const counts = points.at(-1)?.[1] ?? {}
      errors.push((counts['502'] ?? 0) + (counts['504'] ?? 0))
    }
    const [healthy = 0, one = 0, all = 0, again = 0] = errors
    expect(one).toBeGreaterThan(5 * healthy)
    expect(all).toBeGreaterThan(3 * one)
    expect(again).toBeLessThan(one / 5)
  })

  it('never changes earlier counts', async () => {
    const service = createWorld()
    service.clock.now += 3_600_000
    const before = await querySeries(service, { ...hour, grad: 'minute' })
    await service.write({ deny_url: { urls: ['.*'] } }, domain)
    service.clock.now += 600_000
    const after = await querySeries(service, { ...hour, grad: 'minute' })
    expect(after.slice(0, 60)).toEqual(before)
    expect(after.slice(60).every(([, counts]) => Object.keys(counts).join() === '403')).toBe(true)
    expect(after.length).toBe(70)
  })
})

describe('labels and time', () => {
  it('are at the end of the period with stat_is_forward 1', async () => {
    const service = createWorld()
    const starts = indexByLabel(await querySeries(service, { ...day, stat_is_forward: '0' }))
    for (const [label, counts] of (
      await querySeries(service, { ...day, stat_is_forward: '1' })
    ).slice(1)) {
      expect(starts[label - 300]).toEqual(counts)
    }
  })

  it('use the time zone', async () => {
    const service = createWorld({ timezone: 'Asia/Shanghai' })
    const [first] = await querySeries(service, { ...day, grad: 'day' })
    expect(first?.[0]).toBe(Date.UTC(2026, 10, 17, 16) / 1000)
    const kathmandu = await querySeries(createWorld({ timezone: 'Asia/Kathmandu' }), {
      ...day,
      grad: 'hour',
    })
    expect([kathmandu.length, (kathmandu[0]?.[0] ?? 0) % 3600]).toEqual([24, 900])
  })

  it('follow clock changes in spring and autumn', async () => {
    const service = createWorld({ timezone: 'Europe/Berlin' })
    for (const [date, hours] of [
      ['2026-03-29', 23],
      ['2026-10-25', 25],
      ['2026-10-26', 24],
    ] as const) {
      const query = { domains: domain, start_time: date, end_time: date }
      const points = await querySeries(service, { ...query, grad: 'hour' })
      expect(points.length).toBe(hours)
      expect((await querySeries(service, { ...query, grad: 'day' }))[0]?.[1]).toEqual(
        sumPoints(points),
      )
    }
  })

  it('exclude the future', async () => {
    const service = createWorld()
    service.clock.now += 150_000
    const today = {
      domains: domain,
      start_time: '2026-11-20',
      end_time: '2026-11-21',
      grad: 'minute5',
    }
    expect((await querySeries(service, today)).length).toBe(1)
    expect(
      await querySeries(service, { ...today, start_time: '2026-12-01', end_time: '2026-12-02' }),
    ).toEqual([])
  })
})
