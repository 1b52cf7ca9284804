import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  resolvePointer,
  isObject,
  formatPointerStep,
  parsePointer,
  type Json,
  type JsonObject,
} from '../../src/core/model/json.ts'

const folder = new URL('../../schemas/state/', import.meta.url)

/** Schemas of stored files by name, with the shared one. */
export const stateSchemas: ReadonlyMap<string, JsonObject> = new Map(
  readdirSync(folder).map((file) => [
    file.replace('.schema.json', ''),
    JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as JsonObject,
  ]),
)

/** Names of the schemas that describe a file. */
export const fileKinds = [...stateSchemas.keys()].filter((name) => name !== 'shared')

const ajv = new Ajv2020({ strict: true, allErrors: true })
ajv.addKeyword('x-expected')
for (const schema of stateSchemas.values()) ajv.addSchema(schema)

/** Lists the faults of a value by the schema itself, without the generated validators. */
export function findSchemaFaults(name: string, value: unknown): string[] {
  const validate = ajv.getSchema(String(stateSchemas.get(name)?.['$id']))
  if (validate === undefined) throw new Error(`expected a schema "${name}"`)
  if (validate(value) === true) return []
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
}

/** Copies a value with another value at a place; undefined deletes the key. */
export function replaceAt(whole: Json, pointer: string, value: Json | undefined): Json {
  const copy = structuredClone(whole)
  const steps = parsePointer(pointer)
  const last = steps.pop() ?? ''
  const parent = resolvePointer(copy, steps.map(formatPointerStep).join(''))
  if (Array.isArray(parent)) parent[Number(last)] = value ?? null
  else if (parent === undefined || !isObject(parent)) throw new Error(`no place ${pointer}`)
  else if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy
}

/** Replaces the references in a schema by their targets. */
export function inlineSchema(name: string, part: Json = stateSchemas.get(name) ?? null): Json {
  if (Array.isArray(part)) return part.map((each) => inlineSchema(name, each))
  if (!isObject(part)) return part
  const ref = part['$ref']
  if (typeof ref !== 'string')
    return Object.fromEntries(
      Object.entries(part).map(([key, each]) => [key, inlineSchema(name, each)]),
    )
  const [file = '', pointer = ''] = ref.split('#')
  const home = file === '' ? name : file.replace('.schema.json', '')
  const found = resolvePointer(stateSchemas.get(home), pointer)
  if (found === undefined || !isObject(found)) throw new Error(`expected ${ref} to be a schema`)
  return inlineSchema(home, found)
}

/** A place in a sample. */
export interface SamplePlace {
  pointer: string
  required: boolean
  schema: JsonObject
}

/** Matching texts for the patterns, by the schemas' descriptions of them. */
const matching: Record<string, string> = {
  'a status code or a class of them': '404',
  '64 hex digits': '0a'.repeat(32),
  '32 hex digits': '00112233445566778899aabbccddeeff',
  'a name without control characters': 'lena@ops',
  '64 bytes in Base64': `${'A'.repeat(86)}==`,
  'a time such as 2026-11-20T03:00:00.000Z': '2026-11-20T03:00:00.000Z',
  'letters, digits, "_" and "-"': 'one',
  'the number of a write': '7',
  'a text of at most 300 characters': 'text',
  'a text of at most 500 characters': 'text',
  'a hash such as sha256:4f2c… with 64 digits': `sha256:${'0a'.repeat(32)}`,
}

/** Builds a value with all keys of a schema, and lists its places. */
export function buildSample(name: string): { whole: Json; places: SamplePlace[] } {
  const places: SamplePlace[] = []
  const schema = inlineSchema(name)
  if (!isObject(schema)) throw new Error(`expected a schema "${name}"`)
  return { whole: buildValue(schema, '', places), places }
}

function buildValue(schema: JsonObject, pointer: string, places: SamplePlace[]): Json {
  const { const: only, enum: words, items, anyOf } = schema
  if (only !== undefined) return only
  if (Array.isArray(words)) return words[0] ?? null
  if (Array.isArray(anyOf)) return buildValue(expectSchema(anyOf.at(-1)), pointer, places)
  const inner = (key: string, each: Json, required: boolean) => {
    const place = {
      pointer: pointer + formatPointerStep(key),
      required,
      schema: expectSchema(each),
    }
    places.push(place)
    return buildValue(place.schema, place.pointer, places)
  }
  switch (listTypes(schema)[0]) {
    case 'object': {
      const { properties = {}, required = [], additionalProperties: others, propertyNames } = schema
      const named = Object.entries(expectSchema(properties)).map(([key, each]) => [
        key,
        inner(key, each, Array.isArray(required) && required.includes(key)),
      ])
      const key =
        propertyNames === undefined ? 'www.example.com' : buildText(expectSchema(propertyNames))
      const other =
        others === undefined || others === false ? [] : [[key, inner(key, others, false)]]
      return Object.fromEntries([...named, ...other]) as JsonObject
    }
    case 'array':
      return [inner('0', items ?? null, false)]
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return 7
    case undefined:
      return { any: ['value'] }
    default:
      return buildText(schema)
  }
}

/** Checks whether a schema alone excludes a value. */
export function excludes(schema: JsonObject, value: Json): boolean {
  const { const: only, enum: words, anyOf, minimum } = schema
  if (Array.isArray(anyOf)) return anyOf.every((each) => excludes(expectSchema(each), value))
  if (only !== undefined) return only !== value
  if (Array.isArray(words)) return !words.includes(value)
  const types = listTypes(schema)
  if (types.length > 0 && !listTypeNames(value).some((each) => types.includes(each))) return true
  if (typeof value === 'number' && typeof minimum === 'number') return value < minimum
  return typeof value === 'string' && !new RegExp(String(schema['pattern'] ?? ''), 'u').test(value)
}

/** Lists the types of a schema; none if any type is allowed. */
export function listTypes({ type }: JsonObject): Json[] {
  return type === undefined ? [] : Array.isArray(type) ? type : [type]
}

function listTypeNames(value: Json): string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  return Number.isInteger(value) ? ['number', 'integer'] : [typeof value]
}

function buildText(schema: JsonObject): string {
  if (schema['pattern'] === undefined) return 'text'
  const found = matching[String(schema['x-expected'])]
  if (found === undefined) throw new Error(`expected a text for ${String(schema['pattern'])}`)
  return found
}

function expectSchema(part: Json | undefined): JsonObject {
  if (part === undefined || !isObject(part)) throw new Error('expected a schema')
  return part
}
