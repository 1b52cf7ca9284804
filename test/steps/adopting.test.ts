// @module-tag often
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkWrites } from '../state/checked-disk.ts'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { findConflicts } from '../../src/core/catalog/conflicts.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { validPayloads } from '../laws/values.ts'
import { fc, itOften, runs } from '../runs.ts'
import { fetchWrites, Place, startService } from './cli.ts'
import { enterPlace, place, setWorkspace } from './stage.ts'

const names = (count: number) => Array.from({ length: count }, (_, i) => `d${i}.example.com`)
const https = { cert_id: 1001, force_https: 301, http2: 'on' }
const timeout = { time: '60' }

setWorkspace()

const text = (path: string) => readFileSync(join(place.root, path), 'utf8')

/** Imports a fleet with manifests, and expects an empty plan and formatted files. */
async function adopt(fleet: object, ...args: string[]): Promise<string> {
  place.write('live.json', JSON.stringify(fleet))
  const ran = await place.cli('import', 'live.json', '--write-manifests', ...args)
  expect(ran.code, ran.err).toBe(0)
  const plan = await place.cli('plan', '--detailed-exitcode')
  expect(plan.code, plan.out + plan.err).toBe(0)
  expect((await place.cli('fmt', '--check')).out).toMatch(/^(not formatted {2}edgewise.yaml\n)?$/)
  return ran.err
}

describe('import --write-manifests', () => {
  it('moves items shared by most domains into a profile, in formatted files', async () => {
    const fleet = names(4).map(
      (name, i) => [name, { timeout, https, origin: { default_master: `192.0.2.${i}` } }] as const,
    )
    const output = await adopt(
      Object.fromEntries([...fleet, ['odd.example.com', { timeout: { time: '99' }, https }]]),
    )
    expect(output).toContain('Shared configuration is in profiles/imported.yaml.')
    expect(text('profiles/imported.yaml')).toBe(
      'profile: imported\nconfig:\n  https:\n    cert_id: 1001\n    http2: on\n' +
        '    force_https: 301\n  timeout:\n    time: "60"\n',
    )
    expect(text('domains/d2.example.com.yaml')).toBe(
      'domain: d2.example.com\nprofiles:\n  - imported\nconfig:\n  origin:\n' +
        '    default_master: 192.0.2.2\n    origin_mode: default\n',
    )
    expect(text('domains/odd.example.com.yaml')).not.toContain('imported')
  })

  it('changes no existing file, and avoids names in use', async () => {
    place
      .write('profiles/imported.yaml', 'profile: base\nconfig: {}\n')
      .write('profiles/base.yaml', 'profile: imported2-3\nconfig: {}\n')
    expect((await place.cli('fmt')).code).toBe(0)
    const before = [text('profiles/imported.yaml'), text('profiles/base.yaml')]
    await adopt(Object.fromEntries(names(3).map((name) => [name, { timeout, https }])))
    expect([text('profiles/imported.yaml'), text('profiles/base.yaml')]).toEqual(before)
    expect(text('profiles/imported3.yaml')).toMatch(/^profile: imported3\n/)
    place
      .write('domains/x.example.com.yaml', 'profile: unused\n')
      .write('live.json', JSON.stringify({ 'x.example.com': { timeout } }))
    const { code, err } = await place.cli('import', 'live.json', '--write-manifests')
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining('domains/x.example.com.yaml already exists') as string,
    })
    expect(text('domains/x.example.com.yaml')).toBe('profile: unused\n')
  })

  it('writes nothing outside the manifest globs, or into an invalid workspace', async () => {
    enterPlace(new Place('emulator', 'manifests: [sites/*.yaml]\n', { root: place.root }))
    place.write('live.json', JSON.stringify({ 'x.example.com': { timeout } }))
    expect(await place.cli('import', 'live.json', '--write-manifests')).toMatchObject({
      code: 1,
      err: expect.stringContaining('would not be loaded') as string,
    })
    enterPlace(new Place('emulator', 'profiles: [shared/*.yaml]\n', { root: place.root }))
    place.write('domains/bad.yaml', 'domain: bad.example.com\nconfig: {timeout: {time: 1}}\n')
    expect(await place.cli('import', 'live.json', '--write-manifests')).toMatchObject({ code: 1 })
    expect(readdirSync(join(place.root, 'domains'))).toEqual(['bad.yaml'])
    rmSync(join(place.root, 'domains/bad.yaml'))
    await adopt(Object.fromEntries(names(3).map((name) => [name, { timeout, https }])))
    expect(existsSync(join(place.root, 'profiles'))).toBe(false)
  })

  it('writes nothing if the new manifests are invalid, or recorded values differ', async () => {
    const importFails = async (config: object, message: string) => {
      place.write('live.json', JSON.stringify({ 'x.example.com': config }))
      const { code, err } = await place.cli('import', 'live.json', '--write-manifests')
      expect([code, err]).toEqual([1, expect.stringContaining(message)])
      expect(existsSync(join(place.root, 'domains/x.example.com.yaml'))).toBe(false)
    }
    await adopt({ 'x.example.com': { timeout } })
    rmSync(join(place.root, 'domains/x.example.com.yaml'))
    await importFails({ timeout: { time: '61' } }, 'x.example.com is recorded with another value')
    await importFails(
      { ip_white_list: { list: ['192.0.2.1'] }, ip_black_list: { list: ['192.0.2.2'] } },
      'the new manifests would have errors; nothing was written or recorded',
    )
  })

  it('writes no file if one can not be written; a repetition writes all', async () => {
    const draft = `domains/d1.example.com.yaml.test-${process.pid}.tmp`
    place.write(draft, '')
    const fleet = Object.fromEntries(
      names(3).map((name, i) => [name, { timeout: { time: 60 + i } }]),
    )
    place.write('live.json', JSON.stringify(fleet))
    const failed = await place.json('import', 'live.json', '--write-manifests')
    expect(failed).toMatchObject({
      message:
        `${join(place.root, 'domains/d1.example.com.yaml')} can't be written (EEXIST); ` +
        'nothing was written or recorded',
      hint: expect.stringContaining('run the same command again') as string,
    })
    expect(readdirSync(join(place.root, 'domains'))).toEqual([draft.split('/')[1]])
    rmSync(join(place.root, draft))
    await adopt(fleet)
  })

  it('says that the manifests were written if recording fails', async () => {
    place.write('live.json', JSON.stringify({ 'x.example.com': { timeout } }))
    place.disk = checkWrites((path) => {
      if (/\/domains\/[0-9a-f]{2}\//.test(path))
        throw new EdgewiseError('record-unreachable', `full: ${path}`)
    })
    const { code, err } = await place.cli('import', 'live.json', '--write-manifests')
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('the manifests were written, but the import was not recorded: '),
    ])
    expect(existsSync(join(place.root, 'domains/x.example.com.yaml'))).toBe(true)
  })

  it('keeps imported values over defaults', async () => {
    const defaults = {
      https: { cert_id: 7, ocsp: 'on' },
      timeout,
      connect_timeout: { origin_connect_timeout: 5 },
    }
    enterPlace(
      new Place('emulator', `defaults: ${JSON.stringify(defaults)}\n`, { root: place.root }),
    )
    await adopt({
      ...Object.fromEntries(names(3).map((name) => [name, { timeout, https }])),
      'x.example.com': { timeout: { time: '99' } },
    })
    expect(await place.json('show', 'x.example.com')).toMatchObject({
      items: { timeout: { candidates: [{ time: '99' }] } },
    })
    expect((await place.cli('validate')).out).not.toContain('warning')
  })

  it('escapes text like a reference, and replaces a known secret by its reference', async () => {
    enterPlace(new Place('emulator', 'secrets: {auth: {env: AUTH}}\n', { root: place.root }))
    place.env['AUTH'] = 'the-secret-of-the-origin'
    place.manifest('known.example.com', {
      add_back_source_head: [{ head_name: 'A', head_value: 'Bearer ${secret:auth}' }],
    })
    expect((await place.cli('fmt')).code).toBe(0)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    const head = (value: string) => [{ head_name: 'A', head_value: value }]
    await adopt({
      'x.example.com': { add_back_source_head: head('Bearer the-secret-of-the-origin') },
      'y.example.com': { add_back_source_head: head('$${domain} ${domain} ${secret:auth} ${') },
    })
    expect(text('domains/x.example.com.yaml')).toContain('Bearer ${secret:auth}')
    expect(await place.json('show', 'y.example.com')).toMatchObject({
      items: {
        add_back_source_head: { candidates: [head('$${domain} ${domain} ${secret:auth} ${')] },
      },
    })
  })

  it('reads answers of the service', async () => {
    const config = (i: number) => ({
      timeout,
      https: { ...https, force_https: '301' },
      origin_host: { host: `o${i % 2}.example.com` },
    })
    await adopt({
      code: 0,
      data: names(5).map((domain, i) => ({ domain, id: i, config: config(i), image_resize: 1 })),
    })
    expect(text('profiles/imported.yaml')).toContain('force_https: 301')
  })

  itOften('leads to an empty plan for any fleet', async () => {
    const item = fc.constantFrom(
      ...[...catalogue.keys()].filter((key) => (validPayloads.get(key) ?? []).length > 0),
    )
    const choice = fc.dictionary(item, fc.nat(2), { maxKeys: 6 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(choice, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(8), { minLength: 1, maxLength: 9 }),
        async (kinds, of) => {
          place.remove()
          enterPlace(new Place('emulator'))
          const fleet = of.map(
            (kind, i) =>
              [`d${i}.example.com`, buildConfig(kinds[kind % kinds.length] ?? {})] as const,
          )
          // An import without an item is refused.
          fc.pre(fleet.some(([, config]) => Object.keys(config).length > 0))
          await adopt(Object.fromEntries(fleet))
        },
      ),
      { numRuns: runs(3, 36) },
    )
  })
})

it('the guide leads from the emulator to a first change of the service', async () => {
  const guide = readFileSync(
    new URL('../../docs/guides/adopting-a-fleet.md', import.meta.url),
    'utf8',
  )
  const guards = /^guards: .*$/m.exec(guide)?.[0] ?? ''
  const opened = /^guards: .*"!shop\.example\.com".*$/m.exec(guide)?.[0] ?? ''
  const production = await startService()
  try {
    enterPlace(new Place('emulator', `${guards}\n`, { root: place.root }))
    const fleet = [...names(11), 'shop.example.com'].map((name) => [name, { timeout, https }])
    await adopt(Object.fromEntries(fleet) as object)
    enterPlace(new Place(production.url, `${guards}\n`, { root: place.root }))
    const before = await place.cli('plan')
    expect(before.err).toContain('State recorded for emulator is not used here.')
    expect(before.err).toContain('"edgewise import" records it first')
    expect((await place.cli('import', 'live.json')).code).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    place.manifest('shop.example.com', { timeout: { time: 61 }, https })
    const refused = await place.cli('apply', '--yes')
    expect(refused.err).toContain('protect: shop.example.com is protected')
    enterPlace(new Place(production.url, `${opened}\n`, { root: place.root }))
    const { code, err } = await place.cli('apply', '--yes', '--target', 'shop.example.com')
    expect([code, err]).toEqual([0, err])
    expect((await fetchWrites(production)).map(({ items }) => items)).toEqual([['timeout']])
  } finally {
    await production.close()
  }
})

/** Builds items with one known payload each, without exclusive items and actions. */
function buildConfig(choice: Record<string, number>): JsonObject {
  const keys = new Set(Object.keys(choice))
  const clashing = new Set(
    findConflicts(keys).flatMap(({ item, severity }) => (severity === 'error' ? [item] : [])),
  )
  return Object.fromEntries(
    Object.entries(choice).flatMap(([item, n]) => {
      const payloads = (validPayloads.get(item) ?? []).filter((payload) => isPlain(item, payload))
      const payload = payloads[n % Math.max(1, payloads.length)]
      return clashing.has(item) || payload === undefined ? [] : [[item, payload]]
    }),
  )
}

/** Live values are canonical, not empty, and not references. */
function isPlain(item: string, payload: unknown): boolean {
  const spec = getItemSpec(item)
  const value = spec.canonicalize(payload as JsonObject)
  return spec.reduce(undefined, value) !== undefined && !JSON.stringify(payload).includes('${')
}
