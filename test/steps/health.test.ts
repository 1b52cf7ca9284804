// @module-tag often
// @module-tag nightly
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { WaveStatistics } from '../../src/core/model/events.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { itLong } from '../runs.ts'
import {
  setFaults,
  fetchConfigs,
  Place,
  resetEmulator,
  startService,
  token,
  fetchWrites,
} from './cli.ts'
import { deadOrigin, emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

const hour = 3_600_000
/** Fewer points than with the default, which the other tests have. */
const hourly = 'onFailure: rollback, grain: hour, window: 1h'
const good = '192.0.2.10'
const alsoGood = '192.0.2.11'
setStageInTime()

const name = (i: number) => `d${String(i).padStart(3, '0')}.example.com`

/** Creates domains that were configured two hours ago. */
async function running(domains: number, health: string, more = ''): Promise<void> {
  enterPlace(
    new Place(
      emulator.url,
      `rollout: {waves: [1, 5%, 25%, 100%], pause: 10m, health: {${health}}}\n${more}`,
    ),
  )
  origins(domains, () => good)
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  time.now += 2 * hour
}

function origins(domains: number, chooseOrigin: (i: number) => string): void {
  for (let i = 0; i < domains; i++)
    place.manifest(name(i), { origin: { default_master: chooseOrigin(i) } })
}

interface Sample {
  requests: number
  bad: number
}
interface Event {
  type: string
  wave: number
  verdict: string
  before: Sample
  after: Sample
  statistics: WaveStatistics
  reason: string | null
  worse: { domain: string }[]
}

async function applied(
  ...more: string[]
): Promise<{ code: number; events: Event[]; judged: string[] }> {
  const { code, out } = await place.cli('apply', '--yes', '--json', ...more)
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)
  return {
    code,
    events,
    judged: events.flatMap((event) =>
      event.type === 'wave.judged' ? [`${event.wave} ${event.verdict}`] : [],
    ),
  }
}

it.each([
  ['', 'all'],
  [', area: cn', 'cn'],
])('the health check compares the requests of its area (%j)', async (setting, area) => {
  await running(2, `${hourly}${setting}`)
  origins(2, () => alsoGood)
  const queried = new Set<string | null>()
  const network = createNetworkTransport()
  place.transport = (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname.startsWith('/v2/stat/')) queried.add(searchParams.get('query_area'))
    return network(request)
  }
  expect((await applied()).code).toBe(0)
  expect([...queried]).toEqual([area])
})

describe('many domains', () => {
  it('a good change goes through all waves', async () => {
    await running(40, hourly)
    origins(40, () => alsoGood)
    const { code, judged } = await applied()
    expect([code, judged]).toEqual([
      0,
      ['1 same-or-better', '2 same-or-better', '3 same-or-better', '4 same-or-better'],
    ])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  itLong(
    'a change that breaks 3 in 100 origins is stopped in the first affected wave',
    async () => {
      await running(100, 'onFailure: stop, grain: hour, window: 1h')
      const broken = (i: number) => i % 33 === 7
      origins(100, (i) => (broken(i) ? deadOrigin : alsoGood))
      const plan = (await place.json('plan'))['writes'] as { wave: number; domains: string[] }[]
      const waves = plan
        .filter(({ domains }) => domains.some((each) => broken(Number(each.slice(1, 4)))))
        .map(({ wave }) => wave)
      const first = Math.min(...waves)
      const { code, events, judged } = await applied()
      expect([code, judged.at(-1)]).toEqual([3, `${first} worse`])
      const verdict = events.find(({ verdict: each }) => each === 'worse')
      expect(verdict?.worse.every(({ domain }) => broken(Number(domain.slice(1, 4))))).toBe(true)
      expect(verdict?.worse.length).toBeGreaterThan(0)
      // No write of a later wave was sent.
      const sent = new Set((await fetchWrites(emulator)).flatMap(({ domains }) => domains))
      const later = plan.filter(({ wave }) => wave > first).flatMap(({ domains }) => domains)
      const held = await fetchConfigs(emulator)
      for (const each of later)
        expect(held[each]?.['origin']).toMatchObject({ default_master: good })
      expect(sent.size).toBe(100)
    },
  )

  it('a dead origin everywhere is rolled back after the first wave, then on hold', async () => {
    await running(40, hourly)
    const before = await fetchConfigs(emulator)
    origins(40, () => deadOrigin)
    const { code, judged, events } = await applied()
    expect([code, judged]).toEqual([3, ['1 worse']])
    expect(events.at(-1)).toMatchObject({
      type: 'apply.finished',
      takenBack: true,
      notSent: expect.any(Number) as number,
    })
    expect(await fetchConfigs(emulator)).toEqual(before)

    const plan = await place.json('plan')
    expect([plan['changes'], plan['summary']]).toEqual([
      [],
      expect.objectContaining({ held: 40, writes: 0 }),
    ])
    const { err, out, code: again } = await place.cli('apply', '--yes')
    expect([again, out]).toEqual([0, expect.stringContaining('40 changes on hold.')])
    expect(err).toMatch(
      /40 changes of d000.*on hold since .* UTC by rollout \S+, rolled back: wave 1/,
    )
    expect(err).toContain('rolled back: wave 1 of 4: 5xx rose')

    place.manifest(name(3), { origin: { default_master: alsoGood } })
    const changes = (await place.json('plan'))['changes'] as { domain: string }[]
    expect(changes.map(({ domain }) => domain)).toEqual([name(3)])
    const retry = ['apply', '--yes', '--no-waves', '--retry-held']
    expect((await place.cli(...retry, '--reason', 'the origin is back')).code).toBe(0)
    expect((await place.cli('state', 'history')).out).toContain(
      'hold overridden: the origin is back',
    )
    expect((await fetchConfigs(emulator))[name(4)]?.['origin']).toMatchObject({
      default_master: deadOrigin,
    })
    expect((await place.json('plan'))['summary']).toMatchObject({ held: 0 })
  })
})

it('each verdict, also on the page, has the curves it rests on', async () => {
  await running(3, 'onFailure: stop')
  origins(3, (i) => (i === 0 ? alsoGood : deadOrigin))
  const { events, judged } = await applied('--report', 'page.html')
  expect(judged).toEqual(['1 same-or-better', '2 worse'])
  const page = readFileSync(join(place.root, 'page.html'), 'utf8').replace(/<.*?>/gs, '')
  expect(page).toMatch(/Wave 2: worse.*Wave 1: healthy/s)
  for (const { type, statistics, ...event } of events) {
    if (type !== 'wave.judged') continue
    const { points, written } = statistics
    const first = points[0]
    expect(page).toContain(`before${first?.requests.toLocaleString('en-US')}`)
    for (const side of ['before', 'after'] as const) {
      const { from, to } = statistics[side]
      const own = points.filter((point) => point.time >= from && point.time < to)
      expect(own.length * statistics.seconds * 1000).toBe(Date.parse(to) - Date.parse(from))
      expect(own.length).toBeGreaterThan(0)
      const sum = (choose: (point: (typeof own)[number]) => number) =>
        own.reduce((all, point) => all + choose(point), 0)
      const requests = sum((each) => each.requests)
      expect({ requests, bad: sum(({ bad }) => bad) }).toEqual(event[side])
      expect(sum((each) => each['5xx'])).toBe(event[side].bad)
      expect(sum((e) => e['2xx'] + e['3xx'] + e['4xx'] + e['5xx'] + e.other)).toBe(requests)
    }
    const starts = points.map((point) => point.time)
    expect(starts).toEqual(starts.toSorted())
    expect(written.from >= statistics.before.to && written.to < statistics.after.from).toBe(true)
  }
})

itLong('a clearly worse wave is judged early', async () => {
  await running(20, 'settle: 1m, lag: 1m, window: 2h, grain: minute')
  origins(20, () => deadOrigin)
  const start = time.now
  expect((await applied()).judged).toEqual(['1 worse'])
  expect(time.now - start).toBeLessThan(hour / 4)
})

describe('too little data', () => {
  it.each([
    ['pass', 0, 3],
    ['stop', 3, 1],
    ['wait', 3, 12],
  ])('onLittleData: %s', async (onLittleData, code, verdicts) => {
    await running(20, `minRequests: 1000000000, onLittleData: ${onLittleData}`)
    origins(20, () => alsoGood)
    const ran = await applied()
    expect([ran.code, ran.judged.length]).toEqual([code, verdicts])
    const found = ran.events.find(({ type }) => type === 'wave.judged')
    expect(
      String(found?.reason).replace(/\d+ requests before and \d+/, 'M requests before and N'),
    ).toBe(
      'too little data: M requests before and N after, ' +
        'and health.minRequests requires 1000000000 in both',
    )
  })
})

describe('before the first write', () => {
  it('a missing permission for statistics is reported', async () => {
    await running(20, 'onFailure: stop')
    origins(20, () => alsoGood)
    await setFaults(emulator, { kind: 'unauthorized-from', on: [1] })
    const sent = (await fetchWrites(emulator)).length
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([1, expect.stringMatching(/statistics/)])
    expect(err).not.toContain(token)
    expect(await fetchWrites(emulator)).toHaveLength(sent)
  })

  it('items that cannot be rolled back are reported', async () => {
    await running(2, 'onFailure: rollback')
    place.manifest(name(0), { origin: { default_master: good }, timeout: { time: 60 } })
    const { err } = await place.cli('apply', '--yes')
    const warning =
      `a failed health check can't roll back timeout of ${name(0)} (it was not recorded before, ` +
      'and the service documents no way to unset it)'
    expect(err.indexOf(warning)).toBeGreaterThan(-1)
    expect(err.indexOf(warning)).toBeLessThan(err.indexOf('confirmed'))
  })
})

it('drift reports items on hold, and repair does not write them', async () => {
  await running(3, 'onFailure: rollback')
  origins(3, () => deadOrigin)
  expect((await applied()).code).toBe(3)
  const { code, out } = await place.cli('drift')
  expect([code, out]).toEqual([
    2,
    expect.stringContaining('On hold: a rollout was stopped or rolled back'),
  ])
  expect(out).toContain('Drift: 3 on hold.')
  const drift = (await place.json('drift')) as { items: { held?: boolean }[]; summary: JsonObject }
  expect(drift.items.map(({ held }) => held)).toEqual([true, true, true])
  expect(drift.summary).toMatchObject({ pending: 3, held: 3 })
  const observed = Object.fromEntries(Object.entries(await fetchConfigs(emulator)))
  place.write('live.json', JSON.stringify(observed))
  expect((await place.cli('drift', '--observed', 'live.json', '--repair', '--yes')).code).toBe(0)
  expect((await fetchConfigs(emulator))[name(0)]?.['origin']).toMatchObject({
    default_master: good,
  })
})

describe('unavailable statistics', () => {
  /** Makes queries fail between two minutes from now. */
  function failing(from: number, to: number, kind: string): void {
    const start = time.now
    let fails = false
    time.onSleep = async () => {
      const minutes = (time.now - start) / 60_000
      if (fails === (minutes >= from && minutes < to)) return
      fails = !fails
      await setFaults(emulator, ...(fails ? [{ kind }] : []))
    }
  }

  it.each(['error', 'not-json', 'truncated', 'rate'])(
    'for a while (%s) do not end the rollout',
    async (kind) => {
      await running(8, 'onFailure: rollback')
      origins(8, () => alsoGood)
      failing(17, 40, kind)
      expect((await applied()).code).toBe(0)
    },
  )

  it('for good leave the rollout open, with a message', async () => {
    await running(8, 'onFailure: rollback')
    origins(8, () => alsoGood)
    failing(17, Infinity, 'error')
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(/failed after \d attempts.*the rollout stays open at wave 1 of 3/s),
    ])
    await setFaults(emulator)
    delete time.onSleep
    expect((await applied()).judged).toEqual([
      '1 same-or-better',
      '2 same-or-better',
      '3 same-or-better',
    ])
  })
})

describe('a daylight saving change', () => {
  it.each([
    ['summer', Date.UTC(2026, 2, 29, 0, 20)],
    ['winter', Date.UTC(2026, 9, 25, 0, 20)],
  ])('neither stops a good change nor passes a bad one (%s)', async (_name, now) => {
    const zoned = await startService({
      now: () => time.now,
      deadOrigins: [deadOrigin],
      timezone: 'Europe/Berlin',
    })
    for (const [origin, code] of [
      [alsoGood, 0],
      [deadOrigin, 3],
    ] as const) {
      time.now = now - 2 * hour
      await resetEmulator(zoned)
      const rollout =
        '{waves: [2, 100%], pause: 10m, health: {grain: hour, window: 1h, lag: 5m, settle: 1m}}'
      enterPlace(new Place(zoned.url, `rollout: ${rollout}\n`, { timezone: 'Europe/Berlin' }))
      origins(6, () => good)
      expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
      time.now = now
      origins(6, () => origin)
      const ran = await place.cli('apply', '--yes')
      expect([origin, ran.code, ran.out]).toEqual([origin, code, ran.out])
    }
    time.now = Date.UTC(2026, 10, 20, 12)
    await zoned.close()
  })
})

itLong('a change that was rolled back recently is not part of the next baseline', async () => {
  await running(20, 'onFailure: rollback')
  origins(20, () => deadOrigin)
  expect((await applied()).judged).toEqual(['1 worse'])
  const start = time.now
  const { code, judged, events } = await applied('--retry-held')
  expect([code, judged]).toEqual([3, ['1 worse']])
  expect(events.filter(({ type }) => type === 'wave.waiting')[0]).toMatchObject({
    wave: 1,
    reason: 'baseline',
  })
  expect(time.now - start).toBeGreaterThan(hour / 3)
})
