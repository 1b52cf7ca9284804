import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
const api = 'api.example.com'
const timeout = { time: '60' }
setStage()

const file = (name: string, data: JsonObject) => place.write(name, JSON.stringify(data))

describe('import --write-manifests with secrets', () => {
  const signed = (key: string) => ({
    visit_timestamp: {
      pattern: '.*',
      time_format: 'timestamp',
      key,
      deadtime: 60,
      req_uri_type: 1,
    },
  })
  const shared = 'a-shared-signing-key'

  /** A workspace without secrets, in a file with comments. */
  const begin = (secrets: string) => {
    const text = place.read('edgewise.yaml').replace('allowLiteralSecrets: true\n', '')
    place.write('edgewise.yaml', text + secrets)
  }

  it('writes references and a stub of the secrets, and no value', async () => {
    begin('# the end\n')
    const before = place.read('edgewise.yaml')
    const fleet = Array.from({ length: 5 }, (_, i): [string, JsonObject] => [
      `d${i}.example.com`,
      signed(i < 4 ? shared : 'the-key-of-one-domain'),
    ])
    place.stdin = Readable.from([Buffer.from(JSON.stringify(Object.fromEntries(fleet)))])
    const { code, err } = await place.cli('import', '-', '--write-manifests')
    expect([code, err]).toEqual([0, expect.any(String)])
    const stub =
      'secrets:\n' +
      '  # Added by "edgewise import". Set each variable to the value that the service has, or\n' +
      '  # use {file: path} or {command: [program, argument]} instead of {env: NAME}.\n' +
      '  visit_timestamp_key: {env: VISIT_TIMESTAMP_KEY}\n' +
      '  visit_timestamp_key_d4_example_com: {env: VISIT_TIMESTAMP_KEY_D4_EXAMPLE_COM}\n'
    expect(place.read('edgewise.yaml')).toBe(
      before.replace('state:', `${stub}state:`).replace('# the end', '\n# the end'),
    )
    expect(err).toContain(
      '  visit_timestamp_key: visit_timestamp of 4 domains, e.g. d0.example.com, ' +
        'd1.example.com, d2.example.com\n' +
        '  visit_timestamp_key_d4_example_com: visit_timestamp of d4.example.com\n',
    )
    const all = readdirSync(join(place.root, 'domains')).map((name) =>
      place.read(`domains/${name}`),
    )
    expect(all.join('')).toContain('${secret:visit_timestamp_key_d4_example_com}')
    expect([...all, place.read('edgewise.yaml'), err].join('')).not.toMatch(/a-shared|of-one/)
    // Without the values the plan has conditional changes only.
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    place.env['VISIT_TIMESTAMP_KEY'] = shared
    place.env['VISIT_TIMESTAMP_KEY_D4_EXAMPLE_COM'] = 'the-key-of-one-domain'
    expect(await place.json('plan')).toMatchObject({ changes: [] })
    place.env['VISIT_TIMESTAMP_KEY'] = 'another-signing-key'
    expect(await place.json('plan')).toMatchObject({ summary: { change: 4 } })
  })

  it('refers to an available secret, and to names and variables that are free', async () => {
    begin(
      'secrets: {visit_timestamp_key: {env: SIGNING}, two: {env: VISIT_TIMESTAMP_KEY_2}, ' +
        'ours: {env: OURS}}\n',
    )
    place.env['OURS'] = 'our-own-available-key'
    place.env['VISIT_TIMESTAMP_KEY_3'] = 'set-to-something-else'
    file('live.json', { [www]: signed(shared), [api]: signed('our-own-available-key') })
    expect((await place.cli('import', 'live.json', '--write-manifests')).code).toBe(0)
    expect(place.read('edgewise.yaml')).toContain(
      'ours: {env: OURS}, visit_timestamp_key_4: {env: VISIT_TIMESTAMP_KEY_4}}\n',
    )
    expect(place.read(`domains/${api}.yaml`)).toContain('${secret:ours}')
  })

  it('uses a variable that is set to the value already', async () => {
    begin('# the end\n')
    place.env['VISIT_TIMESTAMP_KEY'] = shared
    file('live.json', { [www]: signed(shared) })
    const { code, err } = await place.cli('import', 'live.json', '--write-manifests')
    expect(code).toBe(0)
    expect(place.read('edgewise.yaml')).toContain(
      '  visit_timestamp_key: {env: VISIT_TIMESTAMP_KEY}\n',
    )
    expect(err).toContain(
      '  visit_timestamp_key: visit_timestamp of www.example.com (already set)\n',
    )
    expect(err).not.toContain(shared)
    expect(await place.json('plan')).toMatchObject({ changes: [], summary: { conditional: 0 } })
  })

  it('takes an empty variable for one that is not set', async () => {
    begin('# the end\n')
    place.env['VISIT_TIMESTAMP_KEY'] = ''
    file('live.json', { [www]: signed(shared) })
    expect((await place.cli('import', 'live.json', '--write-manifests')).code).toBe(0)
    expect(place.read('edgewise.yaml')).toContain('{env: VISIT_TIMESTAMP_KEY}\n')
  })

  it('leaves the workspace file as it is if a manifest can not be written', async () => {
    begin('')
    const before = place.read('edgewise.yaml')
    file('live.json', { [www]: { ...signed(shared), timeout } })
    place.write(`domains/${www}.yaml.test-${process.pid}.tmp`, '')
    expect(await place.json('import', 'live.json', '--write-manifests')).toMatchObject({
      message: expect.stringContaining('nothing was written or recorded') as string,
    })
    expect(place.read('edgewise.yaml')).toBe(before)
    expect(existsSync(join(place.root, `domains/${www}.yaml`))).toBe(false)
  })

  it('writes nothing if the workspace file has a form that can not be extended', async () => {
    begin('defaults: &none {}\nsecrets: *none\n')
    file('live.json', { [www]: signed(shared) })
    expect(await place.json('import', 'live.json', '--write-manifests')).toMatchObject({
      code: 'usage',
      message:
        "the secrets visit_timestamp_key can't be added to edgewise.yaml; nothing was written",
    })
    expect(existsSync(join(place.root, 'domains'))).toBe(false)
  })

  itLong('keeps a differing value of a fleet apart from a recorded one', async () => {
    begin('')
    file('live.json', { [www]: signed(shared), [api]: signed(shared) })
    expect((await place.cli('import', 'live.json', '--write-manifests')).code).toBe(0)
    expect((await place.cli('import', 'live.json')).code).toBe(0)
    file('live.json', { [www]: signed('another-signing-key') })
    expect(await place.json('import', 'live.json')).toMatchObject({
      message: expect.stringContaining('is recorded with another value') as string,
    })
    expect((await place.cli('drift')).code).toBe(0)
  })
})
