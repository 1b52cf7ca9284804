import { isObject, setOwn, type Json, type JsonObject } from '../../model/json.ts'
import { isSecret } from '../../model/secret.ts'
import {
  chooseAlternative,
  getAnnotations,
  getField,
  holds,
  findSeparator,
  type ItemSchema,
  type Parent,
} from './item-schema.ts'

/** Source of a value: a manifest may write separated strings as lists, the wire may not. */
export type Scope = 'manifest' | 'wire'

/**
 * Returns a copy of a value with the specification's types: a numeric string for an integer, an
 * integer for a string, "true"/"false" for a boolean; in manifests a YAML list for a separated
 * string. Nothing else is converted; the schema refuses the rest.
 */
export function coerce(
  schema: ItemSchema,
  value: Json,
  scope: Scope,
  parent?: Parent,
): Json | undefined {
  if (isSecret(value)) return value
  const chosen = chooseAlternative(schema, value)
  const empty = getAnnotations(chosen).emptyIsDefault
  if (
    value === '' &&
    empty !== undefined &&
    (empty === true || (empty !== false && !holds(empty.unless, parent)))
  )
    return undefined
  switch (chosen.type) {
    case 'integer':
      return typeof value === 'string' &&
        /^(?:0|-?[1-9]\d*)$/.test(value) &&
        Number.isSafeInteger(Number(value))
        ? Number(value)
        : value
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value
    case 'string':
      return coerceString(chosen, value, scope, parent)
    case 'array':
      return Array.isArray(value)
        ? value.map((entry) => coerce(chosen.items ?? {}, entry, scope) ?? entry)
        : value
    case 'object':
      return isObject(value) ? coerceObject(chosen, value, scope) : value
    default:
      return value
  }
}

function coerceString(schema: ItemSchema, value: Json, scope: Scope, parent?: Parent): Json {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  const by = findSeparator(schema, parent)
  if (scope === 'manifest' && by !== null && Array.isArray(value)) {
    const entries = value.map((entry) => (typeof entry === 'number' ? String(entry) : entry))
    if (entries.every((entry) => typeof entry === 'string' && !entry.includes(by)))
      return entries.join(by)
  }
  return value
}

function coerceObject(schema: ItemSchema, value: JsonObject, scope: Scope): JsonObject {
  const result: JsonObject = {}
  for (const [key, field] of Object.entries(value)) {
    const known = getField(schema, key)
    const coerced = known === undefined ? field : coerce(known, field, scope, { schema, value })
    if (coerced !== undefined) setOwn(result, key, coerced)
  }
  return result
}
