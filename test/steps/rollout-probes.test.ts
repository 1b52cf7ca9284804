// @module-tag often
// @module-tag nightly
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import type { Json } from '../../src/core/model/json.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { sendProbe, type ProbeRequest } from '../../src/service/probe.ts'
import { fetchConfigs, Place } from './cli.ts'
import { emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

const minute = 60_000
const domain = 'www.example.com'
const origin = { default_master: '192.0.2.10' }
/** No domain of the emulator has enough requests. */
const quiet = 'minRequests: 1000000000, margin: 15%, statuses: [4xx, 5xx], onLittleData: stop'
setStageInTime()

interface Event {
  type: string
  verdict: string
  reason: string | null
  before: { requests: number }
  probes?: Json
}

/** Creates a domain that was configured two hours ago, and is judged by its probes. */
async function run(probe: string, health = quiet, config: Record<string, Json> = {}) {
  const rollout = `rollout: {pause: 0s, health: {${health}}, probe: {${probe}}}\n`
  enterPlace(new Place(emulator.url, rollout))
  place.write('probe.txt', `http://${domain}/a.html\nHEAD http://${domain}/b.html\n`)
  place.manifest(domain, { origin, deny_url: { urls: ['/old.html'] }, ...config })
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  time.now += 120 * minute
}

async function apply(...more: string[]) {
  const { code, out, err } = await place.cli('apply', '--yes', '--json', ...more)
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)
  return { code, err, judged: events.filter(({ type }) => type === 'wave.judged') }
}

/** Counts the probes that are sent, by what they name. */
function countSent(name: (request: ProbeRequest) => string): Map<string, number> {
  const sent = new Map<string, number>()
  place.probe = (request) => {
    sent.set(name(request), (sent.get(name(request)) ?? 0) + 1)
    return sendProbe(request)
  }
  return sent
}

const answers = (bad: number) => ({ requests: 200, bad })

it('a change that denies the probes of a quiet domain is stopped and rolled back', async () => {
  await run('requests: probe.txt', `${quiet}, onFailure: rollback`)
  const before = await fetchConfigs(emulator)
  place.manifest(domain, { origin, deny_url: { urls: ['/a.html', '/b.html'] } })
  const { code, judged } = await apply()
  expect([code, judged]).toMatchObject([
    3,
    [
      {
        verdict: 'worse',
        reason: expect.stringContaining('(200 probe requests before and 200 after)') as string,
        worse: [{ domain, before: answers(0), after: answers(200) }],
        probes: { domains: 1, before: answers(0), after: answers(200) },
      },
    ],
  ])
  expect(await fetchConfigs(emulator)).toEqual(before)
  expect((await place.json('state', 'history'))['applies']).toHaveLength(3)
})

/** Changes an item that no probe meets. */
const changeTimeout = (seconds: string) =>
  place.manifest(domain, {
    origin,
    deny_url: { urls: ['/old.html'] },
    timeout: { time: seconds },
  })

it('a harmless change passes by its probes, which are spread over the samples', async () => {
  await run('requests: probe.txt, count: 20')
  place.write(
    'probe.txt',
    `${place.read('probe.txt')}POST http://${domain}/c\nhttp://other.example.com/d\n`,
  )
  const sent = countSent(({ method, host, path }) => `${method} ${host}${path}`)
  changeTimeout('30')
  const { code, err } = await place.cli('apply', '--yes')
  expect(code).toBe(0)
  expect(err).toMatch(
    /healthy +wave 1: .*% in \d+ after \(20 probe requests before and 20 after\)\n/,
  )
  expect(sent).toEqual(
    new Map([
      [`GET ${domain}/a.html`, 20],
      [`HEAD ${domain}/b.html`, 20],
    ]),
  )
})

it.each([
  ['without probes', '', quiet, 'stop'],
  ['with enough traffic', 'requests: probe.txt', 'statuses: [5xx]', 'same-or-better'],
])('nothing is sent %s', async (_, probe, health) => {
  await run(probe, health)
  const sent = countSent(() => 'any')
  changeTimeout('30')
  const { judged } = await apply()
  expect([judged.map(({ probes }) => probes), sent.size]).toEqual([[undefined], 0])
})

it('a wave has too little data if its domains have no samples', async () => {
  await run('requests: probe.txt')
  place.write('probe.txt', `POST http://${domain}/\nhttps://elsewhere.example.net/\n`)
  const sent = countSent(() => 'any')
  changeTimeout('30')
  const { code, judged } = await apply()
  expect([code, judged, sent.size]).toMatchObject([3, [{ verdict: 'too-little-data' }], 0])
  expect(judged[0]).not.toHaveProperty('probes')
})

it('probes of another file than before the wave are not compared', async () => {
  await run('requests: probe.txt, count: 20')
  const sent = countSent(({ path }) => path)
  changeTimeout('30')
  time.onSleep = async () => void place.write('probe.txt', `http://${domain}/other.html\n`)
  const { code, judged } = await apply()
  expect([code, judged]).toMatchObject([3, [{ verdict: 'too-little-data' }]])
  expect(sent).toEqual(
    new Map([
      ['/a.html', 10],
      ['/b.html', 10],
      ['/other.html', 20],
    ]),
  )
})

it('a file that is missing is refused before anything is sent', async () => {
  await run('requests: nothing.txt')
  changeTimeout('30')
  const { code, err } = await place.cli('apply', '--yes')
  expect(code).toBe(1)
  expect(err).toContain('the sample requests nothing.txt: ')
  expect((await fetchConfigs(emulator))[domain]).not.toHaveProperty('timeout')
})

it('processes that continue a rollout send its probes once', async () => {
  await run('requests: probe.txt, count: 20')
  const sent = countSent(() => 'any')
  changeTimeout('30')
  const codes: number[] = []
  for (let i = 0; i < 30; i++) {
    const { code, judged } = await apply('--no-wait')
    codes.push(code)
    const { probes } = place.loadRollouts()[0]?.waves[0] ?? {}
    if (i === 0) expect(probes).toMatchObject({ count: 20, before: { [domain]: { 200: 20 } } })
    if (judged.length > 0) {
      expect(judged).toMatchObject([{ verdict: 'same-or-better', before: expect.any(Object) }])
      break
    }
    expect(probes).not.toHaveProperty('after')
    time.now += 5 * minute
  }
  expect([codes.length > 3, codes.at(-1), sent]).toEqual([true, 0, new Map([['any', 40]])])
})

it('an interrupted round is sent again, the one before the wave is kept', async () => {
  await run('requests: probe.txt, count: 20')
  changeTimeout('30')
  const controller = new AbortController()
  place.signal = controller.signal
  let sent = 0
  place.probe = (request) => {
    if (++sent === 25) controller.abort()
    return sendProbe(request)
  }
  expect((await place.cli('apply', '--yes')).code).toBe(3)
  const [wave] = place.loadRollouts()[0]?.waves ?? []
  expect(wave).toMatchObject({ passed: false, probes: { before: { [domain]: { 200: 20 } } } })
  expect(wave?.probes).not.toHaveProperty('after')
  place.signal = new AbortController().signal
  const again = countSent(() => 'any')
  expect((await apply()).code).toBe(0)
  expect(again.get('any')).toBe(20)
})

it('a rollout that can begin only later is probed again', async () => {
  await run('requests: probe.txt, count: 20')
  const sent = countSent(() => 'any')
  changeTimeout('30')
  const network = place.transport
  place.transport = (request) =>
    request.body === undefined
      ? (network ?? createNetworkTransport())(request)
      : Promise.resolve({ status: 401, header: () => null, body: '{"code": 1}' })
  expect((await apply()).code).not.toBe(0)
  place.transport = network
  time.now += 60 * minute
  expect((await apply()).code).toBe(0)
  expect(sent.get('any')).toBe(60)
})

it('the origin is asked at the address of its configuration, with its Host', async () => {
  const hosts: string[] = []
  let status = 200
  const server = createServer(({ headers, url }, answer) => {
    hosts.push(`${headers.host}${url}`)
    answer.writeHead(status).end()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const own = { default_master: '127.0.0.1', origin_mode: 'custom', ori_https: 'no', port }
    const host = 'media.origin.example.net'
    const config = { origin: own, origin_host: { host } }
    await run('requests: probe.txt, from: origin, count: 20', quiet, config)
    place.manifest(domain, {
      ...config,
      deny_url: { urls: ['/old.html'] },
      timeout: { time: '30' },
    })
    time.onSleep = async () => void (status = 503)
    const { code, judged } = await apply()
    expect([code, judged]).toMatchObject([3, [{ verdict: 'worse' }]])
    expect(hosts).toHaveLength(40)
    expect(new Set(hosts)).toEqual(new Set([`${host}/a.html`, `${host}/b.html`]))
  } finally {
    server.close()
  }
})

it('the emulator in the process answers probes, too', async () => {
  enterPlace(
    new Place(
      'emulator',
      `rollout: {pause: 0s, health: {${quiet}}, probe: {requests: probe.txt, count: 20}}\n`,
    ),
  )
  place.write('probe.txt', `http://${domain}/a.html\n`)
  place.manifest(domain, { origin })
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  time.now += 120 * minute
  place.manifest(domain, { origin, deny_url: { urls: ['/a.html'] } })
  const { code, judged } = await apply()
  expect([code, judged]).toMatchObject([3, [{ verdict: 'worse' }]])
})
