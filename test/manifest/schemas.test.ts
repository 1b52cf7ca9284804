import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/catalog/catalogue.ts'
import { workspaceSchema } from '../../src/generated/file-schemas.ts'
import { parseYaml } from '../../src/manifest/yaml-file.ts'
import { isObject, type JsonObject } from '../../src/model/json.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const loadSchema = (name: string) =>
  JSON.parse(readFileSync(`${root}schemas/${name}.schema.json`, 'utf8')) as JsonObject
const ajv = new Ajv2020({ allErrors: true, strict: false })
const manifestSchema = loadSchema('manifest')
ajv.addSchema(manifestSchema, 'manifest.schema.json')
const validators = {
  workspace: ajv.compile(loadSchema('workspace')),
  manifest: ajv.compile(manifestSchema),
  profile: ajv.compile(loadSchema('profile')),
}

function listErrors(value: JsonObject): unknown[] {
  const validate =
    validators[
      Object.hasOwn(value, 'version')
        ? 'workspace'
        : Object.hasOwn(value, 'profile')
          ? 'profile'
          : 'manifest'
    ]
  return validate(value) ? [] : (validate.errors ?? [])
}

describe('the schemas for editors', () => {
  const files = readdirSync(`${root}examples`, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.yaml'),
  )
  it.each(files)('accept examples/%s', (name) => {
    const { documents } = parseYaml({
      path: name,
      text: readFileSync(`${root}examples/${name}`, 'utf8'),
    })
    expect(
      documents.flatMap(({ value }) => (isObject(value) ? listErrors(value) : [value])),
    ).toEqual([])
  })

  it('accept every example of the catalogue', () => {
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
  ])('refuse %s', (_what, value) => {
    expect(listErrors(value).length).toBeGreaterThan(0)
  })

  it('equal the schemas in the program', () => {
    expect(workspaceSchema).toEqual(loadSchema('workspace'))
  })
})
