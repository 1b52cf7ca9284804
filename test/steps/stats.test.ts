import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors as schemaFaults } from '../report/output-schema.ts'
import { fetchCalls, setFaults, Place, startService, token } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

interface Series {
  domain: string | null
  requests: number
  statuses: Record<string, number>
  points: { time: string; statuses: Record<string, number> }[]
}

const [a, b] = ['a.example.com', 'b.example.com']
const span = ['--from', '2026-11-01 10:00', '--to', '2026-11-01 12:00', '--grain', 'minute5']

setStage()
beforeEach(
  () =>
    void place.manifest(a, { timeout: { time: '10' } }).manifest(b, { timeout: { time: '20' } }),
)

const getSeries = (output: JsonObject) => output['series'] as unknown as Series[]

describe('stats', () => {
  itLong('counts the domains of all manifests, and --sum has the same totals', async () => {
    const each = await place.json('stats', ...span)
    expect(schemaFaults('stats', each)).toEqual([])
    expect(each).toMatchObject({
      from: '2026-11-01T10:00:00.000Z',
      to: '2026-11-01T12:00:00.000Z',
      grain: 'minute5',
      sum: null,
    })
    expect(getSeries(each).map(({ domain, points }) => [domain, points.length])).toEqual([
      [a, 24],
      [b, 24],
    ])
    const sum = await place.json('stats', ...span, '--sum')
    expect(schemaFaults('stats', sum)).toEqual([])
    expect(sum['sum']).toEqual([a, b])
    const requests = getSeries(each).reduce((all, series) => all + series.requests, 0)
    expect(requests).toBeGreaterThan(1000)
    expect(getSeries(sum)).toMatchObject([{ domain: null, requests }])
    expect((await fetchCalls(emulator)).map(({ path }) => path)).toEqual([
      '/v2/stat/httpcode/eachDomain',
      '/v2/stat/httpcode',
    ])
  })

  it('queries the named domains, and prints a table of 80 columns', async () => {
    const { code, out, err } = await place.cli(
      'stats',
      'B.example.com',
      'other.example.com',
      ...span,
    )
    expect([code, err]).toEqual([0, ''])
    expect((await fetchCalls(emulator))[0]?.domains).toEqual([b, 'other.example.com'])
    expect(out).toMatch(/^2026-11-01 10:00 to 2026-11-01 12:00 \(UTC\), by minute5\n/)
    expect(out).toMatch(/^2 domains/m)
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it('queries the last 24 hours by hour by default', async () => {
    const output = await place.json('stats', a)
    expect(output['grain']).toBe('hour')
    const [series] = getSeries(output)
    expect([24, 25]).toContain(series?.points.length)
    expect(Date.parse(String(output['to'])) - Date.now()).toBeGreaterThan(-60_000)
  })

  it('writes nothing, and reads neither state nor lock', async () => {
    await place.settle()
    const before = (await fetchCalls(emulator)).length
    expect((await place.cli('stats', a)).code).toBe(0)
    expect(
      (await fetchCalls(emulator)).slice(before).every(({ path }) => path.startsWith('/v2/stat/')),
    ).toBe(true)
  })

  itLong('prints the progress of a long query', async () => {
    for (let i = 0; i < 120; i++) place.manifest(`d${i}.example.com`, { timeout: { time: '10' } })
    const { code, err } = await place.cli('stats', '--from', '2h', '--grain', 'hour')
    expect([code, err]).toEqual([
      0,
      'statistics: 4 of 13 queries\nstatistics: 7 of 13 queries\nstatistics: 10 of 13 queries\n',
    ])
    expect((await place.cli('stats', '--from', '2h', '--quiet')).err).toBe('')
  })

  it('prints a note if there is no data', async () => {
    const { code, out, err } = await place.cli(
      'stats',
      '--from',
      '2035-01-01',
      '--to',
      '2035-01-01',
    )
    expect(code).toBe(0)
    expect(out.match(/no data/g)).toHaveLength(3)
    expect(err).toContain('service.timezone')
    expect(
      getSeries(await place.json('stats', '--from', '2035-01-01', '--to', '2035-01-01')),
    ).toMatchObject([{ requests: 0, points: [] }, {}])
  })

  it.each([
    [['--from', 'yesterday'], '--from'],
    [['--to', '2026-02-30'], '--to'],
    [['--from', '1h', '--to', '2h'], 'after'],
    [['--grain', 'week'], 'grain'],
    [['nothing'], 'name of a domain'],
    [['all', a, '--sum'], 'without other names'],
    [['all', '--area', 'cn'], '"edgewise stats --sum --area cn"'],
    [['all', '--sum', '--forward'], '"edgewise stats --sum --forward"'],
    [[a, '--area', 'moon'], 'all, cn, abroad'],
    [['--from', '1990-01-01'], '400 days'],
  ])('%j is refused', async (args, word) => {
    const { code, err } = await place.cli('stats', ...args)
    expect([code, err]).toEqual([1, expect.stringContaining(word)])
    expect(await fetchCalls(emulator)).toEqual([])
  })
})

describe('stats by area and with labels at the end', () => {
  const sumRequests = (output: JsonObject) =>
    getSeries(output).reduce((all, series) => all + series.requests, 0)

  it('--area counts the requests of one area, by domain and in a sum', async () => {
    const both = await place.json('stats', ...span)
    const cn = await place.json('stats', ...span, '--area', 'cn')
    const abroad = await place.json('stats', ...span, '--area', 'abroad')
    expect(schemaFaults('stats', cn)).toEqual([])
    expect([both['area'], cn['area'], abroad['area']]).toEqual(['all', 'cn', 'abroad'])
    expect(sumRequests(cn)).toBeGreaterThan(0)
    expect(sumRequests(abroad)).toBeGreaterThan(0)
    expect(sumRequests(cn) + sumRequests(abroad)).toBe(sumRequests(both))

    const sum = await place.json('stats', ...span, '--area', 'cn', '--sum')
    expect(schemaFaults('stats', sum)).toEqual([])
    expect([sum['sum'], sumRequests(sum)]).toEqual([[a, b], sumRequests(cn)])
    expect(getSeries(sum)).toHaveLength(1)
    expect(getSeries(sum)[0]?.points).toHaveLength(24)
    // The endpoint that sums has no areas.
    expect(new Set((await fetchCalls(emulator)).map(({ path }) => path))).toEqual(
      new Set(['/v2/stat/httpcode/eachDomain']),
    )
  })

  it.each([[], ['--sum']])(
    '--forward labels the same periods with their ends (%j)',
    async (...sum) => {
      const starts = await place.json('stats', ...span, ...sum)
      const ends = await place.json('stats', ...span, '--forward', ...sum)
      expect(schemaFaults('stats', ends)).toEqual([])
      expect([starts['labels'], ends['labels']]).toEqual(['start', 'end'])
      expect([ends['from'], ends['to']]).toEqual([starts['from'], starts['to']])
      const later = (time: string) => new Date(Date.parse(time) + 300_000).toISOString()
      expect(getSeries(ends)).toEqual(
        getSeries(starts).map((series) => ({
          ...series,
          points: series.points.map((point) => ({ ...point, time: later(point.time) })),
        })),
      )
    },
  )

  it('--forward counts days with a clock change, and the one that has not ended', async () => {
    const now = () => Date.UTC(2026, 9, 26, 15, 30)
    const service = await startService({ timezone: 'Europe/Berlin', now })
    const there = new Place(service.url, '', { timezone: 'Europe/Berlin' }).manifest(a, {})
    there.time = { now: now() }
    const days = ['stats', '--from', '2026-10-24', '--grain', 'day']
    const starts = getSeries(await there.json(...days))
    const ends = getSeries(await there.json(...days, '--forward'))
    expect(ends).toMatchObject([{ requests: starts[0]?.requests ?? 0 }])
    expect(ends[0]?.points.map(({ time }) => time)).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
      '2026-10-26T23:00:00.000Z',
    ])
    there.remove()
    await service.close()
  })

  it('names the area in the text', async () => {
    const { out } = await place.cli('stats', ...span, '--area', 'abroad')
    expect(out).toMatch(/^2026-11-01 10:00 to 2026-11-01 12:00 \(UTC\), by minute5, area abroad\n/)
  })
})

describe('stats of the whole account', () => {
  /** Runs `stats all` at a service with so many domains. */
  async function countAll(domains: number, ...args: string[]) {
    const names = Array.from({ length: domains }, (_, i) => `d${i}.example.com`)
    const service = await startService({ domains: names })
    const there = new Place(service.url)
    const result = await there.cli('stats', 'all', '--to', '2026-11-10', ...args)
    const calls = await fetchCalls(service)
    there.remove()
    await service.close()
    return { ...result, calls }
  }

  it.each([
    [2, '2026-11-10', 'minute'],
    [2, '2026-11-09', 'minute5'],
    [10, '2026-11-10', 'minute5'],
    [11, '2026-11-10', 'hour'],
    [121, '2026-11-10', 'day'],
    [1, '2026-10-01', 'day'],
  ])('of %i domains from %s is by %s', async (domains, from, grain) => {
    const { code, out, err } = await countAll(domains, '--from', from)
    expect(code).toBe(0)
    expect(out).toContain(`(UTC), by ${grain}\n`)
    expect(out).toMatch(/^all domains /m)
    expect(err).toContain(
      `counted by ${grain}, the finest grain that the service accepts for all domains`,
    )
  })

  itLong('is by minute for the last 24 hours, not by the hours that they touch', async () => {
    const now = () => Date.UTC(2026, 10, 10, 15, 45, 30)
    const service = await startService({ domains: [a, b], now })
    const there = new Place(service.url)
    there.time = { now: now() }
    const { out } = await there.cli('stats', 'all')
    expect(out).toMatch(/^2026-11-09 15:45 to 2026-11-10 15:45 \(UTC\), by minute\n/)
    there.remove()
    await service.close()
  })

  itLong('offers the domains of the workspace if every grain exceeds the limit', async () => {
    const { code, err, calls } = await countAll(2881, '--from', '2026-11-10')
    expect([code, err]).toEqual([1, expect.stringContaining('exceeds the limit')])
    expect(err).toContain('"edgewise stats --sum" sums the domains of this workspace')
    expect(calls.every(({ code: each }) => each !== 0)).toBe(true)
  })

  it('keeps the grain that was asked for', async () => {
    const { code, err } = await countAll(11, '--from', '2026-11-10', '--grain', 'minute5')
    expect([code, err]).toEqual([1, expect.stringContaining('exceeds the limit')])
    expect(err).toContain('Omit --grain for the finest grain that the service accepts')
    expect(err).toContain('"edgewise stats --sum"')
  })
})

describe('stats with errors', () => {
  it('reports a token without the permission', async () => {
    await setFaults(emulator, { kind: 'unauthorized-from', on: [1] })
    const { code, out, err } = await place.cli('stats')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('the token lacks permission for statistics (HTTP 401)')
    expect((await place.json('stats'))['code']).toBe('access')
  })

  it.each([undefined, ''])('reports a missing or empty token (%j)', async (value) => {
    place.env['EDGEWISE_TOKEN'] = value
    const { code, err } = await place.cli('stats')
    expect([code, err]).toEqual([1, expect.stringContaining('no token for')])
    expect(err).toContain(`EDGEWISE_TOKEN is ${value === '' ? 'empty' : 'not set'}`)
  })

  it('names a domain that the service does not know', async () => {
    const known = await startService({ domains: [a] })
    const there = new Place(known.url)
      .manifest(a, { timeout: { time: '10' } })
      .manifest(b, { timeout: { time: '20' } })
    const { code, err } = await there.cli('stats')
    expect([code, err]).toEqual([1, expect.stringContaining(`does not know ${b}`)])
    expect((await there.cli('stats', a)).code).toBe(0)
    expect((await there.cli('stats', 'all', '--sum', '--from', '2h')).out).toMatch(/^all domains/m)
    there.remove()
    await known.close()
  })

  it('names service.timezone if the service uses another zone', async () => {
    const elsewhere = await startService({ timezone: 'Asia/Shanghai' })
    const there = new Place(elsewhere.url)
    const { code, err } = await there.cli('stats', a, ...span)
    expect([code, err]).toEqual([1, expect.stringMatching(/8 h too early[^]*"service\.timezone"/)])
    there.remove()
    await elsewhere.close()
  })

  it.each(['reset-before', 'reset-after', 'error', 'truncated', 'not-json'])(
    'retries after %s, and counts nothing twice',
    async (kind) => {
      const whole = await place.json('stats', ...span)
      await setFaults(emulator, { kind, on: [1, 2] })
      expect(await place.json('stats', ...span)).toEqual(whole)
    },
  )

  it('gives up on a failing service without printing the token', async () => {
    await setFaults(emulator, { kind: 'error', status: 502 })
    const { code, out, err } = await place.cli('stats', '--verbose')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('failed after 5 attempts: the service answered HTTP 502')
    expect(err).not.toContain(token)
  })
})
