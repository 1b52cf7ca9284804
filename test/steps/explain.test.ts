import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import { Place } from './cli.ts'
import { itLong } from '../runs.ts'

let place: Place
beforeAll(() => {
  place = new Place('emulator')
})
afterAll(() => place.remove())

const explain = async (name: string) => (await place.cli('explain', name)).out

/** Lists the fields of a schema at any depth, by path, with whether they are required. */
function listFields(schema: ItemSchema, path: string): [string, ItemSchema, boolean][] {
  const entry = schema.items
  const holder = entry?.oneOf?.find(({ type }) => type === 'object') ?? entry ?? schema
  return Object.entries(holder.properties ?? {}).flatMap(([name, field]) => [
    [`${path}.${name}`, field, holder.required?.includes(name) === true],
    ...listFields(field, `${path}.${name}`),
  ])
}

const items = [...catalogue].map(([key, { schema }]): [string, ItemSchema] => [key, schema])
const fields = items.flatMap(([key, schema]) => listFields(schema, key))

/** Parses a page: title, description, the facts by name, and the parsed example. */
function parsePage(text: string) {
  const [title = '', description = ''] = text.split('\n\n')
  const facts = Object.fromEntries(
    Array.from(
      text.matchAll(/^(Type|Allowed|Default|Required|Secret) +(.*(?:\n {4,}.*)*)/gm),
      (match) => [match[1] ?? '', (match[2] ?? '').replaceAll(/\s+/g, ' ')],
    ),
  ) as Record<string, string>
  const example = /^Example\n((?: {2}.*\n)+)/m.exec(text)?.[1] ?? ''
  return { title, description, facts, example: parse(example) as unknown }
}

describe('explain', () => {
  itLong('describes every item: text, type, rules and an example', async () => {
    expect(items.length).toBeGreaterThan(30)
    for (const [key] of items) {
      const { title, description, facts, example } = parsePage(await explain(key))
      expect([key, title, description.length > 20]).toEqual([key, key, true])
      expect([key, facts['Type']]).toEqual([key, expect.stringMatching(/^\S/)])
      expect(example).toMatchObject({ config: { [key]: expect.anything() as unknown } })
    }
  })

  itLong('describes every field: type, values, default, required and a valid example', async () => {
    expect(fields.length).toBeGreaterThan(150)
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const [path, schema, required] of fields) {
      const text = await explain(path)
      const { title, description, facts, example } = parsePage(text)
      expect([path, title, description.length > 5]).toEqual([path, path, true])
      expect([path, facts]).toEqual([
        path,
        expect.objectContaining({
          Type: expect.stringMatching(/^\S/) as string,
          Required: expect.stringMatching(required ? /^yes/ : /^no$/) as string,
        }),
      ])
      if (listFields(schema, '').length > 0) expect(text).toContain('\nFields\n')
      else expect([path, facts['Allowed'], facts['Default']]).not.toContain(undefined)
      for (const choice of schema.enum ?? []) expect(facts['Allowed']).toContain(String(choice))
      const name = path.split('.').at(-1) ?? ''
      const value = (example as Record<string, unknown>)[name]
      expect([path, value, ajv.validate(schema, value)]).toEqual([path, value, true])
      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
    }
  })

  it('prints a number, a list, an object and an item without fields like this', async () => {
    expect(await explain('timeout.time')).toBe(`timeout.time

The timeout in whole seconds.

Type      text
Allowed   a whole number from 5 to 300
Default   none
Required  yes

Example
  time: "60"

"edgewise explain timeout" shows the whole item.
`)
    expect(parsePage(await explain('cache_rule_list.expire')).facts).toEqual({
      Type: 'whole number',
      Allowed: 'at least 0',
      Default: 'none',
      Required: 'yes, in each entry',
    })
    expect(parsePage(await explain('https.ssl_protocol')).facts).toMatchObject({
      Type: 'list of text',
      Allowed: 'at least 1 entry; TLSv1 | TLSv1.1 | TLSv1.2 | TLSv1.3',
    })
    expect(parsePage(await explain('https.http2')).facts).toMatchObject({
      Default: 'unchanged if omitted',
    })
    expect(parsePage(await explain('visit_timestamp.key')).facts).toMatchObject({
      Secret: expect.stringContaining('${secret:') as string,
    })
    expect(parsePage(await explain('combined_ban.configs.ip')).facts).toEqual({
      Type: 'object',
      Required: 'no',
    })
    expect(parsePage(await explain('range_back_source')).facts).toEqual({
      Type: 'text',
      Allowed: 'on | off',
    })
    expect(parsePage(await explain('new_origin')).facts).toEqual({ Type: 'list of objects' })
  })
})
