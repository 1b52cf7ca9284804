import { beforeEach, describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { itLong } from '../runs.ts'
import { fetchConfig, fetchWrites, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

setStage({ extended: true })

const www = 'www.example.com'
const fields = { http2: 'on', ocsp: 'on', ssl_protocol: ['TLSv1'] }
const https = { cert_id: 7, ...fields }
const headline = '1 value stays: https.ssl_protocol [TLSv1]; write it to change it'
const modernTls = `policy: modern-tls
level: soft
on: domain
deny: 'has(config.https.ssl_protocol) && "TLSv1" in config.https.ssl_protocol'
message: TLSv1 is obsolete
`

const plan = () => place.cli('plan', '--detailed-exitcode')
const countWrites = async () => (await fetchWrites(emulator)).length
const listStored = async () => await place.recorded(www)

function enableReadBack(): void {
  const file = place.read('edgewise.yaml')
  place.write('edgewise.yaml', file.replace('service:\n', 'service:\n  readBack: true\n'))
}

/** Applies TLSv1, then takes it out of the manifest. */
async function dropProtocol(config: JsonObject = { cert_id: 7 }): Promise<void> {
  const all = { ...config, ssl_protocol: ['TLSv1'] }
  await place.manifest(www, { https: all }).settle()
  place.manifest(www, { https: config })
}

it('the fields that the service keeps are these', () => {
  const keeping = [...catalogue.values()].flatMap((spec) =>
    spec.keptFields.map((field) => `${spec.key}.${field}`),
  )
  expect(keeping).toEqual(Object.keys(fields).map((field) => `https.${field}`))
})

describe('a field that an apply wrote and that manifests dropped', () => {
  it('is a difference of the plan, whatever its form', async () => {
    await dropProtocol()
    const text = await plan()
    expect([text.code, text.out]).toEqual([2, expect.stringContaining(headline)])
    expect(text.out).not.toContain('No changes')
    const stays = [{ domain: www, item: 'https', field: 'ssl_protocol', value: ['TLSv1'] }]
    const json = await place.json('plan', '--report', 'plan.md', '--report', 'plan.html')
    expect(json).toMatchObject({ changes: [], writes: [], warnings: [], stays })
    expect(listSchemaErrors('plan', json)).toEqual([])
    for (const file of ['plan.md', 'plan.html']) expect(place.read(file)).toContain(headline)
    expect((await place.cli('plan')).code).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode', '--item', 'origin')).code).not.toBe(2)
  })

  it('is a difference of drift', async () => {
    await dropProtocol()
    const { code, out } = await place.cli('drift', '--report', 'drift.md')
    expect([code, out.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(headline)])
    expect(place.read('drift.md')).toContain(headline)
    const json = await place.json('drift')
    expect(json).toMatchObject({ stays: [{ item: 'https', field: 'ssl_protocol' }] })
    expect(listSchemaErrors('drift', json)).toEqual([])
    await place.cli('apply', '--yes')
    expect((await place.cli('drift')).code).toBe(0)
    expect(await place.json('drift')).not.toHaveProperty('stays')
  })

  it('is given up by an apply, which sends nothing', async () => {
    await dropProtocol()
    const before = await countWrites()
    expect(await place.cli('apply')).toMatchObject({ code: 1, err: /cannot prompt/ })
    expect((await plan()).code).toBe(2)
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([0, expect.stringContaining(headline)])
    expect(await countWrites()).toBe(before)
    const after = await plan()
    expect([after.code, after.out]).toEqual([0, expect.stringContaining('No changes.')])
    expect((await listStored())['https']).toMatchObject({
      candidates: [{ ssl_protocol: ['TLSv1'] }],
    })
  })

  it('is given up by an apply that changes the item', async () => {
    await dropProtocol()
    place.manifest(www, { https: { cert_id: 8 } })
    const { code, out } = await plan()
    expect([code, out]).toEqual([2, expect.stringContaining(headline)])
    await place.settle()
    expect(await fetchConfig(emulator, www)).toMatchObject({
      https: { cert_id: 8, ssl_protocol: ['TLSv1'] },
    })
    // It is a fact from now on, also for later writes.
    await place.manifest(www, { https: { cert_id: 9 } }).settle()
  })

  it('is no difference once a manifest has it again', async () => {
    await dropProtocol()
    place.manifest(www, { https: { cert_id: 7, ssl_protocol: ['TLSv1'] } })
    expect((await plan()).code).toBe(0)
    await place.manifest(www, { https: { cert_id: 7, ssl_protocol: ['TLSv1.3'] } }).settle()
    place.manifest(www, { https: { cert_id: 7 } })
    expect((await plan()).out).toContain('https.ssl_protocol [TLSv1.3]')
  })

  itLong('is named once for all domains', async () => {
    const domains = ['a.example.com', 'b.example.com', 'c.example.com', 'd.example.com']
    for (const domain of domains) place.manifest(domain, { https })
    await place.settle()
    for (const domain of domains) place.manifest(domain, { https: { cert_id: 7 } })
    expect((await plan()).out.replace(/\s+/g, ' ')).toContain(
      '12 values stay: https.http2 [on], https.ocsp [on], https.ssl_protocol [TLSv1]; ' +
        'write them to change them (a.example.com, b.example.com, c.example.com and 1 more).',
    )
    // Only what is selected is given up.
    expect((await place.cli('apply', '--yes', '--target', 'a.*')).code).toBe(0)
    expect((await place.json('plan'))['stays']).toHaveLength(9)
  })

  itLong('is given up by its plan file only', async () => {
    await dropProtocol()
    await place.cli('plan', '--out', 'plan.json')
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect((await plan()).code).toBe(0)
    const stale = await place.cli('apply', 'plan.json')
    expect([stale.code, stale.err]).toEqual([1, expect.stringContaining('the plan file')])
    await dropProtocol({ cert_id: 9 })
    const file = JSON.parse(place.read('plan.json')) as JsonObject
    const { stays: _, ...without } = file
    place.write(
      'less.json',
      JSON.stringify({
        ...without,
        basis: { desired: {}, recorded: {}, target: [], commit: null },
      }),
    )
    expect((await place.cli('apply', 'less.json')).code).toBe(1)
    expect((await plan()).code).toBe(2)
  })

  itLong('stays a difference after an import that does not show it', async () => {
    await dropProtocol()
    enableReadBack()
    expect((await place.cli('import', '--live')).code).toBe(0)
    expect((await place.json('plan'))['stays']).toMatchObject([{ value: ['TLSv1'] }])
  })

  itLong('stays a difference while a write that would give it up is in-doubt', async () => {
    await dropProtocol()
    place.manifest(www, { https: { cert_id: 8 } })
    await setFaults(emulator, { kind: 'error', probability: 1 })
    await place.cli('apply', '--yes')
    await setFaults(emulator)
    expect(await place.json('plan')).toMatchObject({
      changes: [{ reason: 'in-doubt' }],
      stays: [{ field: 'ssl_protocol', value: ['TLSv1'] }],
    })
    await place.settle()
  })
})

describe('an imported field that no manifest has', () => {
  beforeEach(async () => {
    place.manifest(www, { https: { cert_id: 7 } })
    place.write('live.json', JSON.stringify({ [www]: { https } }))
    expect((await place.cli('import', 'live.json')).code).toBe(0)
  })

  it('is a fact, before and after a write', async () => {
    expect((await plan()).code).toBe(0)
    expect((await place.cli('drift')).code).toBe(0)
    await place.manifest(www, { https: { cert_id: 8 } }).settle()
  })

  it('stays one after a rollback', async () => {
    await place.manifest(www, { https: { cert_id: 8 } }).settle()
    place.manifest(www, { https: { cert_id: 7 } })
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect((await plan()).code).toBe(0)
  })

  it('becomes a difference once an apply has written it', async () => {
    await place.manifest(www, { https: { cert_id: 8, ocsp: 'off' } }).settle()
    place.manifest(www, { https: { cert_id: 8 } })
    expect((await place.json('plan'))['stays']).toMatchObject([{ field: 'ocsp', value: 'off' }])
  })
})

describe('what the service keeps', () => {
  const expectShown = async () => {
    const { out } = await place.cli('show', www, '--report', 'show.html', '--report', 'show.yaml')
    expect(out).toMatch(/ssl_protocol +TLSv1 +\[recorded, in no manifest\]/)
    expect(place.read('show.html')).toContain('TLSv1')
    // As a manifest, it is what manifests have.
    expect(place.read('show.yaml')).not.toContain('TLSv1')
  }

  it('is shown before it is given up, and after', async () => {
    enableReadBack()
    await dropProtocol()
    await expectShown()
    expect((await place.cli('show', www, '--live')).out).toContain('TLSv1')
    await place.cli('apply', '--yes')
    await expectShown()
    expect((await place.cli('show', www, '--live')).out).toContain('TLSv1')
  })

  itLong('is seen by policies on requests', async () => {
    await dropProtocol()
    place.write('tests/one.txt', `https://${www}/\n`)
    const policy = modernTls.replace('on: domain', 'on: request\nrequests: tests/one.txt')
    place.write('policies/tls.yaml', policy)
    expect((await plan()).err).toContain('TLSv1 is obsolete')
  })

  it('is judged by policies before it is given up, and after', async () => {
    await dropProtocol()
    place.write('policies/tls.yaml', modernTls)
    const obsolete = 'modern-tls (soft): TLSv1 is obsolete'
    const before = await plan()
    expect([before.code, before.err]).toEqual([2, expect.stringContaining(obsolete)])
    expect(before.err).toContain('apply will refuse this plan')
    const refused = await place.cli('apply', '--yes')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(obsolete)])
    expect((await plan()).code).toBe(2)
    const override = ['--override', 'modern-tls', '--reason', 'old devices']
    expect((await place.cli('apply', '--yes', ...override)).code).toBe(0)
    const after = await plan()
    expect([after.code, after.err]).toEqual([0, expect.stringContaining(obsolete)])
    // The fact counts where something else of the domain changes.
    place.manifest(www, { https: { cert_id: 7 }, timeout: { time: '60' } })
    expect((await place.cli('apply', '--yes')).err).toContain(obsolete)
  })
})

it('a workspace file that silences the note of before gets advice', async () => {
  place.manifest(www, { https: { cert_id: 7 } }).configure('notes: {kept: off}')
  const { code, err } = await place.cli('plan')
  expect([code, err]).toEqual([1, expect.stringContaining('"notes" was removed')])
})
