import { beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { formatRollout } from '../../src/state/format/rollout-file.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { fetchConfig, fetchWrites, Place, setFaults, token } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
const api = 'api.example.com'
const names = [api, www]
const https = { cert_id: 1, http2: 'on' }
setStage()

/** Another client changes the service. */
async function outOfBand(domain: string, config: JsonObject): Promise<void> {
  const response = await fetch(`${emulator.url}/v2/domain/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, domains: domain, config }),
  })
  expect(response.status).toBe(200)
}

const observe = (config: Json) => place.write('live.json', JSON.stringify(config))

/** Observes the configuration of both domains. */
async function observeAll(): Promise<void> {
  const configs = await Promise.all(names.map((domain) => fetchConfig(emulator, domain)))
  observe(Object.fromEntries(names.map((domain, i) => [domain, configs[i] ?? {}])))
}

/** Repairs, and returns the written items by domain with the result. */
async function repair(...args: string[]) {
  const before = (await fetchWrites(emulator)).length
  const ran = await place.cli('drift', '--observed', 'live.json', '--repair', '--yes', ...args)
  const writes = (await fetchWrites(emulator)).slice(before)
  const sent = writes.flatMap(({ domains, items }) =>
    domains.flatMap((domain) => items.map((item) => `${domain} ${item}`)),
  )
  return { ...ran, err: ran.err.replace(/\s+/g, ' '), sent: sent.toSorted() }
}

async function listPlanned(): Promise<string[]> {
  const { changes } = (await place.json('plan')) as { changes: { domain: string; item: string }[] }
  return changes.map(({ domain, item }) => `${domain} ${item}`)
}

const addLines = (more: string) =>
  place.write('edgewise.yaml', `${place.read('edgewise.yaml')}${more}\n`)

it.each(['--include-pending', '--force', '--allow=https'])(
  'drift --repair is required by %s',
  async (option) => {
    expect(await place.json('drift', option)).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`${option.split('=')[0] ?? ''} is valid only`) as string,
    })
  },
)

describe('drift --repair', () => {
  beforeEach(async () => {
    for (const domain of names) place.manifest(domain, { timeout: { time: 60 }, https })
    await place.settle()
  })

  itLong('repairs the drifted items only, and counts the pending ones', async () => {
    await outOfBand(www, { timeout: { time: '99' } })
    place.manifest(www, { timeout: { time: 60 }, https: { ...https, http2: 'off' } })
    place.manifest(api, { timeout: { time: 61 } })
    await observeAll()
    const first = await repair()
    expect([first.code, first.sent]).toEqual([0, [`${www} timeout`]])
    expect(first.err).toContain(
      '3 pending items were left out: "edgewise apply" applies them, and --include-pending ' +
        'includes them here.',
    )
    expect(await listPlanned()).toEqual([`${api} https`, `${api} timeout`, `${www} https`])
    await observeAll()
    const second = await repair('--include-pending')
    expect([second.code, second.sent]).toEqual([0, [`${api} timeout`, `${www} https`]])
    expect(second.err).not.toContain('left out')
    expect(await listPlanned()).toEqual([])
  })

  it('writes nothing if nothing drifted, and leaves everything pending', async () => {
    place.manifest(www, { timeout: { time: 61 }, https })
    await observeAll()
    const { code, sent, err } = await repair()
    expect([code, sent]).toEqual([0, []])
    expect(err).toContain('1 pending item was left out')
    expect(await listPlanned()).toEqual([`${www} timeout`])
  })

  itLong('repairs a pending item that drifted as well to the desired value', async () => {
    await outOfBand(www, { timeout: { time: '99' } })
    place.manifest(www, { timeout: { time: 61 }, https })
    await observeAll()
    expect(await repair()).toMatchObject({ code: 0, sent: [`${www} timeout`] })
    expect(await fetchConfig(emulator, www)).toMatchObject({ timeout: { time: '61' } })
  })

  it('needs an observation, unless it includes pending items', async () => {
    place.manifest(www, { timeout: { time: 61 }, https })
    expect(await place.json('drift', '--repair', '--yes')).toMatchObject({
      code: 'usage',
      message: 'nothing was observed, so it is not known which items drifted; nothing was sent',
      hint: expect.stringContaining('--observed') as string,
    })
    expect((await place.cli('drift', '--repair', '--yes', '--include-pending')).code).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({ timeout: { time: '61' } })
  })

  itLong('repairs the selected domains and items only', async () => {
    for (const domain of names)
      await outOfBand(domain, { timeout: { time: '99' }, https: { ...https, http2: 'off' } })
    await observeAll()
    const output = await place.json('drift', '--observed', 'live.json', '--target', 'api.*')
    expect(listSchemaErrors('drift', output)).toEqual([])
    expect(output).toMatchObject({
      items: [
        { domain: api, item: 'https' },
        { domain: api, item: 'timeout' },
      ],
      summary: { live: 2 },
    })
    const selected = ['--target', api, '--target', 'www.*', '--item', 'timeout']
    expect(await place.json('drift', '--observed', 'live.json', ...selected)).toMatchObject({
      summary: { live: 2, verified: 2, assumed: 0 },
    })
    expect(await repair('--target', www, '--item', 'timeout')).toMatchObject({
      code: 0,
      sent: [`${www} timeout`],
    })
    // Only the observed values of repaired items are recorded.
    expect(await listPlanned()).toEqual([])
    expect(await repair('--item', 'https')).toMatchObject({
      sent: [`${api} https`, `${www} https`],
    })
    await observeAll()
    expect(await repair()).toMatchObject({ sent: [`${api} timeout`] })
  })

  itLong('refuses a selection of which a part matches nothing', async () => {
    observe({})
    place.manifest(www, { timeout: { time: 60 }, https, origin: { default_master: '192.0.2.1' } })
    for (const [args, message] of [
      [['--target', 'api.*', '--target', 'wwww.*'], 'no managed domain matches "wwww.*"'],
      [
        ['--item', 'timeout', '--item', 'video_drag'],
        'no selected domain has the item "video_drag"',
      ],
      [['--target', 'api.*', '--item', 'origin'], 'no selected domain has the item "origin"'],
      [['--item', 'timout'], 'there is no item "timout"'],
    ] as const)
      for (const more of [[], ['--repair', '--yes']])
        expect(
          await place.json('drift', '--observed', 'live.json', ...args, ...more),
        ).toMatchObject({ code: 'usage', message: expect.stringContaining(message) as string })
  })

  itLong('leaves in-doubt items out, and counts them', async () => {
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    place.manifest(www, { timeout: { time: 61 }, https })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    await outOfBand(www, { https: { ...https, http2: 'off' } })
    await observeAll()
    const { code, sent, err } = await repair()
    expect([code, sent]).toEqual([0, [`${www} https`]])
    expect(err).toContain('1 in-doubt item was left out')
    expect(await listPlanned()).toEqual([`${www} timeout`])
    await observeAll()
    expect((await repair('--include-pending')).sent).toEqual([`${www} timeout`])
  })

  itLong('repairs an in-doubt item whose observed value is unreadable', async () => {
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    place.manifest(www, { timeout: { time: 61 }, https })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    observe({ [www]: { timeout: { time: '60s' } } })
    expect(await repair()).toMatchObject({ code: 0, sent: [`${www} timeout`] })
  })

  it.each<[string, Json]>([
    ['an item that the service does not have', { timeout: null }],
    ['an unreadable item', { timeout: { time: [1] } }],
  ])('repairs %s', async (_what, config) => {
    observe({ [www]: config })
    expect(await repair()).toMatchObject({ code: 0, sent: [`${www} timeout`] })
  })

  it('leaves out items not observed, not managed, or hidden in part', async () => {
    const other = {
      [api]: { timeout: { time: '60' } },
      'other.example.com': { timeout: { time: '1' } },
    }
    const hidden: Json[] = [{}, { https: { cert_id: '1' } }]
    for (const config of hidden) {
      observe({ [www]: config, ...other })
      expect(await repair()).toMatchObject({ code: 0, sent: [] })
    }
    observe({
      [www]: { connect_timeout: { origin_connect_timeout: '7' }, image_resize: 1 },
      ...other,
    })
    const { code, sent, err } = await repair()
    expect([code, sent]).toEqual([0, []])
    expect(err).toContain('3 observed items are not managed')
  })

  it('leaves an item out that was never applied and is not at the service', async () => {
    place.manifest(www, { timeout: { time: 60 }, https, origin: { default_master: '192.0.2.1' } })
    observe({ [www]: { origin: null, https: null } })
    const { sent, err } = await repair()
    expect(sent).toEqual([`${www} https`])
    expect(err).toContain('1 pending item was left out')
  })

  itLong(
    'records an unrecorded item that the service has as desired, and sends nothing',
    async () => {
      const origin = { default_master: '192.0.2.1', origin_mode: 'default' }
      place.manifest(www, { timeout: { time: 60 }, https, origin })
      observe({ [www]: { origin } })
      expect(await repair()).toMatchObject({ code: 0, sent: [] })
      expect(await listPlanned()).toEqual([])
    },
  )

  itLong('is refused for an unreadable item without the value of its secret', async () => {
    addLines('secrets: {origin: {env: ORIGIN}}')
    place.env['ORIGIN'] = 'sesame-sesame'
    const heads = (bearer: string, other: string) => [
      { head_name: 'Authorization', head_value: `Bearer ${bearer}` },
      { head_name: 'X-B', head_value: other },
    ]
    await place.manifest(www, { add_back_source_head: heads('${secret:origin}', 'open') }).settle()
    delete place.env['ORIGIN']
    observe({ [www]: { add_back_source_head: heads('sesame-sesame', 'shut') } })
    const refused = await repair()
    expect([refused.code, refused.sent]).toEqual([1, []])
    expect(refused.err).toContain('origin')
    place.env['ORIGIN'] = 'sesame-sesame'
    expect(await repair()).toMatchObject({ code: 0, sent: [`${www} add_back_source_head`] })
  })

  itLong('releases a drifted item without a manifest, and leaves other releases out', async () => {
    place.manifest(www, { https }).manifest(api, { https })
    observe({ [www]: { timeout: { time: '99' } } })
    const { sent, err } = await repair()
    expect(sent).toEqual([])
    expect(err).toContain('1 pending item was left out')
    expect(await listPlanned()).toEqual([`${api} timeout`])
  })

  itLong('prints the events of the repair with --json', async () => {
    await outOfBand(www, { timeout: { time: '99' } })
    place.manifest(api, { timeout: { time: 61 }, https })
    await observeAll()
    const { out } = await repair('--json')
    const [shown = '', ...lines] = out.trim().split('\n')
    expect(listSchemaErrors('drift', JSON.parse(shown) as JsonObject)).toEqual([])
    const events = lines.map((line) => JSON.parse(line) as JsonObject)
    expect(events.flatMap((event) => listSchemaErrors('apply-event', event))).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'apply.finished', confirmed: 1 })
  })
})

describe('drift --repair of items that belong together', () => {
  const origin = { default_master: '192.0.2.1' }
  const host = { host: 'one.example.com' }

  beforeEach(async () => {
    addLines('grouping: {together: [[origin, origin_host]]}')
    await place.manifest(www, { origin, origin_host: host, https }).settle()
  })

  it('restores one of them, while a change of the other is pending', async () => {
    place.manifest(www, { origin, origin_host: { host: 'two.example.com' }, https })
    await outOfBand(www, { origin: { default_master: '192.0.2.9' } })
    await observeAll()
    expect(await repair()).toMatchObject({ code: 0, sent: [`${www} origin`] })
  })

  itLong('does not write a new value of one without the pending value of the other', async () => {
    place.manifest(www, {
      origin: { default_master: '192.0.2.2' },
      origin_host: { host: 'two.example.com' },
      https,
    })
    await outOfBand(www, { origin: { default_master: '192.0.2.9' } })
    await observeAll()
    const refused = await repair()
    expect([refused.code, refused.sent]).toEqual([1, []])
    expect(refused.err).toContain(
      `origin of ${www} needs origin_host with it (grouping.together), which is left out`,
    )
    expect(refused.err).toContain('--include-pending')
    expect((await repair('--include-pending')).sent).toEqual([
      `${www} origin`,
      `${www} origin_host`,
    ])
  })

  itLong('does not restore one without the other, if both drifted', async () => {
    await outOfBand(www, {
      origin: { default_master: '192.0.2.9' },
      origin_host: { host: 'nine.example.com' },
    })
    await observeAll()
    expect(await repair('--item', 'origin')).toMatchObject({ code: 1, sent: [] })
    expect(await repair('--item', 'origin', '--item', 'origin_host')).toMatchObject({
      code: 0,
      sent: [`${www} origin`, `${www} origin_host`],
    })
  })
})

describe('drift --repair of items that empty each other', () => {
  const list = (...addresses: string[]) => ({ list: addresses })

  itLong('does not drop a list that a pending item is to empty', async () => {
    await place.manifest(www, { ip_white_list: list('192.0.2.1') }).settle()
    place.manifest(www, { ip_black_list: list('192.0.2.2') })
    observe({ [www]: { ip_white_list: list('192.0.2.9') } })
    const refused = await repair()
    expect([refused.code, refused.sent]).toEqual([1, []])
    expect(refused.err).toContain(
      `ip_white_list of ${www} needs ip_black_list with it (one empties the other)`,
    )
    expect({ items: await place.recorded(www) }).toMatchObject({
      items: { ip_white_list: { candidates: [list('192.0.2.1')] } },
    })
    expect(await repair('--include-pending')).toMatchObject({
      code: 0,
      sent: [`${www} ip_black_list`],
    })
  })

  it('does not empty a recorded list that did not drift', async () => {
    await place.manifest(www, { ip_white_list: list('192.0.2.1') }).settle()
    place.manifest(www, { ip_black_list: list('192.0.2.2') })
    observe({ [www]: { ip_black_list: 7 } })
    const refused = await repair()
    expect([refused.code, refused.sent]).toEqual([1, []])
    expect(refused.err).toContain(`ip_black_list of ${www} needs ip_white_list with it`)
  })

  it('restores a list, and warns that this empties an unmanaged one', async () => {
    await place.manifest(www, { ip_black_list: list('192.0.2.1') }).settle()
    await outOfBand(www, { ip_white_list: list('192.0.2.9') })
    await observeAll()
    const repaired = await repair()
    expect([repaired.code, repaired.sent]).toEqual([0, [`${www} ip_black_list`]])
    expect(repaired.err).toContain('ip_black_list empties ip_white_list, which is not recorded')
  })
})

describe('drift --repair under the rules of an apply', () => {
  /** Leaves a rollout of a change of both domains after its first wave. */
  async function interruptRollout(): Promise<void> {
    enterPlace(new Place(emulator.url, 'rollout: {waves: [1, 100%], pause: 1h}\n'))
    for (const domain of names) place.manifest(domain, { timeout: { time: 60 }, https })
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    for (const domain of names) place.manifest(domain, { timeout: { time: 61 }, https })
    const stop = new AbortController()
    place.signal = stop.signal
    place.onSleep = async () => stop.abort()
    await place.cli('apply', '--yes')
    place.signal = new AbortController().signal
    place.onSleep = null
  }

  itLong('leaves an open rollout as it is, and is refused on its domains', async () => {
    await interruptRollout()
    const rollouts = place.loadRollouts()
    expect(rollouts).toHaveLength(1)
    await observeAll()
    expect(await repair()).toMatchObject({ code: 0, sent: [] })
    expect(place.loadRollouts()).toEqual(rollouts)
    await outOfBand(www, { https: { ...https, http2: 'off' } })
    await observeAll()
    const refused = await repair()
    expect([refused.code, refused.sent]).toEqual([1, []])
    expect(refused.err).toContain('and the plan touches its domains')
  })

  itLong('leaves items on hold as they are, and repairs the others of their domains', async () => {
    await interruptRollout()
    const [path = ''] = place.findRolloutFiles()
    const [rollout] = place.loadRollouts()
    if (rollout === undefined) throw new TypeError('expected a rollout')
    const ended = { state: 'stopped' as const, reason: 'worse', endedAt: rollout.startedAt }
    place.write(path, formatRollout({ ...rollout, ...ended, onHold: rollout.values }))
    await outOfBand(www, { https: { ...https, http2: 'off' } })
    await observeAll()
    const { code, sent, err } = await repair()
    expect([code, sent]).toEqual([0, [`${www} https`]])
    expect(err).toContain('on hold')
    expect(err).not.toContain('left out')
  })
})
