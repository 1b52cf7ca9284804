import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { validPayloads } from '../laws/values.ts'
import { everyNth, itOften } from '../runs.ts'
import { Place, type CommandResult } from './cli.ts'

const names = ['preview', 'url_signing_key', 'origin-secret-key', 'origin-access-key']
const secret = '${secret:preview}'
const inside = `a${secret}b`

let place: Place
beforeEach(() => void (place = new Place('emulator')))
afterEach(() => place.remove())

/** Copies a value with another text in place of one; the place is without indexes. */
function listVariants(value: Json, at = ''): { at: string; value: Json }[] {
  if (typeof value === 'string')
    return [secret, inside, [secret, value]].map((text, i) => ({ at: `${at} ${i}`, value: text }))
  if (typeof value !== 'object' || value === null) return []
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([key, part]) =>
    listVariants(part, isList ? at : `${at}/${key}`).map((variant) => ({
      at: variant.at,
      value: isList
        ? value.map((each, i) => (String(i) === key ? variant.value : each))
        : { ...value, [key]: variant.value },
    })),
  )
}

/** Lists the places of texts in a schema, without indexes. */
function listTexts({ type, properties, items, oneOf }: ItemSchema, at = ''): string[] {
  const parts = [...(oneOf ?? []), ...(items === undefined ? [] : [items])]
  return [
    ...(type === 'string' ? [at] : []),
    ...Object.entries(properties ?? {}).flatMap(([key, part]) => listTexts(part, `${at}/${key}`)),
    ...parts.flatMap((part) => listTexts(part, at)),
  ]
}

/** One domain for each text of each item in which a secret stands. */
const variants = [...catalogue].flatMap(([item, { schema }]) => {
  const all = (validPayloads.get(item) ?? []).flatMap((payload) => listVariants(payload))
  const first = new Map(all.toReversed().map((each) => [each.at, each]))
  const found = [...first.values()].toReversed()
  return { item, texts: new Set(listTexts(schema)), found }
})

type Variant = { domain: string; at: string; config: JsonObject }

const domains: Variant[] = variants.flatMap(({ item, found }) =>
  found.map(({ at, value }, i) => ({
    domain: `d${i}.${item.replaceAll('_', '-')}.example.com`,
    at: item + at,
    config: { [item]: value },
  })),
)

const facts = { method: 'GET', ip: '192.0.2.1', country: 'x', isp: 'dx', time: '12:00', at: 1e9 }
const headers = { referer: 'https://x.example/', 'user-agent': 'x', '*': null }
const origin = { status: 404, size: 1e6, headers: { 'content-type': 'text/html', '*': null } }

/** A request that has all facts. */
function requestOf(domain: string): JsonObject {
  return { url: `https://${domain}/a/b.jpg?x=1&a=2`, ...facts, bodySize: 1, headers, origin }
}

function testOf(domain: string): string {
  const requests = [{ ...requestOf(domain), expect: { outcome: 'served' } }]
  return JSON.stringify({
    test: domain,
    domains: [domain],
    requests,
    plan: { from: {}, writes: 0 },
  })
}

const policies = `policy: open
level: hard
on: request
requests: requests.ndjson
deny: trace.outcome == "denied" || trace.cache.seconds > 5
message: "\${trace.outcome}"
---
policy: domain
level: advisory
on: domain
when: has(config.origin)
deny: config.origin.default_master != "192.0.2.1"
message: "\${config.origin.default_master}"
---
policy: change
level: advisory
on: change
deny: change.item == "deny_url" && change.after.urls.exists(each, each == ".*")
message: "\${change.after}"
`

/** Runs a command; its output has no fault and no object in place of a text. */
async function run(...args: string[]): Promise<CommandResult> {
  const ran = await place.cli(...args)
  const all = `${ran.code} ${ran.out}${ran.err}`
  expect(
    all.match(/.{0,300}(?:\[object|internal error|TypeError|\$secret: |NaN).{0,80}/is),
  ).toBeNull()
  return ran
}

/** Writes the manifests of some variants, and keeps those that `validate` accepts. */
async function prepare(chosen: readonly Variant[]): Promise<string[]> {
  place.configure(`secrets: {${names.map((name) => `${name}: {env: PREVIEW}`).join(', ')}}`)
  for (const { domain, config } of chosen) place.manifest(domain, config)
  const { diagnostics } = JSON.parse((await run('validate', '--json')).out) as Diagnostics
  const bad = diagnostics.filter(({ severity }) => severity === 'error')
  const files = new Set(bad.map(({ file }) => file))
  for (const file of files) rmSync(join(place.root, file))
  return chosen.map(({ domain }) => domain).filter((domain) => !files.has(`domains/${domain}.yaml`))
}

interface Diagnostics {
  diagnostics: { file: string; severity: string; code: string; detail: string }[]
}

it('has a variant for each text of each item', () => {
  const missing = variants.flatMap(({ item, texts, found }) =>
    [...texts]
      .filter((at) => !found.some((each) => each.at.startsWith(`${at} `)))
      .map((at) => item + at),
  )
  // The names that an action removes, which no manifest has.
  expect(missing).toEqual(['add_response_head/list'])
})

itOften('no command takes a secret for a text, wherever a manifest has it', async () => {
  const valid = await prepare(everyNth(domains, 10))
  expect(valid.length).toBeGreaterThan(10)
  place
    .write('requests.ndjson', valid.map((domain) => JSON.stringify(requestOf(domain))).join('\n'))
    .write('tests/all.yaml', valid.map(testOf).join('\n---\n'))
    .write('policies/all.yaml', policies)
  const requests = ['--requests', 'requests.ndjson']
  await run('validate', '-v')
  for (const PREVIEW of [undefined, 'a-value-of-it']) {
    place.env = { ...place.env, PREVIEW }
    const { out } = await run('trace', ...requests, '--assume', 'unmanaged=absent', '--json')
    expect(out.trimEnd().split('\n')).toHaveLength(valid.length)
    expect(out).toContain('not-given secret:preview')
    expect((await run('trace', ...requests, '-v')).out).toContain('depends on secret preview')
    await run('test')
    await run('plan', ...requests, '--witness')
    await run('plan', ...requests, '--witness', '--json')
    await run('check')
    await run('policies')
    for (const domain of valid.slice(0, 3)) await run('show', domain, '-v')
  }
})
