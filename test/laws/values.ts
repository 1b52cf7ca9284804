import { readdirSync, readFileSync } from 'node:fs'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { getAnnotations, type ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import type { ItemKey } from '../../src/core/model/item.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import { fc } from '../runs.ts'

interface Case {
  payload: Json
  manifest: boolean | null
}

/** Valid desired payloads by item: the schema's examples and the conformance cases. */
export const validPayloads: ReadonlyMap<ItemKey, Json[]> = new Map(
  [...catalogue].map(([item, { schema }]) => [
    item,
    [...(schema.examples ?? []), ...loadConformancePayloads(item)],
  ]),
)

function loadConformancePayloads(item: ItemKey): Json[] {
  return ['items', 'own'].flatMap((folder) => {
    const url = new URL(`../conformance/${folder}/`, import.meta.url)
    if (!readdirSync(url).includes(`${item}.json`)) return []
    const cases = JSON.parse(readFileSync(new URL(`${item}.json`, url), 'utf8')) as Case[]
    return cases.filter((each) => each.manifest === true).map((each) => each.payload)
  })
}

/** Tests whether a payload is valid as desired state. */
export function isDesired(item: ItemKey, payload: Json): boolean {
  return parseItem(getItemSpec(item), payload, 'manifest').value !== null
}

/**
 * Arbitrary payloads of an item, most of them valid: known ones, variations, some from the schema.
 */
export function arbitraryPayload(item: ItemKey): fc.Arbitrary<Json> {
  const { schema } = getItemSpec(item)
  const known = fc.constantFrom(...(validPayloads.get(item) ?? []))
  return fc.oneof(
    { arbitrary: known, weight: 2 },
    { arbitrary: known.chain((payload) => arbitraryVariation(schema, payload, known)), weight: 5 },
    { arbitrary: fromSchema(schema), weight: 2 },
  )
}

/**
 * Varies a known payload: fields are replaced or omitted, entries come from other known payloads.
 */
function arbitraryVariation(
  schema: ItemSchema,
  payload: Json,
  known: fc.Arbitrary<Json>,
): fc.Arbitrary<Json> {
  if (Array.isArray(payload)) {
    const others = fc
      .array(known, { maxLength: 3 })
      .map((lists) => lists.flatMap((list) => (Array.isArray(list) ? list.slice(0, 3) : [])))
    return others
      .chain((entries) => fc.shuffledSubarray([...payload.slice(0, 4), ...entries]))
      .chain((entries) =>
        fc.tuple(...entries.map((entry) => arbitraryVariation(schema.items ?? {}, entry, known))),
      )
  }
  if (!isObject(payload)) return fc.constant(payload)
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const as = Object.hasOwn(payload, name)
      ? fc.constant<Json | undefined>(payload[name])
      : fc.constant(undefined)
    return fc
      .oneof(
        { arbitrary: as, weight: 6 },
        { arbitrary: fromSchema(field), weight: 1 },
        { arbitrary: fc.constant(undefined), weight: 1 },
      )
      .map((value) => [name, value] as const)
  })
  return fc
    .tuple(...fields)
    .map((entries) =>
      Object.fromEntries(
        entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      ),
    )
}

/** Arbitrary values of a schema, in the spellings that a manifest may use. */
function fromSchema(schema: ItemSchema): fc.Arbitrary<Json> {
  if (schema.oneOf !== undefined) return fc.oneof(...schema.oneOf.map(fromSchema))
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'integer':
      return arbitraryInteger(schema).chain((value) => fc.constantFrom<Json>(value, String(value)))
    case 'boolean':
      return fc.constantFrom<Json>(true, false, 'true')
    case 'array':
      return fc.array(fromSchema(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: 5,
      })
    case 'object':
      return arbitraryObject(schema)
    default:
      return arbitraryString(schema)
  }
}

function arbitraryInteger({ minimum, maximum }: ItemSchema): fc.Arbitrary<number> {
  const min = minimum ?? -3
  const max = maximum ?? min + 100_000
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max))
}

function arbitraryObject(schema: ItemSchema): fc.Arbitrary<Json> {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => [name, fromSchema(field)] as const,
  )
  return fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [] })
}

function arbitraryString(schema: ItemSchema): fc.Arbitrary<Json> {
  const { list, of, ofEnum, range } = getAnnotations(schema)
  if (range !== undefined)
    return fc
      .integer({ min: range[0] ?? 1, max: range[1] ?? 9999 })
      .chain((n) => fc.constantFrom<Json>(n, String(n)))
  if (list !== undefined) {
    const entry = ofEnum === undefined ? arbitraryText(of) : fc.constantFrom(...ofEnum)
    const entries = fc.array(entry, { minLength: 1, maxLength: 4 })
    return fc.oneof<fc.Arbitrary<Json>[]>(
      entries,
      entries.map((all) => all.join(list === 'comma' ? ', ' : '\n')),
    )
  }
  if (schema.pattern !== undefined)
    return fc.stringMatching(new RegExp(schema.pattern), { size: 'xsmall' })
  return arbitraryText(schema.format)
}

const domain = fc.constantFrom(
  'a.example.com',
  'B.Example.COM',
  'x_1.example.net',
  'xn--bcher-kva.example',
)
const address = fc.constantFrom(
  '192.0.2.1',
  '192.0.2.20',
  '2001:DB8::1',
  '2001:db8:0:0:0:0:0:1',
  '203.0.113.9',
)
const texts: Record<string, fc.Arbitrary<string>> = {
  domain,
  address: fc.oneof(domain, address),
  'ip-or-network': fc.oneof(
    address,
    fc.constantFrom('10.1.2.3/8', '172.16.5.0/16', '198.51.100.0/24', '10.0.0.0/8'),
  ),
  'referer-host': fc.oneof(
    domain,
    address,
    domain.map((name) => `*.${name}`),
  ),
  'header-name': fc.constantFrom('X-A', 'x-a', 'X-B', 'Server', "X-!#$%&'*+.^_`|~"),
  'header-value': fc.constantFrom(
    '',
    'a',
    'A',
    '"q"',
    'ü',
    '😀',
    ' b ',
    '$ourkey',
    "it's",
    '{}',
    '#',
    ': ',
    '-',
    '~',
    'null',
    '0x1',
    '1e3',
  ),
  'http-url': fc.constantFrom(
    'http://a.example.com',
    'https://A.example.com/x?y=1#z',
    'http://[2001:db8::1]:8080/',
  ),
  'regex-any': fc.constantFrom('.*', '^/a{1,2}$', '(a|b)', '[,]', '\\.jpg$', '(?i)x', '/ü/'),
}
const freeText = fc.constantFrom(
  'jpg',
  'png',
  '/a/',
  '/b/c',
  '.*',
  'a b',
  'ü',
  '😀',
  '"',
  "'",
  '*',
  '{a}',
  '[a]',
  '#x',
  'a: b',
  '-',
  '~',
  '1',
)

function arbitraryText(format: string | undefined): fc.Arbitrary<string> {
  return (format === undefined ? undefined : texts[format]) ?? freeText
}
