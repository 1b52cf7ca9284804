import { chooseAlternative, type ItemSchema } from '../../catalog/value/item-schema.ts'
import { isObject, type Json } from '../../model/json.ts'

/** A copy of an item's value without the fields that the item does not have. */
export function dropUnknown(schema: ItemSchema, value: Json): Json {
  const chosen = chooseAlternative(schema, value)
  if (Array.isArray(value)) return value.map((entry) => dropUnknown(chosen.items ?? {}, entry))
  const properties = chosen.properties
  if (!isObject(value) || properties === undefined) return value
  const known = Object.entries(value).filter(([key]) => Object.hasOwn(properties, key))
  return Object.fromEntries(
    known.map(([key, field]) => [key, dropUnknown(properties[key] ?? {}, field)]),
  )
}
