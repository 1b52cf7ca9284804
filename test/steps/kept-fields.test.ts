import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { fetchConfig } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

setStage()

const www = 'www.example.com'
const https = { cert_id: 7, http2: 'on', ocsp: 'on', ssl_protocol: ['TLSv1.3'] }
const fields = ['http2', 'ocsp', 'ssl_protocol']
const note = (field: string, where = www) =>
  `https.${field} is recorded, but in no manifest: the service leaves it unchanged (${where})`

describe('a field that the service leaves unchanged, and that a manifest had', () => {
  it('is no change, and the plan says so', async () => {
    await place.manifest(www, { https }).settle()
    place.manifest(www, { https: { cert_id: 7 } })
    for (let run = 0; run < 2; run++)
      expect(await place.json('plan')).toMatchObject({
        changes: [],
        warnings: fields.map((field) => note(field)),
      })
  })

  itLong('stays at the service when others change', async () => {
    await place.manifest(www, { https }).settle()
    place.manifest(www, { https: { cert_id: 8 } })
    const { changes, warnings } = await place.json('plan')
    expect(changes).toMatchObject([{ patch: [{ op: 'replace', path: '/cert_id', value: 8 }] }])
    expect(warnings).toEqual(fields.map((field) => note(field)))
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({ https: { ...https, cert_id: 8 } })
  })

  it('is named once for all domains, and can be silenced', async () => {
    const domains = ['a.example.com', 'b.example.com', 'c.example.com']
    for (const domain of domains) place.manifest(domain, { https: { cert_id: 7, ocsp: 'on' } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    for (const domain of domains) place.manifest(domain, { https: { cert_id: 7 } })
    const { warnings } = await place.json('plan')
    expect(warnings).toEqual([note('ocsp', '3 domains, e.g. a.example.com')])
    const file = parse(place.read('edgewise.yaml')) as object
    place.write('edgewise.yaml', stringify({ ...file, notes: { kept: 'off' } }))
    expect((await place.json('plan'))['warnings']).toEqual([])
  })
})
