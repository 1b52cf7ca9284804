// @module-tag often
// @module-tag nightly
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { refusals, refuseToken } from '../stories/refused-token.ts'
import { startAnsweringService, type Answer } from './answering-service.ts'
import { fetchConfig, Place, startService, token, fetchWrites } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

const www = 'www.example.com'

setStage()

const ajv = new Ajv2020({ allErrors: true, strict: false })
const validators = new Map<string, ValidateFunction>()

/** Checks JSON against one of the schemas of machine output. */
function holdsTo(name: string, value: Json): void {
  const validate = validators.get(name) ?? ajv.compile(readSchema(name))
  validators.set(name, validate)
  expect(validate(value) ? [] : validate.errors).toEqual([])
}

function readSchema(name: string): object {
  const file = new URL(`../../schemas/output/${name}.schema.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as object
}

describe('black list and white list', () => {
  it('replace each other in one write, and the other leaves the state', async () => {
    const first = await place
      .manifest(www, { ip_black_list: { list: ['203.0.113.9'] } })
      .cli('plan')
    expect(first.err).toContain('ip_black_list empties ip_white_list, which is not recorded')
    await place.settle()
    for (const [item, other] of [
      ['ip_white_list', 'ip_black_list'],
      ['ip_black_list', 'ip_white_list'],
    ] as const) {
      const before = (await fetchWrites(emulator)).length
      const plan = await place.manifest(www, { [item]: { list: ['192.0.2.1'] } }).json('plan')
      expect(plan['changes']).toMatchObject([
        { item: 'ip_black_list', action: item === 'ip_black_list' ? 'set' : 'unset' },
        { item: 'ip_white_list', action: item === 'ip_white_list' ? 'set' : 'unset' },
      ])
      expect(
        (plan['changes'] as JsonObject[]).find((change) => change['item'] === other),
      ).toMatchObject({
        reason: 'cleared',
        by: item,
        after: null,
      })
      await place.settle()
      expect(await fetchConfig(emulator, www)).toEqual({
        [item]: { list: ['192.0.2.1'], mode: 'cover' },
      })
      expect((await fetchWrites(emulator)).slice(before)).toMatchObject([
        { items: [item], status: 200 },
      ])
      expect(Object.keys(await place.recorded(www))).toEqual([item])
    }
  })

  it('are an error together', async () => {
    const { code, out } = await place
      .manifest(www, {
        ip_black_list: { list: ['192.0.2.1'] },
        ip_white_list: { list: ['192.0.2.2'] },
      })
      .cli('validate')
    expect([code, out]).toEqual([1, expect.stringContaining('exclude each other')])
  })
})

it('a kept field that the manifest drops is no change, and stays at the service', async () => {
  await place.manifest(www, { https: { cert_id: 1, http2: 'on', ocsp: 'off' } }).settle()
  const before = (await fetchWrites(emulator)).length
  const plan = await place.manifest(www, { https: { cert_id: 1 } }).json('plan')
  expect(plan).toMatchObject({ changes: [], writes: [] })
  await place.manifest(www, { https: { cert_id: 2 } }).settle()
  expect(await fetchConfig(emulator, www)).toEqual({
    https: { cert_id: 2, force_https: 0, http2: 'on', ocsp: 'off' },
  })
  expect(await fetchWrites(emulator)).toHaveLength(before + 1)
})

describe('many domains', () => {
  const domains = Array.from({ length: 25 }, (_, i) => `d${String(i).padStart(2, '0')}.example.com`)

  it('a profile changed under 25 domains is 3 writes of at most 10', async () => {
    place.write('profiles/base.yaml', 'profile: base\nconfig: {timeout: {time: 60}}\n')
    place.write(
      'domains/all.yaml',
      JSON.stringify({
        domains,
        profiles: ['base'],
        config: { connect_timeout: { origin_connect_timeout: 10 } },
      }),
    )
    await place.settle()
    const before = (await fetchWrites(emulator)).length
    place.write('profiles/base.yaml', 'profile: base\nconfig: {timeout: {time: 61}}\n')
    expect(await place.json('plan')).toMatchObject({
      summary: { change: 25, unchanged: 25, writes: 3, lowerBound: 3, seconds: 0 },
    })
    await place.settle()
    const sent = (await fetchWrites(emulator)).slice(before)
    expect(sent.map((call) => call.domains.length).toSorted((a, b) => a - b)).toEqual([5, 10, 10])
    expect(new Set(sent.flatMap((call) => call.items))).toEqual(new Set(['timeout']))
  })

  it.each([
    ['documented', 2, 'timeout is alone, origin and https share'],
    ['all', 1, 'all share'],
    ['[[timeout, https]]', 2, 'as configured'],
  ])('groups: %s makes %i writes', async (groups, count) => {
    enterPlace(new Place(emulator.url, `grouping: {groups: ${groups}}\n`))
    await place
      .manifest(www, {
        timeout: { time: 60 },
        https: { cert_id: 1 },
        origin: { default_master: '192.0.2.1' },
      })
      .settle()
    expect(await fetchWrites(emulator)).toHaveLength(count)
  })

  it('items of grouping.together share a write', async () => {
    enterPlace(
      new Place(emulator.url, 'grouping: {groups: documented, together: [[origin, new_origin]]}\n'),
    )
    await place
      .manifest(www, {
        origin: { default_master: '192.0.2.1' },
        new_origin: [{ origin: '192.0.2.1' }],
        https: { cert_id: 1 },
      })
      .settle()
    const sent = (await fetchWrites(emulator)).filter((call) => call.items.includes('origin'))
    expect(sent).toHaveLength(1)
    expect(sent[0]?.items).toContain('new_origin')
  })

  it('--target and --item limit plan and apply', async () => {
    for (const domain of domains.slice(0, 3))
      place.manifest(domain, { timeout: { time: 60 }, https: { cert_id: 1 } })
    const { code } = await place.cli(
      'apply',
      '--yes',
      '--target',
      'd0[01].example.com',
      '--item',
      'https',
    )
    expect(code).toBe(0)
    expect(await fetchConfig(emulator, domains[0] ?? '')).toEqual({
      https: { cert_id: 1, force_https: 0 },
    })
    expect(await fetchConfig(emulator, domains[2] ?? '')).toEqual({})
    expect((await place.cli('plan', '--target', 'nobody.*')).err).toContain(
      'no managed domain matches',
    )
    expect((await place.cli('plan', '--item', 'htps')).err).toContain('Did you mean "https"?')
  })
})

describe('state belongs to one service', () => {
  it('another id or address starts with empty state', async () => {
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    const other = await startService()
    const file = join(place.root, 'edgewise.yaml')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, `${text}id: staging\n`)
    // A domain belongs to one workspace: this one manages another.
    const own = place.read(`domains/${www}.yaml`)
    place.write(`domains/${www}.yaml`, own.replace(www, 'b.example.com'))
    expect((await place.cli('plan')).err).toContain('Nothing is recorded yet for "staging"')
    expect((await place.json('plan'))['summary']).toMatchObject({ set: 1 })
    place.write(`domains/${www}.yaml`, own)
    writeFileSync(file, text.replace(emulator.url, other.url))
    const plan = await place.cli('plan')
    expect(plan.err).toContain(`Nothing is recorded yet for "default" at ${other.url}`)
    expect(plan.err).toContain(emulator.url)
    await place.settle()
    writeFileSync(file, text)
    expect((await place.json('plan'))['changes']).toEqual([])
    await other.close()
  })

  it('damaged state is named, and nothing is written', async () => {
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    const state = join(place.root, '.edgewise/state')
    const file =
      readdirSync(state, { recursive: true, encoding: 'utf8' }).find((path) =>
        path.endsWith(`${www}.json`),
      ) ?? ''
    writeFileSync(join(state, file), '{"format": "edgewise.record/1", "dom')
    const before = (await fetchWrites(emulator)).length
    const { code, err } = await place.manifest(www, { timeout: { time: 61 } }).cli('apply', '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining(file)])
    expect(await fetchWrites(emulator)).toHaveLength(before)
  })
})

describe('answers of the service', () => {
  const good: Answer = (body) => [200, { code: 0, data: { config: body['config'] ?? null } }]
  const status = async (item = 'timeout', domain = www) => (await place.recorded(domain))?.[item]
  const at = ({ url }: { url: string }) => enterPlace(new Place(url))

  it.each(refusals)('%i ends the apply: exit 1, nothing is in-doubt', async (...refusal) => {
    await refuseToken((url) => at({ url }), refusal)
  })

  it('401 after an apply that left items in-doubt exits with 3', async () => {
    const sorry: Answer = () => [503, 'sorry']
    at(
      await startAnsweringService(sorry, sorry, sorry, () => [
        401,
        { code: 401001, message: 'wrong token' },
      ]),
    )
    place.manifest(www, { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    expect(await status()).toMatchObject({ status: 'in-doubt' })
  })

  it('names the address that was not reached, and the key of edgewise.yaml', async () => {
    at({ url: 'http://127.0.0.1:1' })
    const { code, out, err } = await place
      .manifest(www, { timeout: { time: 60 } })
      .cli('apply', '--yes')
    expect(code).toBe(1)
    expect(`${out}${err}`.replace(/\s+/g, ' ')).toContain(
      'http://127.0.0.1:1 was not reached: this machine cannot connect to that address and port; ' +
        'check service.url in edgewise.yaml',
    )
  })

  it('5xx leaves both values as candidates, and the next apply writes it again', async () => {
    at(
      await startAnsweringService(
        good,
        () => [503, 'sorry'],
        () => [503, 'sorry'],
        () => [503, 'sorry'],
        good,
      ),
    )
    await place.manifest(www, { timeout: { time: 60 } }).cli('apply', '--yes')
    expect((await place.manifest(www, { timeout: { time: 61 } }).cli('apply', '--yes')).code).toBe(
      3,
    )
    expect(await status()).toMatchObject({
      status: 'in-doubt',
      candidates: [{ time: '60' }, { time: '61' }],
    })
    const other = 'a.example.com'
    place.manifest(other, { timeout: { time: 60 } })
    const { err } = await place.cli('apply', '--yes', '--target', other)
    expect(err).not.toContain('In-doubt')
    // Even if the manifest returns to the old value.
    const again = await place.manifest(www, { timeout: { time: 60 } }).cli('apply', '--yes')
    expect(again.err).toContain(`In-doubt since an earlier apply: timeout of ${www}.`)
    expect(again.code).toBe(0)
    expect(await status()).toMatchObject({ status: 'confirmed', candidates: [{ time: '60' }] })
  })

  it('a refusal leaves state unchanged, and is reported with its line', async () => {
    at(await startAnsweringService(good, () => [400, { code: 400203, message: 'no such time' }]))
    await place.manifest(www, { timeout: { time: 60 } }).cli('apply', '--yes')
    const { code, err } = await place.manifest(www, { timeout: { time: 61 } }).cli('apply', '--yes')
    expect(code).toBe(3)
    expect(err).toContain('no such time')
    expect(err).toMatch(/domains\/www\.example\.com\.yaml:1:\d+ timeout of www\.example\.com/)
    expect(await status()).toMatchObject({ status: 'confirmed', candidates: [{ time: '60' }] })
  })

  it('a value that the service rewrites is no lasting difference', async () => {
    at(
      await startAnsweringService(() => [
        200,
        { code: 0, data: { config: { timeout: { time: '59' } } } },
      ]),
    )
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    expect(await status()).toMatchObject({ candidates: [{ time: '60' }], returned: { time: '59' } })
  })

  it('an unreachable service is exit 1, and nothing is in-doubt', async () => {
    const gone = await startAnsweringService(good)
    gone.close()
    at(gone)
    const { code } = await place.manifest(www, { timeout: { time: 60 } }).cli('apply', '--yes')
    expect(code).toBe(1)
    expect((await place.json('state', 'list'))['domains']).toEqual([])
  })
})

describe('secrets', () => {
  const values = { SIGNING: 'signing-value-3f9', ORIGIN: 'origin-value-77c' }
  const config = {
    visit_timestamp: {
      pattern: '.*',
      time_format: 'timestamp',
      key: '${secret:signing}',
      deadtime: 60,
      req_uri_type: 1,
    },
    add_back_source_head: [{ head_name: 'Authorization', head_value: 'Bearer ${secret:origin}' }],
  }
  beforeEach(() => {
    enterPlace(
      new Place(emulator.url, 'secrets: {signing: {env: SIGNING}, origin: {env: ORIGIN}}\n'),
    )
    place.write(
      'edgewise.yaml',
      readFileSync(join(place.root, 'edgewise.yaml'), 'utf8').replace(
        'allowLiteralSecrets: true',
        'allowLiteralSecrets: false',
      ),
    )
    place.env = { EDGEWISE_TOKEN: token, ...values }
  })

  it('are sent to the service and appear nowhere else', async () => {
    const seen: string[] = []
    for (const args of [
      ['validate'],
      ['plan'],
      ['plan', '--json', '--out', 'plan.json', '--report', 'plan.md'],
      ['apply', '--yes'],
      ['show', www],
    ]) {
      const ran = await place.manifest(www, config).cli(...args)
      expect(ran.code).toBe(0)
      seen.push(ran.out, ran.err)
    }
    expect(await fetchConfig(emulator, www)).toMatchObject({
      visit_timestamp: { key: values.SIGNING },
      add_back_source_head: [{ head_value: `Bearer ${values.ORIGIN}` }],
    })
    for (const path of readdirSync(place.root, { recursive: true, encoding: 'utf8' })) {
      if (/\.(json|md|yaml)$/.test(path)) seen.push(readFileSync(join(place.root, path), 'utf8'))
    }
    for (const secret of [...Object.values(values), token])
      expect(seen.filter((text) => text.includes(secret))).toEqual([])
    expect(seen.join('')).toContain('scrypt:')
  })

  it('without a value are conditional changes once recorded, and are never written', async () => {
    place.env = { EDGEWISE_TOKEN: token }
    const first = await place.manifest(www, config).cli('apply', '--yes')
    expect([first.code, first.err]).toEqual([1, expect.stringContaining('origin, signing')])
    place.env = { EDGEWISE_TOKEN: token, ...values }
    await place.settle()
    place.env = {}
    const reasons = [{ reason: 'secret-unknown' }, { reason: 'secret-unknown' }]
    expect((await place.json('plan'))['changes']).toMatchObject(reasons)
    expect((await place.cli('drift')).code).toBe(0)
    place.env = { ...values, SIGNING: 'another' }
    const changed = await place.cli('plan')
    expect(changed.out).toMatch(/key {2}\(secret [0-9a-f]{8}\) → \(secret [0-9a-f]{8}\)/)
    expect(changed.out).not.toContain('another')
  })

  it('as literals or fingerprints are refused without printing them', async () => {
    const literal = await place
      .manifest(www, {
        ...config,
        visit_timestamp: { ...config.visit_timestamp, key: 'hunter2-literal' },
      })
      .cli('validate')
    expect(literal.code).toBe(1)
    expect(literal.out).not.toContain('hunter2')
    const forged = await place
      .manifest(www, {
        origin_host: { host: { $secret: 'scrypt:00112233445566778899aabbccddeeff' } },
      })
      .cli('validate')
    expect([forged.code, forged.out.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('the form in which plans show secrets'),
    ])
  })
})

describe('import of a queried configuration', () => {
  const rule = { type: 'ext', pattern: 'jpg', begin_time: '08:00', end_time: '18:00' }
  const live = (speed: number, ...others: Json[]) =>
    JSON.stringify({
      code: 0,
      data: [
        {
          domain: www,
          config: {
            speed_limit: [{ ...rule, speed, priority: 1 }],
            https: { cert_id: '1', http2: '', force_https: '0' },
          },
        },
        ...others,
      ],
    })

  it('records the desired speed that comes back rounded up, and plans no change', async () => {
    place.manifest(www, { speed_limit: [{ ...rule, speed: '100' }] })
    place.write('live.json', live(104, { domain: 'b.example.com', config: [] }))
    expect(await place.json('import', 'live.json')).toMatchObject({ domains: 1, items: 1 })
    expect(await place.json('plan')).toMatchObject({ changes: [] })
    place.manifest(www, { speed_limit: [{ ...rule, speed: '97' }] })
    expect(await place.json('plan')).toMatchObject({ changes: [] })
    expect((await place.cli('import', 'live.json')).code).toBe(0)
  })

  it('does not record a field that is never shown', async () => {
    place.manifest(www, { https: { cert_id: 1, ssl_protocol: ['TLSv1.3'] } })
    place.write('live.json', live(104))
    expect((await place.cli('import', 'live.json')).code).toBe(0)
    expect(await place.json('plan')).toMatchObject({
      changes: [{ item: 'https', patch: [{ op: 'add', path: '/ssl_protocol' }] }],
    })
  })
})

describe('import', () => {
  const file = (data: Json) => place.write('live.json', JSON.stringify(data))

  it.each([
    ['by domain', { [www]: { timeout: { time: 60 }, image_resize: 1 } }, []],
    [
      'an answer with its domains',
      {
        code: 0,
        data: { config: { timeout: { time: '60' } }, domains: [{ id: '1', domain: www }] },
      },
      [],
    ],
    [
      'an answer with domains at the top',
      {
        code: 0,
        domains: [{ id: '1', domain: www }],
        data: { config: { timeout: { time: '60' } } },
      },
      [],
    ],
    [
      'an answer without domains',
      { code: 0, data: { config: { timeout: { time: '60' } } } },
      ['--domain', www],
    ],
    [
      'a list',
      {
        code: 0,
        data: [{ domain: www, config: { timeout: { time: '60' }, https: { cert_id: 1 } } }],
      },
      [],
    ],
  ] as [string, Json, string[]][])('accepts %s', async (_name, data, more) => {
    place.manifest(www, { timeout: { time: 60 } })
    file(data)
    const imported = await place.json('import', 'live.json', ...more)
    holdsTo('import', imported)
    expect(imported).toMatchObject({ domains: 1, items: 1 })
    expect((await place.json('plan'))['changes']).toEqual([])
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('refuses actions, and a differing state without --replace', async () => {
    await place.manifest(www, { ip_black_list: { list: ['192.0.2.1'] } }).settle()
    file({ [www]: { ip_black_list: { list: ['192.0.2.9'], mode: 'append' } } })
    expect((await place.cli('import', 'live.json')).err).toContain('is an action')
    file({ [www]: { ip_black_list: { list: ['192.0.2.9'] } } })
    expect((await place.cli('import', 'live.json')).err).toContain('--replace')
    expect((await place.cli('import', 'live.json', '--replace')).code).toBe(0)
    expect((await place.json('plan'))['summary']).toMatchObject({ change: 1 })
  })

  it('--write-manifests writes missing manifests, and the next plan is empty', async () => {
    file({
      [www]: {
        timeout: { time: 60 },
        https: { cert_id: '1', force_https: '301' },
        image_resize: 1,
      },
    })
    expect((await place.cli('import', 'live.json', '--write-manifests')).code).toBe(0)
    expect((await place.json('plan'))['changes']).toEqual([])
    expect((await place.cli('validate')).code).toBe(0)
  })
})

describe('machine output and exit codes', () => {
  it('match their schemas', async () => {
    place.groupAsDocumented()
    place.manifest(www, { timeout: { time: 60 }, https: { cert_id: 1 } })
    holdsTo('diagnostics', await place.json('validate'))
    holdsTo('plan', await place.json('plan'))
    const lines = (await place.cli('apply', '--yes', '--json')).out.trim().split('\n')
    for (const line of lines) holdsTo('apply-event', JSON.parse(line) as Json)
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      type: 'apply.finished',
      confirmed: 2,
      refused: 0,
    })
    holdsTo('state-list', await place.json('state', 'list'))
    holdsTo('show', await place.json('show', www))
    holdsTo('rollouts', await place.json('rollout', 'list'))
    holdsTo('plan', await place.manifest(www, { timeout: { time: 61 } }).json('plan'))
    place.manifest(www, { timeout: { time: 4 } })
    holdsTo('diagnostics', await place.json('validate'))
    for (const args of [
      ['plan'],
      ['apply', '--yes'],
      ['rollout', 'approve', 'nothing'],
      ['show', 'nobody.example.com'],
      ['state', 'move', 'nobody.example.com', '--to', 'other', '--yes'],
      ['plan', '--nonsense'],
      ['nonsense'],
    ]) {
      const error = await place.json(...args)
      holdsTo('error', error)
    }
  })

  it('are as documented', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    expect((await place.cli('plan')).code).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(2)
    expect((await place.cli('apply')).code).toBe(1)
    expect(await fetchWrites(emulator)).toEqual([])
    place.ask = () => Promise.resolve(false)
    expect((await place.cli('apply')).code).toBe(1)
    place.ask = () => Promise.resolve(true)
    expect((await place.cli('apply')).code).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    expect((await place.cli('--help')).code).toBe(0)
    expect((await place.cli('nonsense')).code).toBe(1)
    expect((await place.cli('validate', '-C', '/')).code).toBe(1)
    place.env = {}
    expect(
      (await place.manifest(www, { timeout: { time: 61 } }).cli('apply', '--yes')).err,
    ).toContain('no token')
  })

  it('only results go to stdout', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    const plan = await place.cli('plan')
    expect(plan.out).toContain('Plan: 1 to set')
    expect(plan.out).not.toContain('note:')
    expect(plan.err).toContain('note:')
    expect((await place.cli('plan', '--quiet')).err).toBe('')
  })
})

describe('the examples', () => {
  const env = {
    STOREFRONT_SIGNING_KEY: 'a-key',
    STOREFRONT_ORIGIN_TOKEN: 'a-token',
    SIGNING_KEY: 'x',
    ORIGIN_TOKEN: 'y',
  }

  it.each(['storefront', 'every-item'])(
    '%s validates, applies, and then has no changes',
    async (name) => {
      const source = fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))
      rmSync(place.root, { recursive: true })
      mkdirSync(place.root)
      cpSync(source, place.root, { recursive: true, filter: (path) => !path.includes('.edgewise') })
      const file = join(place.root, 'edgewise.yaml')
      const text = readFileSync(file, 'utf8')
      const names = [...text.matchAll(/env: (\w+)/g)].map((match) => match[1] ?? '')
      place.env = {
        ...env,
        ...Object.fromEntries(names.map((each) => [each, `value-of-${each}`])),
        EDGEWISE_TOKEN: token,
      }
      const service = `url: ${emulator.url}\n  token: \${env:EDGEWISE_TOKEN}`
      const workspace = text.replace('url: emulator', service)
      writeFileSync(file, `${workspace}limits: {callsPerMinute: 10000}\n`)
      await place.settle()
      expect((await place.cli('plan')).out).toMatch(/No changes\.\n$/)
    },
  )
})
