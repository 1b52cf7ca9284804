// @module-tag often
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { startAnsweringService, type Answer } from './answering-service.ts'
import { Place, token, type CommandResult } from './cli.ts'
import { commandLines } from './command-lines.ts'
import { itOften, long } from '../runs.ts'

const www = 'www.example.com'
const signing = 'signing-value-3f9"\\n/<&'
const origin = 'origin-value-77c-ü'
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

let place: Place
afterEach(() => place.remove())

/** Creates a workspace with secrets, on a service with a given answer. */
async function at(answer: Answer, more = ''): Promise<Place> {
  const { url } = await startAnsweringService(answer)
  place = new Place(url, `secrets: {signing: {env: SIGNING}, origin: {env: ORIGIN}}\n${more}`)
  const home = join(place.root, 'edgewise.yaml')
  place.write(
    'edgewise.yaml',
    readFileSync(home, 'utf8').replace('allowLiteralSecrets: true', 'allowLiteralSecrets: false'),
  )
  place.env = { EDGEWISE_TOKEN: token, SIGNING: signing, ORIGIN: origin }
  return place
}

/** Lists every encoding in which a value could leak. */
function spellings(value: string): string[] {
  const quoted = JSON.stringify(value).slice(1, -1)
  return [
    value,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    encodeURIComponent(value),
    Buffer.from(value).toString('base64'),
  ]
}

/** Expects no secret in the workspace and in the output. */
function expectHidden(ran: CommandResult[], values = [signing, origin, token]): void {
  const files = readdirSync(place.root, { recursive: true, encoding: 'utf8' })
    .map((path) => join(place.root, path))
    .filter((path) => statSync(path).isFile())
  const texts = [
    ...ran.flatMap(({ out, err }) => [out, err]),
    ...files.map((path) => readFileSync(path, 'utf8')),
  ]
  for (const spelling of values.flatMap(spellings))
    expect(texts.filter((text) => text.includes(spelling))).toEqual([])
}

const commands = commandLines.map(({ line }) => line)
/** Runs all commands; for the `i`th of several answers those that no other one of four runs. */
const all = async (i: number | null = null) => {
  const ran: CommandResult[] = []
  const chosen = long || i === null ? commands : commands.filter((_, j) => j % 4 === i % 4)
  for (const args of chosen) ran.push(await place.cli(...args))
  return ran
}
const echo = (body: JsonObject) => JSON.stringify(body)

describe('secrets and the token in answers of the service are neither printed nor stored', () => {
  const answers: [string, Answer][] = [
    ['it is content', (body) => [200, { code: 0, data: { config: body['config'] ?? null } }]],
    [
      'it returns secrets within other values',
      (body) => [200, { code: 0, data: { config: rewritten(body['config'] ?? null) } }],
    ],
    [
      'it refuses, and quotes the whole request',
      (body) => [400, { code: 400203, message: `bad request: ${echo(body)}` }],
    ],
    [
      'it refuses, and quotes each value',
      () => [400, { code: 400203, message: `bad ${signing} and ${origin} of ${token}` }],
    ],
    [
      'it refuses the token, and quotes it',
      () => [401, { code: 401001, message: `wrong token ${token}` }],
    ],
    [
      'it fails, and quotes the whole request',
      (body) => [503, { code: 500003, message: echo(body) }],
    ],
    [
      'it throttles, and quotes the whole request',
      (body) => [429, { code: 429001, message: echo(body) }],
    ],
    [
      'it answers nonsense that quotes the request',
      (body) => [200, { code: echo(body), message: echo(body) }],
    ],
    [
      'it returns the request as domains',
      (body) => [200, { code: 0, domains: [{ id: echo(body), domain: echo(body) }], data: {} }],
    ],
  ]
  for (const [i, [what, answer]] of answers.entries())
    itOften(what, async () => {
      await at(answer)
      place.manifest(www, config)
      expectHidden(await all(i))
    })

  it('allowed literal secrets are hidden as well', async () => {
    const literal = 'literal-value-5ab'
    await at((body) => [400, { code: 400203, message: echo(body) }])
    const home = join(place.root, 'edgewise.yaml')
    place.write(
      'edgewise.yaml',
      readFileSync(home, 'utf8').replace('allowLiteralSecrets: false', 'allowLiteralSecrets: true'),
    )
    place.manifest(www, { visit_timestamp: { ...config.visit_timestamp, key: literal } })
    const ran = await all()
    rmSync(join(place.root, `domains/${www}.yaml`))
    expectHidden(ran, [literal, token])
  })
})

/** Builds returned values with the secrets inside longer strings. */
function rewritten(value: Json): Json {
  if (typeof value === 'string')
    return value.includes(signing) || value.includes(origin) ? `${value}; v=1` : value
  if (Array.isArray(value)) return value.map(rewritten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, rewritten(field)]))
}

describe('a literal of any shape in a secret field is refused without printing it', () => {
  const literal = 'hunter2-literal'
  const rest = 'pattern: .*, time_format: timestamp, deadtime: 60, req_uri_type: 1'
  it.each<[string, string]>([
    ['text', `{${rest}, key: ${literal}}`],
    ['text over several lines', `\n    pattern: .*\n    key: >-\n      ${literal}\n`],
    ['a list', `{${rest}, key: [${literal}]}`],
    ['a list as JSON', `{"pattern":".*","key":["${literal}"]}`],
    ['a list over several lines', `\n    pattern: .*\n    key:\n      - ${literal}\n`],
    ['a mapping as JSON', `{"pattern":".*","key":{"a":"${literal}"}}`],
    ['a mapping over several lines', `\n    pattern: .*\n    key:\n      a: ${literal}\n`],
    [
      'text beside a reference',
      `{${rest}, key: "${literal} \${secret:signing}x \${secret:nobody}"}`,
    ],
    ['the whole item', literal],
    ['the whole item, as a list', `["${literal}"]`],
    ['invalid YAML', `{${rest}, key: ${literal}`],
  ])('%s', async (_what, item) => {
    await at(() => [500, {}])
    place.write(`domains/${www}.yaml`, `domain: ${www}\nconfig:\n  visit_timestamp: ${item}\n`)
    const ran: CommandResult[] = []
    for (const format of ['text', 'json', 'github', 'sarif'])
      ran.push(await place.cli('validate', '--format', format))
    ran.push(await place.cli('plan'), await place.cli('apply', '--yes', '--json'))
    expect(ran.map(({ code }) => code)).toEqual(ran.map(() => 1))
    rmSync(join(place.root, `domains/${www}.yaml`))
    expectHidden(ran, [literal])
  })

  it('a number as JSON', async () => {
    await at(() => [500, {}])
    place.write(
      `domains/${www}.yaml`,
      `{"domain":"${www}","config":{"visit_timestamp":{"pattern":".*","key":987654321}}}`,
    )
    const ran = [await place.cli('validate'), await place.cli('validate', '--json')]
    rmSync(join(place.root, `domains/${www}.yaml`))
    expectHidden(ran, ['987654321'])
  })
})

describe('the fingerprint form of secrets is refused in a manifest', () => {
  const forged = { $secret: 'scrypt:00112233445566778899aabbccddeeff' }
  it.each<[string, JsonObject]>([
    [
      'in a field that holds a secret',
      { visit_timestamp: { ...config.visit_timestamp, key: forged } },
    ],
    ['in a header value', { add_back_source_head: [{ head_name: 'X-A', head_value: forged }] }],
    ['in a list of strings', { deny_url: { urls: [forged] } }],
    ['as an item', { origin_host: forged }],
    ['as an item that is a string', { range_back_source: forged }],
    ['in a number field', { https: { cert_id: forged } }],
    [
      'as unresolved',
      { visit_timestamp: { ...config.visit_timestamp, key: { $secret: 'unresolved:signing' } } },
    ],
  ])('%s', async (_where, items) => {
    await at(() => [500, {}])
    expect((await place.manifest(www, items).cli('validate')).code).toBe(1)
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    place.write('profiles/p.yaml', JSON.stringify({ profile: 'p', config: items }))
    place.write(`domains/${www}.yaml`, JSON.stringify({ domain: www, profiles: ['p'], config: {} }))
    expect((await place.cli('validate')).code).toBe(1)
    place
      .write('profiles/p.yaml', 'profile: p\n')
      .write(`domains/${www}.yaml`, JSON.stringify({ domain: www, config: {} }))
    const home = readFileSync(join(place.root, 'edgewise.yaml'), 'utf8')
    place.write('edgewise.yaml', `${home}defaults: ${JSON.stringify({ config: items })}\n`)
    expect((await place.cli('validate')).code).toBe(1)
  })
})

describe('import', () => {
  const file = (data: Json) => place.write('live.json', JSON.stringify(data))
  const heldConfig = {
    visit_timestamp: { ...config.visit_timestamp, key: signing },
    add_back_source_head: [{ head_name: 'Authorization', head_value: `Bearer ${origin}` }],
  }

  it('stores no secret, and recognises available ones', async () => {
    await at(() => [500, {}])
    file({ [www]: heldConfig })
    const ran = [
      await place.manifest(www, config).cli('import', 'live.json'),
      await place.cli('plan', '--json'),
    ]
    expect(JSON.parse(ran[1]?.out ?? '')).toMatchObject({ changes: [] })
    place.write('live.json', '')
    expectHidden([...ran, await place.cli('show', www)])
  })

  it('records an unavailable secret as unknown, not as unchanged', async () => {
    await at(() => [500, {}])
    place.env = {}
    file({ [www]: { visit_timestamp: heldConfig.visit_timestamp } })
    const ran = [
      await place
        .manifest(www, { visit_timestamp: config.visit_timestamp })
        .cli('import', 'live.json'),
    ]
    expect(ran[0]?.code).toBe(0)
    ran.push(await place.cli('plan', '--json'))
    place.write('live.json', '')
    expectHidden(ran)
  })

  const drifts = async () => {
    const ran: CommandResult[] = []
    for (const more of [
      ['--verbose'],
      ['--json'],
      ['--report', 'drift.md'],
      ['--repair', '--yes', '--verbose'],
      ['--json'],
    ])
      ran.push(await place.cli('drift', '--observed', 'live.json', ...more))
    place.write('live.json', '')
    return ran
  }
  const applied = async () => {
    await at((body) => [200, { code: 0, data: { config: body['config'] ?? null } }])
    expect((await place.manifest(www, config).cli('apply', '--yes')).code).toBe(0)
  }
  const turned = (key: string, value: string) => ({
    visit_timestamp: { ...config.visit_timestamp, key },
    add_back_source_head: [{ head_name: 'Authorization', head_value: value }],
  })

  it('drift compares observed secrets, and prints none', async () => {
    await applied()
    file({ [www]: heldConfig })
    const ran = await drifts()
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    expectHidden(ran)
  })

  it('drift reports a changed secret without its value', async () => {
    await applied()
    file({ [www]: turned('turned-signing-key', 'Bearer turned-origin-token') })
    const ran = await drifts()
    expect(ran.map(({ code }) => code)).toEqual([2, 2, 2, 0, 2])
    expect(ran[0]?.out).toContain('~ add_back_source_head')
    expectHidden(ran, [signing, origin, token, 'turned-signing-key', 'turned-origin-token'])
  })

  it('drift prints no secret without the available values either', async () => {
    await applied()
    place.env = { EDGEWISE_TOKEN: token }
    for (const [key, value] of [
      [signing, `Bearer ${origin}`],
      ['turned-signing-key', 'Bearer turned-origin-token'],
    ] as const) {
      file({ [www]: { ...turned(key, value), referer: { type: 1, list: [key] } } })
      expectHidden(await drifts(), [
        signing,
        origin,
        token,
        'turned-signing-key',
        'turned-origin-token',
      ])
    }
  })

  it.each<[string, JsonObject]>([
    ['not valid', { visit_timestamp: { ...heldConfig.visit_timestamp, key: [signing, origin] } }],
    ['of a wrong type', { visit_timestamp: signing }],
    [
      'next to an invalid value',
      { visit_timestamp: { ...heldConfig.visit_timestamp, deadtime: -1 } },
    ],
    [
      'under an unknown field',
      { visit_timestamp: { ...heldConfig.visit_timestamp, kee: signing } },
    ],
  ])('does not print a secret that is %s', async (_what, items) => {
    await at(() => [500, {}])
    file({ [www]: items })
    const ran = await place.manifest(www, config).cli('import', 'live.json')
    expect(ran.code).toBe(1)
    place.write('live.json', '')
    expectHidden([ran])
  })

  it('--write-manifests writes no secret into a file', async () => {
    await at(() => [500, {}])
    place.env = {}
    file({ [www]: { ...heldConfig, timeout: { time: '60' } } })
    const ran = [await place.cli('import', 'live.json', '--write-manifests')]
    place.write('live.json', '')
    expect(ran[0]?.code).toBe(0)
    // Without available values only fields that always contain a secret are known to.
    expectHidden(ran, [signing])
  })
})
