// @module-tag often
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { fetchConfigs, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

/** Desired and live values by item: see the file. */
interface Steps {
  first: Json
  holds: Json
  second: Json
  after: Json
}
const written = parse(readFileSync(new URL('items.yaml', import.meta.url), 'utf8')) as JsonObject
const steps = Object.fromEntries(
  Object.entries(written).map(([item, own]) => {
    const values = own as unknown as Steps
    return [item, { ...values, after: values.after ?? values.second }]
  }),
)

/** Live value after `$unset`; undefined if the item is then empty. */
const unsetTo: Record<string, Json | undefined> = {
  https: { cert_id: 0, force_https: 0, http2: 'on', ssl_protocol: ['TLSv1.2', 'TLSv1.3'] },
  origin_host: { host: 'origin-host.example.com' },
  video_drag: { url: '.*', start: 's', end: 'e', mp4: 'off', flv: 'off' },
  cache_error_code: { code: ['404', '5XX'], bcache: 'off' },
  error_bcache: { code: ['404', '5xx'], bcache: 'off' },
  ...Object.fromEntries(
    [
      'add_response_head',
      'visit_deny_whitelist',
      'ip_black_list',
      'ip_white_list',
      'referer',
      'cache_rule',
      'cache_rule_list',
      'add_back_source_head',
      'speed_limit',
      'new_origin',
      'head_control',
      'error_page_rewrite',
      'source_url_rewrite',
      'combined_ban',
    ].map((item) => [item, undefined]),
  ),
}

setStage()

it('every item has steps', () => {
  expect(Object.keys(steps).toSorted()).toEqual([...catalogue.keys()].toSorted())
})

/** Each item has a domain of its own, so that all are tested in the same commands. */
const nameDomain = (item: string) => `${item.replaceAll('_', '-')}.example.com`

/** Applies a configuration for each item. */
async function settle(items: string[], choose: (item: string) => JsonObject): Promise<void> {
  for (const item of items) place.manifest(nameDomain(item), choose(item))
  await place.settle()
}

/** Expects the live configuration of each domain. */
async function expectLive(items: string[], choose: (item: string) => JsonObject): Promise<void> {
  const expected = items.map((item) => [nameDomain(item), choose(item)])
  const live = await fetchConfigs(emulator)
  expect(items.map((item) => [nameDomain(item), live[nameDomain(item)] ?? {}])).toEqual(expected)
}

it('every item is set, changed and released', async () => {
  const items = Object.keys(steps)
  await settle(items, (item) => ({ [item]: steps[item]?.first ?? null }))
  await expectLive(items, (item) => ({ [item]: steps[item]?.holds ?? null }))
  await settle(items, (item) => ({ [item]: steps[item]?.second ?? null }))
  await expectLive(items, (item) => ({ [item]: steps[item]?.after ?? null }))

  const before = (await fetchWrites(emulator)).length
  for (const item of items) place.manifest(nameDomain(item), {})
  expect((await place.json('plan'))['summary']).toMatchObject({ release: items.length, writes: 0 })
  await place.settle()
  expect(await fetchWrites(emulator)).toHaveLength(before)
  await expectLive(items, (item) => ({ [item]: steps[item]?.after ?? null }))
  expect((await place.json('state', 'list'))['domains']).toEqual([])
})

itLong('every item that can be unset is reset by $unset, and set again', async () => {
  const items = Object.keys(unsetTo)
  const expectUnset = () =>
    expectLive(items, (item) => {
      const value = unsetTo[item]
      return value === undefined ? {} : { [item]: value }
    })
  await settle(items, (item) => ({ [item]: steps[item]?.first ?? null }))
  await settle(items, (item) => ({ [item]: { $unset: true } }))
  await expectUnset()
  for (const item of items)
    expect({ items: await place.recorded(nameDomain(item)) }).toMatchObject({
      items: { [item]: { status: 'unset' } },
    })
  await settle(items, (item) => ({ [item]: steps[item]?.first ?? null }))
  await expectLive(items, (item) => ({ [item]: steps[item]?.holds ?? null }))
  await settle(items, (item) => ({ [item]: { $unset: true } }))
  await expectUnset()
  const before = (await fetchWrites(emulator)).length
  await settle(items, () => ({}))
  expect(await fetchWrites(emulator)).toHaveLength(before)
  expect((await place.json('state', 'list'))['domains']).toEqual([])
})

it('no other item can be unset: the errors name the reason', async () => {
  const items = Object.keys(steps).filter((item) => !(item in unsetTo))
  for (const item of items) place.manifest(nameDomain(item), { [item]: { $unset: true } })
  const { valid, diagnostics } = await place.json('validate')
  expect(valid).toBe(false)
  expect(diagnostics).toHaveLength(items.length)
  for (const item of items)
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        domain: nameDomain(item),
        item,
        summary: "This item can't be unset",
        detail: expect.stringContaining('no way to unset') as string,
      }),
    )
})
