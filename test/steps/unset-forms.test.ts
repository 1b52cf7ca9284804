import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { isUnset, unsetState, type ItemKey } from '../../src/core/model/item.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { readObserved } from '../../src/operations/tracing/candidates.ts'
import { itLong } from '../runs.ts'
import { fetchWrites, token } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

const www = 'www.example.com'
const timeout = { time: '60' }
const addresses = { list: ['192.0.2.1'], mode: 'cover' }
setStage({ extended: true })

/** Each item that the service unsets by an empty list, and that list. */
const emptied = [...catalogue.values()].flatMap(({ key, unset }): [ItemKey, Json][] => {
  if (unset === undefined) return []
  // Without an entry to switch off there is no write; the service then has an empty list.
  const form = unset(unsetState, www) ?? []
  const parts = isObject(form) ? Object.values(form) : [form]
  return parts.some((part) => Array.isArray(part) && part.length === 0) ? [[key, form]] : []
})

/** Expects that manifests, state and service do not differ, and that nothing was sent for it. */
async function expectSettled(writes: number): Promise<void> {
  const plan = await place.cli('plan', '--detailed-exitcode')
  expect([plan.code, plan.out]).toEqual([0, expect.stringContaining('No changes.')])
  expect((await place.cli('drift')).code).toBe(0)
  expect(await fetchWrites(emulator)).toHaveLength(writes)
}

const importFile = (config: JsonObject, ...options: string[]) => {
  place.write('live.json', JSON.stringify({ [www]: config }))
  return place.cli('import', 'live.json', ...options)
}

it('knows all of these lists', () => {
  expect(emptied.length).toBeGreaterThanOrEqual(13)
  for (const [item, form] of emptied) expect([item, isUnset(form)]).toEqual([item, true])
})

describe.each(emptied)('an empty list of %s', (item, form) => {
  it('is imported as not set', async () => {
    place.manifest(www, { timeout, [item]: { $unset: true } })
    expect(await importFile({ timeout, [item]: form })).toMatchObject({
      code: 0,
      out: 'Recorded 2 items of 1 domain.\n',
    })
    await expectSettled(0)
    expect(await place.recorded(www)).toMatchObject({
      [item]: { status: 'unset', candidates: [] },
    })
    // The same again is no other value.
    expect((await importFile({ timeout, [item]: form })).code).toBe(0)
  })

  it('is no value of a trace', () => {
    for (const bare of [form, [], null])
      expect(readObserved(new Map([[item, bare]]), {}).get(item)).toEqual([null])
  })

  itLong('needs no manifest, and gets none', async () => {
    place.manifest(www, { timeout })
    expect((await importFile({ timeout, [item]: form })).code).toBe(0)
    await expectSettled(0)
    place.write('other.json', JSON.stringify({ 'a.example.com': { timeout, [item]: form } }))
    expect(await place.cli('import', 'other.json', '--write-manifests')).toMatchObject({ code: 0 })
    expect(place.read('domains/a.example.com.yaml')).not.toContain(item)
  })

  itLong('is imported with --live as not set', async () => {
    const file = place.read('edgewise.yaml')
    place.write('edgewise.yaml', file.replace('service:\n', 'service:\n  readBack: true\n'))
    const config = { timeout, ...(item === 'visit_deny_whitelist' ? {} : { [item]: form }) }
    const { status } = await fetch(`${emulator.url}/v2/domain/config`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, domains: www, config }),
    })
    expect(status).toBe(200)
    place.manifest(www, { timeout, [item]: { $unset: true } })
    expect((await place.cli('import', '--live')).code).toBe(0)
    await expectSettled(1)
    expect((await place.cli('drift', '--live')).code).toBe(0)
  })
})

describe('an export with both lists of addresses, one of them empty', () => {
  const both = { ip_black_list: addresses, ip_white_list: { list: [] } }

  it('is adopted', async () => {
    expect(await importFile(both, '--write-manifests')).toMatchObject({ code: 0 })
    expect(place.read(`domains/${www}.yaml`)).not.toContain('ip_white_list')
    await expectSettled(0)
  })

  it('is recorded for a manifest with the other one', async () => {
    place.manifest(www, { ip_black_list: addresses })
    expect((await importFile(both)).out).toBe('Recorded 1 item of 1 domain.\n')
    await expectSettled(0)
  })
})

describe('an imported item that is not set', () => {
  it('is another value than a recorded one', async () => {
    await place.manifest(www, { ip_white_list: addresses }).settle()
    const other = { ip_white_list: { list: [] } }
    const { code, err } = await importFile(other)
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('ip_white_list of www.example.com is recorded with another value'),
    ])
    expect((await importFile(other, '--replace')).code).toBe(0)
    expect((await place.json('plan'))['changes']).toMatchObject([{ action: 'set', before: null }])
  })

  it('contradicts another file with a value', async () => {
    place.manifest(www, { cache_rule: [{ type: 1, pattern: 'jpg', time: 60 }] })
    place.write('a.json', JSON.stringify({ [www]: { cache_rule: [] } }))
    place.write(
      'b.json',
      JSON.stringify({ [www]: { cache_rule: [{ type: 1, pattern: 'jpg', time: 60 }] } }),
    )
    expect(await place.json('import', 'a.json', 'b.json')).toMatchObject({
      diagnostics: [{ summary: 'Values contradict each other' }],
    })
    place.write('b.json', JSON.stringify({ [www]: { cache_rule: null } }))
    expect((await place.cli('import', 'a.json', 'b.json')).code).toBe(0)
  })
})

it('state that has an empty list as a value means the same', async () => {
  place.manifest(www, { timeout, cache_rule: [] })
  expect((await importFile({ timeout, cache_rule: [] })).code).toBe(0)
  const state = '.edgewise/state'
  const files = readdirSync(join(place.root, state), { recursive: true, encoding: 'utf8' })
  const path = join(state, files.find((file) => /domains\/.*json$/.test(file)) ?? '')
  const unset = '"candidates":[],"origin":"import","status":"unset"'
  expect(place.read(path)).toContain(unset)
  const value = '"candidates":[[]],"origin":"import","status":"confirmed"'
  place.write(path, place.read(path).replace(unset, value))
  await expectSettled(0)
})
