import { canonicalizeAddress } from './formats.ts'
import {
  type ItemSchema,
  type Parent,
  chooseAlternative,
  findSeparator,
  getAnnotations,
  getField,
  splitEntries,
} from './item-schema.ts'
import { type Json, type JsonObject, isObject, setOwn } from '../../model/json.ts'
import { compare } from '../../model/lists.ts'
import { isSecret } from '../../model/secret.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'

/**
 * Returns the canonical form of a valid value: documented defaults filled in, sets sorted and
 * unique, lists without blanks, names in lower case. Secrets stay unchanged. Idempotent.
 *
 * @param keepsSets whether sets stay as they are
 */
export function canonicalizeBySchema(
  schema: ItemSchema,
  value: Json,
  keepsSets = false,
  parent?: Parent,
): Json {
  if (isSecret(value)) return value
  const chosen = chooseAlternative(schema, value)
  if (typeof value === 'string') return canonicalizeString(chosen, value, keepsSets, parent)
  if (Array.isArray(value)) return canonicalizeArray(chosen, value, keepsSets)
  if (isObject(value)) return canonicalizeObject(chosen, value, keepsSets)
  return value
}

function canonicalizeString(
  schema: ItemSchema,
  value: string,
  keepsSets: boolean,
  parent?: Parent,
): string {
  const by = findSeparator(schema, parent)
  if (by === null) return canonicalizeFormat(schema.format, value)
  const entries = splitCanonical(schema, value, by)
  return (getAnnotations(schema).set === true && !keepsSets ? sortUnique(entries) : entries).join(
    by,
  )
}

/** Splits a text with several entries into their canonical forms, in the order of the text. */
export function splitCanonical(schema: ItemSchema, value: string, by: ',' | '\n'): string[] {
  return splitEntries(value, by)
    .filter((entry) => entry !== '')
    .map((entry) => canonicalizeFormat(getAnnotations(schema).of, entry))
}

function canonicalizeFormat(format: string | undefined, value: string): string {
  return format === 'domain' ||
    format === 'address' ||
    format === 'ip-or-network' ||
    format === 'referer-host'
    ? canonicalizeAddress(value)
    : value
}

function canonicalizeArray(schema: ItemSchema, value: Json[], keepsSets: boolean): Json[] {
  const entries = value.map((entry) => canonicalizeBySchema(schema.items ?? {}, entry, keepsSets))
  if (keepsSets) return entries
  const { set, sortBy } = getAnnotations(schema)
  const unique = set === true ? sortUnique(entries) : entries
  return sortBy === undefined
    ? unique
    : unique.toSorted((a, b) => compare(getSortKey(a, sortBy), getSortKey(b, sortBy)))
}

function canonicalizeObject(schema: ItemSchema, value: JsonObject, keepsSets: boolean): JsonObject {
  const properties = schema.properties ?? {}
  const result: JsonObject = {}
  for (const [key, field] of Object.entries(value)) {
    const known = getField(schema, key)
    const emptyList =
      field === '' && known !== undefined && findSeparator(known, { schema, value }) !== null
    if (emptyList && known.default !== '') continue
    const canonical =
      known === undefined ? field : canonicalizeBySchema(known, field, keepsSets, { schema, value })
    setOwn(result, key, canonical)
  }
  for (const [key, known] of Object.entries(properties)) {
    if (known.default !== undefined && !Object.hasOwn(value, key))
      setOwn(result, key, known.default)
  }
  return result
}

/** Sorts by code unit and removes duplicates. */
export function sortUnique<T extends Json>(entries: T[]): T[] {
  const byText = new Map(entries.map((entry) => [toText(entry), entry]))
  return [...byText].toSorted(([a], [b]) => compare(a, b)).map(([, entry]) => entry)
}

function getSortKey(entry: Json, field: string): string {
  return isObject(entry) ? toText(entry[field] ?? null) : toText(entry)
}

/** A text, or the canonical form of another value. */
export function toText(value: Json): string {
  return typeof value === 'string' ? value : canonicalizeJson(value)
}
