import { canonicalizeJson } from '../../model/canonical-json.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { isSecret } from '../../model/secret.ts'
import { canonicalizeAddress } from './formats.ts'
import {
  chooseAlternative,
  getAnnotations,
  splitEntries,
  findSeparator,
  type ItemSchema,
} from './item-schema.ts'

interface Parent {
  schema: ItemSchema
  value: JsonObject
}

/**
 * The canonical form of a valid value: documented defaults filled in, sets sorted and unique, lists
 * without blanks, names in lower case. Secrets stay as they stand. Idempotent.
 */
export function canonicalizeBySchema(schema: ItemSchema, value: Json, parent?: Parent): Json {
  if (isSecret(value)) return value
  const chosen = chooseAlternative(schema, value)
  if (typeof value === 'string') return canonicalString(chosen, value, parent)
  if (Array.isArray(value)) return canonicalArray(chosen, value)
  if (isObject(value)) return canonicalObject(chosen, value)
  return value
}

function canonicalString(schema: ItemSchema, value: string, parent?: Parent): string {
  const by = findSeparator(schema, parent)
  if (by === null) return canonicalFormat(schema.format, value)
  const entries = splitEntries(value, by)
    .filter((entry) => entry !== '')
    .map((entry) => canonicalFormat(getAnnotations(schema).of, entry))
  return (getAnnotations(schema).set === true ? sortUnique(entries) : entries).join(by)
}

function canonicalFormat(format: string | undefined, value: string): string {
  return format === 'domain' ||
    format === 'address' ||
    format === 'ip-or-network' ||
    format === 'referer-host'
    ? canonicalizeAddress(value)
    : value
}

function canonicalArray(schema: ItemSchema, value: Json[]): Json[] {
  const entries = value.map((entry) => canonicalizeBySchema(schema.items ?? {}, entry))
  const { set, sortBy } = getAnnotations(schema)
  const unique = set === true ? sortUnique(entries) : entries
  return sortBy === undefined
    ? unique
    : unique.toSorted((a, b) => compare(keyOf(a, sortBy), keyOf(b, sortBy)))
}

function canonicalObject(schema: ItemSchema, value: JsonObject): JsonObject {
  const properties = schema.properties ?? {}
  const fields: [string, Json][] = []
  for (const [key, field] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined
    const emptyList =
      field === '' && known !== undefined && findSeparator(known, { schema, value }) !== null
    if (emptyList && known.default !== '') continue
    fields.push([
      key,
      known === undefined ? field : canonicalizeBySchema(known, field, { schema, value }),
    ])
  }
  for (const [key, known] of Object.entries(properties)) {
    if (known.default !== undefined && !Object.hasOwn(value, key)) fields.push([key, known.default])
  }
  return Object.fromEntries(fields)
}

/** Sorted by code unit, without duplicates. */
export function sortUnique<T extends Json>(entries: T[]): T[] {
  const byText = new Map(entries.map((entry) => [textOf(entry), entry]))
  return [...byText].toSorted(([a], [b]) => compare(a, b)).map(([, entry]) => entry)
}

function keyOf(entry: Json, field: string): string {
  return isObject(entry) ? textOf(entry[field] ?? null) : textOf(entry)
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : canonicalizeJson(value)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
