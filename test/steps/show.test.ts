import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { Place, setFaults } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
setStage()

async function showJson(
  ...args: string[]
): Promise<JsonObject & { items: Record<string, JsonObject> }> {
  const output = await place.json('show', ...args)
  expect(listSchemaErrors('show', output)).toEqual([])
  return output as JsonObject & { items: Record<string, JsonObject> }
}

const find = ({ items }: { items: Record<string, JsonObject> }, item: string) => items[item] ?? {}

describe('show', () => {
  beforeEach(async () => {
    place.write('profiles/base.yaml', 'profile: base\nconfig:\n  https: {cert_id: 1}\n')
    place.write(
      'domains/www.yaml',
      `domain: ${www}\nprofiles: [base]\nconfig:\n  timeout: {time: 60}\n  https: {http2: on}\n`,
    )
    await place.settle()
  })

  itLong('names the file, the profile or the default that each field comes from', async () => {
    const shown = await showJson(www)
    expect(shown).toMatchObject({ domain: www, profiles: ['base'] })
    expect(shown['place']).toMatchObject({ file: 'domains/www.yaml', line: 1, column: 9 })
    const { sources, value } = find(shown, 'https')
    expect(sources).toMatchObject([
      { field: 'cert_id', place: { file: 'profiles/base.yaml', line: 3, column: 20 } },
      { field: 'http2', place: { file: 'domains/www.yaml', line: 5, column: 18 } },
      ...Object.keys(value as JsonObject)
        .slice(2)
        .map((field) => ({ field, place: null })),
    ])
    const { out } = await place.cli('show', www)
    expect(out).toContain('cert_id   1  [profiles/base.yaml:3]')
    expect(out).toContain('2 items: 2 as recorded (assumed), nothing pending.')
  })

  it('shows what is pending, with the last change that was confirmed', async () => {
    place.write(
      'domains/www.yaml',
      `domain: ${www}\nprofiles: [base]\nconfig:\n  timeout: {time: 61}\n`,
    )
    const shown = await showJson(www)
    const timeout = find(shown, 'timeout')
    expect(timeout).toMatchObject({
      condition: 'assumed',
      pending: [{ op: 'replace', path: '/time' }],
      origin: 'write',
    })
    expect((await place.cli('show', www)).out).toContain('~ time  60 → 61')
  })

  it('shows an item that no manifest has any more', async () => {
    place.write('domains/www.yaml', `domain: ${www}\nconfig:\n  timeout: {time: 60}\n`)
    expect(find(await showJson(www), 'https')).toMatchObject({ value: null, sources: [] })
    expect((await place.cli('show', www)).out).toContain('no manifest has it')
  })

  it('compares with an observation', async () => {
    const seen = { [www]: { timeout: { time: '5' }, https: { cert_id: 1, http2: 'on' } } }
    place.write('live.json', JSON.stringify(seen))
    const shown = await showJson(www, '--observed', 'live.json')
    expect(find(shown, 'timeout')).toMatchObject({
      condition: 'differs',
      live: [{ op: 'replace', path: '/time' }],
    })
    expect(find(shown, 'https')).toMatchObject({ condition: 'verified' })
    const { out } = await place.cli('show', www, '--observed', 'live.json')
    expect(out).toMatch(/https +as recorded,/)
    // It is at the service as recorded, and not as the manifest has it: that waits.
    const text = readFileSync(join(place.root, 'domains/www.yaml'), 'utf8')
    place.write('domains/www.yaml', text.replace('http2: on', 'http2: off'))
    const pending = await place.cli('show', www, '--observed', 'live.json')
    expect(pending.out).toMatch(/https +pending,/)
  })

  itLong('shows the values that an item in-doubt may have', async () => {
    place.write(
      'domains/www.yaml',
      `domain: ${www}\nprofiles: [base]\nconfig:\n  timeout: {time: 70}\n`,
    )
    await setFaults(emulator, { kind: 'error', probability: 1 })
    expect((await place.cli('apply', '--yes', '--item', 'timeout')).code).toBe(3)
    await setFaults(emulator)
    const shown = await showJson(www)
    expect(find(shown, 'timeout')).toMatchObject({ condition: 'in-doubt' })
    expect(find(shown, 'timeout')['candidates']).toHaveLength(2)
    const { out } = await place.cli('show', www)
    expect(out).toMatch(/ the service has time 60\n +or time 70\n/)
  })

  it('never applied is not assumed', async () => {
    place.manifest('new.example.com', { timeout: { time: 5 } })
    expect(find(await showJson('new.example.com'), 'timeout')).toMatchObject({
      condition: 'never-applied',
      at: null,
      apply: null,
      status: null,
      candidates: [],
    })
  })

  it('writes the merged configuration as a manifest', async () => {
    enterPlace(new Place(emulator.url, 'secrets: {signing: {env: SIGNING}}\n'))
    place.write('profiles/base.yaml', 'profile: base\nconfig:\n  https: {cert_id: 1}\n')
    place.write(
      'domains/www.yaml',
      `domain: ${www}\nprofiles: [base]\nconfig:\n` +
        '  visit_timestamp: {pattern: .*, time_format: timestamp, key: "${secret:signing}", ' +
        'deadtime: 1800, req_uri_type: 1}\n',
    )
    await place.cli(
      'show',
      www,
      '--report',
      'www.yaml',
      '--report',
      'www.json',
      '--report',
      'www.md',
    )
    const text = readFileSync(join(place.root, 'www.yaml'), 'utf8')
    const manifest = parse(text) as { domain: string; config: Record<string, Json> }
    expect(manifest).toMatchObject({
      domain: www,
      config: { https: { cert_id: 1 }, visit_timestamp: { key: '${secret:signing}' } },
    })
    place.write('domains/www.yaml', text)
    expect((await place.cli('validate')).code).toBe(0)
    expect(readFileSync(join(place.root, 'www.md'), 'utf8')).toContain('visit_timestamp')
    expect(
      listSchemaErrors('show', JSON.parse(readFileSync(join(place.root, 'www.json'), 'utf8'))),
    ).toEqual([])
  })

  it('refuses a domain that nobody has, and names the nearest', async () => {
    const { code, err } = await place.cli('show', 'wwww.example.com')
    expect(code).toBe(1)
    expect(err).toContain('Did you mean "www.example.com"?')
  })

  it('shows state although a manifest has an error, and says what that hides', async () => {
    place.write('domains/www.yaml', `domain: ${www}\nconfig:\n  timeout: {time: no}\n`)
    const { code, out, err } = await place.cli('show', www)
    expect(code).toBe(0)
    expect(out).toContain('recorded; the manifests have errors')
    expect(out).toContain('2 items: 2 as recorded (assumed).')
    expect(out).not.toContain('no manifest has it')
    expect(err).toContain('The manifests have 1 error: only what is recorded is shown.')
    expect(find(await showJson(www), 'https')).toMatchObject({ status: 'confirmed', value: null })
    place.manifest('new.example.com', { timeout: { time: 5 } })
    const unknown = await place.cli('show', 'new.example.com')
    expect([unknown.code, unknown.err]).toEqual([
      1,
      expect.stringContaining('no state of "new.example.com" is recorded; the manifests have'),
    ])
  })

  it('shows what was recorded then, for a domain that no manifest has', async () => {
    place.write('domains/www.yaml', 'domain: a.example.com\nconfig: {timeout: {time: 5}}\n')
    const { applies } = await place.json('state', 'history')
    const [{ id = '' } = {}] = applies as { id?: string }[]
    const shown = await showJson(www, '--at', id, '--report', 'then.html')
    expect(shown['recordedOnly']).toContain(`recorded at the end of apply ${id}, `)
    expect(find(shown, 'timeout')).toMatchObject({ value: null, candidates: [{ time: '60' }] })
    expect(place.read('then.html')).toContain(`recorded at the end of apply ${id}, `)
    expect(await place.cli('show', www, '--at', id, '--report', 'then.yaml')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('a .yaml report has what manifests ask for') as string,
    })
    expect((await place.cli('show', www, '--at', id, '--live')).err).toContain(
      "option '--at <apply>' cannot be used with option '--live'",
    )
    expect((await place.cli('state', 'show', www)).err).toContain('run "edgewise show DOMAIN"')
    expect((await place.cli('check', '--outliers')).err).toContain('"edgewise list --outliers"')
  })
})
