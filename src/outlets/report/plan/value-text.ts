import { catalogue } from '../../../core/catalog/catalogue.ts'
import {
  chooseAlternative,
  getField,
  type ItemSchema,
} from '../../../core/catalog/value/item-schema.ts'
import type { FieldName, ItemKey } from '../../../core/model/item.ts'
import { getOwn, isObject, type Json, type JsonObject } from '../../../core/model/json.ts'
import { findNewReference, findReference, isSecret } from '../../../core/model/secret.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Schema of a value, for the order of its fields, and the identity of entries of its list. */
export interface Shape {
  schema: ItemSchema
  identity: FieldName[]
}

/** Returns the shape of the values of an item; state may hold items with any name. */
export function findShape(item: ItemKey): Shape {
  return catalogue.get(item) ?? { schema: {}, identity: [] }
}

/** Lists the names of the fields of these objects, in the order of the schema. */
export function listFields(schema: ItemSchema, ...objects: JsonObject[]): FieldName[] {
  const present = new Set(objects.flatMap((object) => Object.keys(object)))
  const known = Object.keys(schema.properties ?? {}).filter((field) => present.delete(field))
  return [...known, ...[...present].toSorted()]
}

/** Formats a value on one line: plain words without quotes, lists and objects inline. */
export function formatValue(value: Json, schema: ItemSchema = {}): string {
  if (isSecret(value)) return formatSecret(value.$secret)
  if (typeof value === 'string') return formatString(value)
  const chosen = chooseAlternative(schema, value)
  if (Array.isArray(value))
    return value.length === 0
      ? '(empty)'
      : value.map((entry) => formatListed(entry, chosen.items)).join(', ')
  if (isObject(value)) return formatFields(value, chosen, listFields(chosen, value))
  return String(value)
}

/** Formats an entry of a list: its identity, then its other fields. */
export function formatEntry(entry: Json, { schema, identity }: Shape): string {
  const label = formatIdentity(entry, identity)
  if (label === null || !isObject(entry)) return formatValue(entry, schema)
  const rest = listFields(schema, entry).filter((field) => !identity.includes(field))
  return rest.length === 0 ? label : `${label}: ${formatFields(entry, schema, rest)}`
}

/** Formats the identity of an entry of a list; null if it has none. */
export function formatIdentity(entry: Json, identity: FieldName[]): string | null {
  if (!isObject(entry) || isSecret(entry)) return null
  const values = identity.flatMap((field) => getOwn(entry, field) ?? [])
  return values.length === 0 ? null : values.map((value) => formatValue(value)).join(' ')
}

function formatFields(object: JsonObject, schema: ItemSchema, fields: FieldName[]): string {
  return fields
    .map((field) => {
      const value = object[field] ?? null
      const text = formatValue(value, getField(schema, field))
      const isNested = Array.isArray(value) || (isObject(value) && !isSecret(value))
      return `${escapeInvisible(field)} ${isNested ? `(${text})` : text}`
    })
    .join(' · ')
}

/** Formats an entry of a list on one line. */
function formatListed(entry: Json, schema?: ItemSchema): string {
  const isAmbiguous = typeof entry === 'string' && /, /.test(entry)
  return isAmbiguous ? escapeInvisible(JSON.stringify(entry)) : formatValue(entry, schema)
}

function formatString(value: string): string {
  const isPlain =
    /^[\w.*/:@$%+,;=?&~^()|!#'<>{}\\-][^\n]*$/.test(value) &&
    // Text that looks like a secret, an empty list, several fields or a change has quotes.
    !/^\s|\s$|^\(secret |^\(empty\)$| [·→] /.test(value)
  return escapeInvisible(isPlain ? value : JSON.stringify(value))
}

function formatSecret(fingerprint: string): string {
  const reference = findReference(fingerprint)
  if (reference !== null) return `(secret ${escapeInvisible(reference)}, value not available)`
  const fresh = findNewReference(fingerprint)
  if (fresh !== null) return `(secret ${escapeInvisible(fresh)}, new)`
  return escapeInvisible(`(secret ${fingerprint.replace(/^scrypt:/, '').slice(0, 8)})`)
}
