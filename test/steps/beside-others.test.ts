// @module-tag often
import { beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import type { JsonObject } from '../../src/core/model/json.ts'
import { fetchConfig, fetchWrites, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

setStage({ extended: true })

const [www, api] = ['www.example.com', 'api.example.com']
const limit = { max_rate_count: 100, max_rate_unit: 'KB', leading_flow_count: 1 }
const rule = { match_method: 'ext', pattern: 'js', expire: 60, case_ignore: 'no' }

const signed = (deadtime: number) => ({
  pattern: '.*',
  time_format: 'timestamp',
  key: '${secret:sign}',
  deadtime,
  req_uri_type: 1,
  origin_type: 1,
})

/** Adds settings to the workspace file. */
function configure(settings: JsonObject): void {
  const before = parse(place.read('edgewise.yaml')) as Record<string, JsonObject>
  for (const [name, value] of Object.entries(settings))
    before[name] = { ...before[name], ...(value as JsonObject) }
  place.write('edgewise.yaml', stringify(before))
}

/** Writes a configuration as another client does. */
async function writeAsOther(config: JsonObject, domains = www): Promise<void> {
  const answer = await fetch(`${emulator.url}/v2/domain/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: place.env['EDGEWISE_TOKEN'], domains, config }),
  })
  expect(await answer.json()).toMatchObject({ code: 0 })
}

const show = async (domain = www) => await place.recorded(domain)
const apply = (...args: string[]) => place.cli('apply', '--yes', ...args)
const countReads = async () => {
  const answer = await fetch(`${emulator.url}/_emulator/calls`)
  const calls = (await answer.json()) as { method: string; path: string; domains: string[] }[]
  return calls.filter(({ method, path }) => method === 'GET' && path === '/v2/domain/config')
}

beforeEach(() => configure({ service: { readBack: true, settleSeconds: 0 } }))

describe('an edit of an item that somebody else has changed', () => {
  beforeEach(async () => {
    await place.manifest(www, { rate_limit: limit }).settle()
    await writeAsOther({ rate_limit: { ...limit, max_rate_count: 200 } })
    place.manifest(www, { rate_limit: { ...limit, leading_flow_count: 2 } })
  })

  it('is refused with the difference, and nothing is sent', async () => {
    const writes = (await fetchWrites(emulator)).length
    const { code, err } = await apply()
    expect([code, err]).toEqual([1, expect.stringMatching(/differs: the service has other values/)])
    expect(err).toMatch(/rate_limit\s+www\.example\.com[^]*max_rate_count\s+100 → 200/)
    expect(err).toContain('--allow rate_limit')
    expect((await fetchWrites(emulator)).length).toBe(writes)
    expect((await show())['rate_limit']).toMatchObject({ candidates: [{ max_rate_count: 100 }] })
    expect(await place.json('apply', '--yes')).toMatchObject({
      format: 'edgewise.error/1',
      code: 'guarded',
      message: expect.stringContaining('differs: ') as unknown,
    })
  })

  it('goes on where it is allowed by name, from what the service has', async () => {
    expect((await apply('--allow', 'https')).code).toBe(1)
    const { code, out, err } = await apply('--allow', 'rate_limit', '--reason', 'ours counts')
    expect([code, out], err).toEqual([0, expect.stringMatching(/max_rate_count\s+200 → 100/)])
    expect(await fetchConfig(emulator, www)).toMatchObject({
      rate_limit: { max_rate_count: 100, leading_flow_count: 2 },
    })
    const { applies } = await place.json('state', 'history')
    expect((applies as JsonObject[])[0]).toMatchObject({
      overrides: [{ policy: 'differs', reason: 'ours counts' }],
    })
    // What it has replaced is what the service had.
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({
      rate_limit: { max_rate_count: 200, leading_flow_count: 1 },
    })
  })

  it('goes on once the values are imported, and the plan has them', async () => {
    expect((await place.cli('import', '--live', '--replace')).code).toBe(0)
    expect((await place.cli('plan')).out).toMatch(/max_rate_count\s+200 → 100/)
    expect((await apply()).code).toBe(0)
  })

  it('is refused for a saved plan, which has other values, even if it is allowed', async () => {
    await place.cli('plan', '--out', 'plan.json')
    const { code, err } = await place.cli('apply', 'plan.json', '--allow', 'rate_limit')
    expect([code, err]).toEqual([1, expect.stringContaining('differs: ')])
  })

  it('is refused by drift.ignore too, which only keeps quiet', async () => {
    const ignored = { domain: www, item: 'rate_limit', pointer: '/max_rate_count', reason: 'tuned' }
    configure({ drift: { ignore: [ignored] } })
    expect((await place.cli('drift', '--live')).out).toContain('are ignored')
    expect((await apply()).err).toContain('differs: ')
  })

  it('is not sent if it can not be compared', async () => {
    await setFaults(emulator, { kind: 'error', status: 500, probability: 1 })
    const { code, err } = await apply()
    expect([code, err]).toEqual([1, expect.stringContaining('the stored configuration')])
    await setFaults(emulator)
    expect(await fetchConfig(emulator, www)).toMatchObject({ rate_limit: { max_rate_count: 200 } })
  })

  it('is refused if the service no longer has the domain', async () => {
    await fetch(`${emulator.url}/v2/domain?domains=${www}&token=${place.env['EDGEWISE_TOKEN']}`, {
      method: 'DELETE',
    })
    const { code, err } = await apply()
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`no configuration of the domain: ${www}`),
    ])
  })

  it('reads nothing without service.readBack', async () => {
    configure({ service: { readBack: false } })
    expect((await apply()).code).toBe(0)
    expect(await countReads()).toEqual([])
  })
})

it('a rollback of what somebody else has changed since needs consent', async () => {
  await place.manifest(www, { rate_limit: limit }).settle()
  await place.manifest(www, { rate_limit: { ...limit, leading_flow_count: 2 } }).settle()
  await writeAsOther({ rate_limit: { ...limit, max_rate_count: 200, leading_flow_count: 2 } })
  const refused = await place.cli('rollback', '--yes')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('differs: ')])
  const { code, err } = await place.cli('rollback', '--yes', '--allow', 'rate_limit')
  expect(code, err).toBe(0)
  expect(await fetchConfig(emulator, www)).toMatchObject({ rate_limit: limit })
})

it('a list of others is replaced as a whole where that is allowed', async () => {
  const list = (...entries: string[]) => ({ ip_black_list: { list: entries } })
  await place.manifest(www, list('192.0.2.1')).settle()
  await writeAsOther(list('192.0.2.1', '192.0.2.9'))
  place.manifest(www, list('192.0.2.1', '192.0.2.2'))
  expect((await apply()).code).toBe(1)
  expect((await apply('--allow', 'ip_black_list')).code).toBe(0)
  expect(await fetchConfig(emulator, www)).toMatchObject(list('192.0.2.1', '192.0.2.2'))
})

it('reads the domains that are written, once each', async () => {
  const domains = Array.from({ length: 30 }, (_, i) => `d${i}.example.com`)
  for (const domain of domains) place.manifest(domain, { timeout: { time: 60 } })
  await place.settle()
  expect(await countReads()).toEqual([])
  for (const domain of domains.slice(0, 12)) place.manifest(domain, { timeout: { time: 61 } })
  expect((await apply()).code).toBe(0)
  const read = (await countReads()).flatMap((call) => call.domains)
  expect(read.toSorted()).toEqual(domains.slice(0, 12).toSorted())
})

it('sends nothing if a part can not be read, and loses nothing', async () => {
  const domains = Array.from({ length: 12 }, (_, i) => `d${10 + i}.example.com`)
  const manifests = (time: number) => {
    for (const domain of domains) place.manifest(domain, { timeout: { time } })
  }
  manifests(60)
  await place.settle()
  manifests(61)
  const writes = (await fetchWrites(emulator)).length
  await setFaults(emulator, {
    kind: 'error',
    status: 500,
    domain: 'd21.example.com',
    probability: 1,
  })
  const { code, err } = await apply()
  expect([code, err]).toEqual([1, expect.stringContaining('the stored configuration')])
  expect((await fetchWrites(emulator)).length).toBe(writes)
  await setFaults(emulator)
  expect(await place.json('plan')).toMatchObject({ summary: { change: 12 } })
  expect((await apply()).code).toBe(0)
})

it('a difference shows no secret', async () => {
  configure({ secrets: { sign: { env: 'SIGN' } } })
  place.env['SIGN'] = 'correct-horse-battery'
  await place.manifest(www, { visit_timestamp: signed(60) }).settle()
  await writeAsOther({ visit_timestamp: { ...signed(90), key: 'another key' } })
  place.manifest(www, { visit_timestamp: { ...signed(60), origin_type: 2 } })
  const { code, out, err } = await apply()
  expect([code, err]).toEqual([1, expect.stringContaining('differs: ')])
  expect(out + err).not.toMatch(/another key|correct-horse/)
})

describe('a rollout', () => {
  const names = [www, api, 'cdn.example.com']
  const manifests = (time: number) => {
    for (const domain of names) place.manifest(domain, { timeout: { time } })
  }

  it('compares each wave before it begins, and goes on with the next apply', async () => {
    manifests(60)
    await place.settle()
    configure({ rollout: { waves: [1, 2, '100%'], pause: '0s', first: [www, api] } })
    await writeAsOther({ timeout: { time: '99' } }, 'cdn.example.com')
    manifests(61)
    const { code, out, err } = await apply()
    expect([code, out + err]).toEqual([3, expect.stringContaining('differs: ')])
    const times = async () =>
      Promise.all(
        names.map(async (domain) => {
          const { timeout } = await fetchConfig(emulator, domain)
          return (timeout as JsonObject)['time']
        }),
      )
    expect(await times()).toEqual(['61', '61', '99'])
    expect((await apply()).code).toBe(1)
    const resumed = await apply('--allow', 'timeout')
    expect(resumed.code, resumed.err).toBe(0)
    expect(await times()).toEqual(['61', '61', '61'])
    const [first, second] = (await countReads()).map((call) => call.domains.toSorted())
    expect([first, second]).toEqual([[api, www], ['cdn.example.com']])
  })
})

describe('fields that the service never shows, after a write of somebody else', () => {
  const config = { cache_rule_list: [rule], https: { cert_id: 7, ocsp: 'on' } }
  beforeEach(async () => {
    await place.manifest(www, config).settle()
    await writeAsOther({
      cache_rule_list: [{ ...rule, expire: 90, case_ignore: 'yes' }],
      https: { cert_id: 8, ocsp: 'off' },
    })
  })

  it('are not known any more once its values are imported', async () => {
    expect((await place.cli('import', '--live', '--replace')).code).toBe(0)
    const { cache_rule_list, https } = await show()
    expect(cache_rule_list).toMatchObject({
      candidates: [[{ expire: 90 }]],
      unknownFields: ['/0/case_ignore', '/0/cache_or_not'],
    })
    expect(https).toMatchObject({ candidates: [{ cert_id: 8 }] })
    expect(JSON.stringify(https)).not.toContain('ocsp')
    place.manifest(www, {
      cache_rule_list: [{ ...rule, expire: 90, cache_or_not: { $unset: true } }],
      https: { cert_id: 8, ocsp: 'on' },
    })
    const applied = await apply()
    expect(applied.code, applied.err).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({
      cache_rule_list: [{ expire: 90, case_ignore: 'no' }],
      https: { cert_id: 8, ocsp: 'on' },
    })
  })

  it('are not known any more once they are the base of a repair', async () => {
    const refused = await place.cli('drift', '--live', '--repair', '--yes')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('cache_or_not')])
    const allow = ['--allow', 'cache_rule_list']
    const repaired = await place.cli('drift', '--live', '--repair', '--yes', ...allow)
    expect(repaired.code, repaired.err).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({
      cache_rule_list: [{ case_ignore: 'no' }],
      https: { cert_id: 7, ocsp: 'on' },
    })
  })

  it('stay known where only another item was written', async () => {
    await place.cli('import', '--live', '--replace', '--yes')
    place.manifest(www, { ...config, timeout: { time: 60 } })
    await apply('--allow', 'cache_rule_list')
    await writeAsOther({ timeout: { time: '61' } })
    expect((await place.cli('import', '--live', '--replace')).code).toBe(0)
    expect((await show())['cache_rule_list']).not.toHaveProperty('unknownFields')
    expect((await show())['https']).toMatchObject({ candidates: [{ ocsp: 'on' }] })
  })
})

describe('a hidden field that a manifest declares absent', () => {
  const shown = { match_method: 'ext', pattern: 'js', expire: 60 }
  beforeEach(async () => {
    await writeAsOther({ cache_rule_list: [{ ...rule, cache_or_not: 'no' }] })
    place.manifest(www, { cache_rule_list: [shown] })
    expect((await place.cli('import', '--live')).code).toBe(0)
  })

  it('is sent so without further consent, and known from then on', async () => {
    const declared = { ...shown, case_ignore: 'no', cache_or_not: { $unset: true } }
    place.manifest(www, { cache_rule_list: [declared] })
    expect((await place.cli('validate')).code).toBe(0)
    const { out } = await place.cli('plan')
    expect(out).toContain('case_ignore')
    const { code, err } = await apply()
    expect(code, err).toBe(0)
    const [stored] = (await fetchConfig(emulator, www))[
      'cache_rule_list'
    ] as unknown as JsonObject[]
    expect(stored).not.toHaveProperty('cache_or_not')
    expect((await show())['cache_rule_list']).not.toHaveProperty('unknownFields')
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('is a change also alone, which the plan shows', async () => {
    place.manifest(www, { cache_rule_list: [{ ...shown, case_ignore: 'yes' }] })
    await apply('--allow', 'cache_rule_list')
    await writeAsOther({ cache_rule_list: [{ ...shown, expire: 5, cache_or_not: 'no' }] })
    await place.cli('import', '--live', '--replace')
    const declared = { ...shown, expire: 5, case_ignore: 'yes', cache_or_not: { $unset: true } }
    place.manifest(www, { cache_rule_list: [declared] })
    const { code, out } = await place.cli('plan', '--detailed-exitcode')
    expect([code, out]).toEqual([2, expect.stringContaining('cache_or_not unknown → left out')])
    expect((await apply()).code).toBe(0)
  })
})

describe('import --live --write-manifests --yes', () => {
  it('makes up no order of header rules', async () => {
    const header = { regex: '.*', head_op: 'ADD', head_direction: 'CLI_REP', value: '1' }
    const list = ['A', 'B'].map((head, i) => ({ ...header, head, order: 9 - i }))
    await writeAsOther({ head_control: { list }, timeout: { time: '60' } })
    const { code, err } = await place.cli('import', '--live', '--write-manifests', '--yes')
    expect([code, err]).toEqual([0, expect.stringContaining('order')])
    expect(place.read(`domains/${www}.yaml`)).not.toContain('head_control')
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('leaves out an item whose name nobody has given, and takes the rest', async () => {
    configure({ service: { itemKeys: {} } })
    await writeAsOther({ deny_protocol: { protocol: 'http' }, timeout: { time: '60' } })
    await writeAsOther({ deny_protocol: { protocol: 'http' } }, api)
    const { code, out, err } = await place.cli('import', '--live', '--write-manifests', '--yes')
    expect([code, out], err).toEqual([0, expect.stringContaining('Recorded 1 item of 1 domain')])
    expect(err.replaceAll(/\s+/g, ' ')).toContain('"deny_protocol: deny_protocol"')
    expect((await place.cli('validate')).code).toBe(0)
  })
})

describe('drift --live', () => {
  it('says verified only of what could be', async () => {
    await place.manifest(www, { https: { cert_id: 7, ocsp: 'on' }, timeout: { time: 60 } }).settle()
    const { code, out } = await place.cli('drift', '--live')
    expect([code, out]).toEqual([0, expect.stringMatching(/1 as recorded, 1 assumed as recorded/)])
    const { items, summary } = await place.json('drift', '--live')
    expect(summary).toMatchObject({ verified: 1, assumed: 1 })
    expect(items).toMatchObject([
      { item: 'https', confidence: 'assumed', notVerifiable: ['/ocsp'] },
      { item: 'timeout', confidence: 'verified' },
    ])
    const alone = await place.cli('drift', '--live', '--item', 'https')
    expect(alone.out).not.toContain('None of these items was compared')
  })

  it('exits with 3 for a repair of domains that are gone', async () => {
    for (const domain of [www, api]) place.manifest(domain, { timeout: { time: 60 } })
    await place.settle()
    const repair = () => place.cli('drift', '--live', '--repair', '--yes')
    const remove = (domain: string) =>
      fetch(`${emulator.url}/v2/domain?domains=${domain}&token=${place.env['EDGEWISE_TOKEN']}`, {
        method: 'DELETE',
      })
    expect((await repair()).code).toBe(0)
    await remove(api)
    const { code, out } = await repair()
    expect([code, out]).toEqual([3, expect.stringContaining('1 domain not at the service')])
    await remove(www)
    expect((await repair()).code).toBe(3)
  })
})
