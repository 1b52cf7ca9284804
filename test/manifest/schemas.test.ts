import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { workspaceSchema } from '../../src/manifest/workspace-file/generated/file-schemas.ts'
import type { ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import { parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import { isObject, type JsonObject } from '../../src/core/model/json.ts'
import { buildManifestSchemas } from '../../tools/manifest-schema.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const loadSchema = (name: string) =>
  JSON.parse(readFileSync(`${root}schemas/${name}.schema.json`, 'utf8')) as JsonObject
const ajv = new Ajv2020({ allErrors: true, strict: false })
const validate = ajv.compile(loadSchema('edgewise'))

const listErrors = (value: JsonObject): unknown[] =>
  validate(value) ? [] : (validate.errors ?? [])

describe('the schema for editors', () => {
  const files = readdirSync(`${root}examples`, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /(?:^|\/)(?:edgewise|(?:domains|profiles|policies)\/.*)\.yaml$/.test(name),
  )
  it.each(files)('accepts examples/%s', (name) => {
    const { documents } = parseYaml({
      path: name,
      text: readFileSync(`${root}examples/${name}`, 'utf8'),
    })
    expect(
      documents.flatMap(({ value }) => (isObject(value) ? listErrors(value) : [value])),
    ).toEqual([])
  })

  it('accepts every example of the catalogue', () => {
    const config = Object.fromEntries(
      [...catalogue].map(([item, spec]) => [item, spec.schema.examples?.[0] ?? null]),
    )
    expect(listErrors({ domain: 'a.example.com', config })).toEqual([])
  })

  it.each<[string, JsonObject]>([
    ['an unknown key', { domain: 'a.example.com', confg: {} }],
    ['domain and domains', { domain: 'a.example.com', domains: ['b.example.com'] }],
    ['neither domain nor domains', { config: {} }],
    ['neither config nor profiles', { domain: 'a.example.com' }],
    ['an unknown item', { domain: 'a.example.com', config: { htps: {} } }],
    ['an unknown field', { domain: 'a.example.com', config: { https: { htp2: 'on' } } }],
    ['a wrong value', { profile: 'p', config: { https: { http2: 'yes' } } }],
    ['an unknown key of the workspace', { version: 1, idd: 'x' }],
  ])('refuses %s', (_what, value) => {
    expect(listErrors(value).length).toBeGreaterThan(0)
  })

  it('has the schema of edgewise.yaml that the program checks with', () => {
    expect(workspaceSchema).toEqual(loadSchema('workspace'))
  })

  it('has a description, and an example or a plain value, for every key', () => {
    const items = [...catalogue].map(([item, spec]) => [item, spec.schema])
    const { manifest, profile } = buildManifestSchemas(
      Object.fromEntries(items) as Record<string, ItemSchema>,
      (loadSchema('policy')['properties'] as Record<string, unknown>)['except'],
    )
    const missing: string[] = []
    for (const schema of [loadSchema('workspace'), loadSchema('policy'), manifest, profile])
      collectMissing(schema, '', missing)
    expect(missing).toEqual([])
  })
})

type Part = Record<string, unknown>

function collectMissing(part: unknown, path: string, missing: string[]): void {
  if (Array.isArray(part))
    for (const [i, each] of part.entries()) collectMissing(each, `${path}/${i}`, missing)
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return
  for (const [key, field] of Object.entries((part as Part)['properties'] ?? {}) as [
    string,
    Part,
  ][]) {
    if (typeof field['description'] !== 'string') missing.push(`${path}/${key}: description`)
    // The example of an item shows its fields.
    const item = /\/config\//.test(path)
    const plain = ['examples', 'default', 'const', 'enum', 'properties'].some(
      (keyword) => keyword in field,
    )
    if (!item && !plain) missing.push(`${path}/${key}: example`)
  }
  for (const [key, each] of Object.entries(part as Part))
    if (key !== 'examples' && key !== 'default') collectMissing(each, `${path}/${key}`, missing)
}
