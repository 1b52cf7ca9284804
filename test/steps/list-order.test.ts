import { describe, expect, it } from 'vitest'
import jsonPatch from 'fast-json-patch'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { orderSets } from '../../src/core/catalog/item-spec.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { arbitraryPayload } from '../laws/values.ts'
import { fc, itLong } from '../runs.ts'
import { fetchWrites, token } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

setStage({ extended: true })

const [www, api] = ['www.example.com', 'api.example.com']
const black = (...list: string[]): JsonObject => ({ ip_black_list: { list } })

/** Reads the configuration of a domain as another client does. */
async function readAsOther(domain: string): Promise<JsonObject> {
  const answer = await fetch(`${emulator.url}/v2/domain/config?token=${token}&domains=${domain}`)
  const { data } = (await answer.json()) as { data: { config: JsonObject }[] }
  return data[0]?.config ?? {}
}

describe('lists that are compared as sets', () => {
  it('are sent in the order of the manifest, and come back so', async () => {
    const config = {
      ...black('192.0.2.9', '192.0.2.1', '198.51.100.0/24'),
      referer: { type: 2, list: ['z.example.com', 'a.example.com'], allow_empty: true },
      add_response_head: {
        list: [
          { name: 'Z', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
      deny_url: { urls: ['/z', '/a'] },
    }
    place.manifest(www, config)
    await place.settle()
    const read = await readAsOther(www)
    expect(read['ip_black_list']).toEqual(config['ip_black_list' as keyof typeof config])
    expect(read['referer']).toMatchObject({ list: ['z.example.com', 'a.example.com'] })
    expect(read['add_response_head']).toMatchObject({ list: [{ name: 'Z' }, { name: 'A' }] })
    expect(read['deny_url']).toMatchObject(config.deny_url)
  })

  it('are no change when only their order differs', async () => {
    place.manifest(www, black('192.0.2.9', '192.0.2.1'))
    await place.settle()
    place.manifest(www, black('192.0.2.1', '192.0.2.9'))
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('are shown in the order of the manifest, with a patch of what differs', async () => {
    place.manifest(www, black('192.0.2.9', '192.0.2.5', '192.0.2.1'))
    await place.settle()
    place.manifest(www, black('192.0.2.7', '192.0.2.9', '192.0.2.5'))
    const { changes } = (await place.json('plan')) as { changes: JsonObject[] }
    const [{ before, after, patch } = {}] = changes
    expect(after).toMatchObject({ list: ['192.0.2.7', '192.0.2.9', '192.0.2.5'] })
    expect(before).toMatchObject({ list: ['192.0.2.9', '192.0.2.5', '192.0.2.1'] })
    const patched = jsonPatch.applyPatch(structuredClone(before), patch as never).newDocument
    expect(patched).toEqual(after)
  })

  it('of several domains share a write in the order of the first', async () => {
    place.manifest(www, black('192.0.2.1', '192.0.2.9'))
    place.manifest(api, black('192.0.2.9', '192.0.2.1'))
    const plan = await place.json('plan', '--out', 'plan.json')
    expect(plan['writes']).toMatchObject([
      { domains: [api, www], config: { ip_black_list: { list: ['192.0.2.9', '192.0.2.1'] } } },
    ])
    expect(plan['changes']).toMatchObject([
      { domain: api, after: { list: ['192.0.2.9', '192.0.2.1'] } },
      { domain: www, after: { list: ['192.0.2.1', '192.0.2.9'] } },
    ])
    const applied = await place.cli('apply', 'plan.json')
    expect(applied.code, applied.err).toBe(0)
    expect(await fetchWrites(emulator)).toHaveLength(1)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('come back from an import in the order that the service has', async () => {
    await fetch(`${emulator.url}/v2/domain/config`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, domains: www, config: black('192.0.2.9', '192.0.2.1') }),
    })
    const read = { code: 0, data: [{ domain: www, config: await readAsOther(www) }] }
    place.write('live.json', JSON.stringify(read))
    expect((await place.cli('import', 'live.json', '--write-manifests')).code).toBe(0)
    expect(place.read(`domains/${www}.yaml`)).toMatch(/192\.0\.2\.9[^]*192\.0\.2\.1/)
  })
})

describe('the order of sets', () => {
  itLong('changes no value of any item', () => {
    for (const [item, spec] of catalogue)
      fc.assert(
        fc.property(arbitraryPayload(item), arbitraryPayload(item), (payload, model) => {
          const [parsed, other] = [payload, model].map((each) => parseItem(spec, each, 'manifest'))
          if (parsed?.value == null || other?.value == null) return
          const ordered = orderSets(spec, parsed.value, [other.payload])
          expect(spec.canonicalize(ordered)).toEqual(parsed.value)
          expect(orderSets(spec, parsed.value, [ordered])).toEqual(ordered)
        }),
        { numRuns: 30 },
      )
  })
})
