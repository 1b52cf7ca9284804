import { catalogue } from '../catalog/catalogue.ts'
import type { ItemSchema } from '../catalog/value/item-schema.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { isObject, formatPointerStep, type JsonObject } from '../model/json.ts'
import { problemSummaries } from '../model/problem.ts'
import type { Finding } from './finding.ts'

/**
 * Finds nulls for items and fields that don't exist. Merging drops them before any other check, so
 * a misspelt name would silently keep what it was meant to remove. Pointers are within the
 * configuration.
 */
export function findIdleNulls(config: JsonObject): Finding[] {
  return Object.entries(config).flatMap(([item, value]) => {
    const pointer = formatPointerStep(item)
    const spec = catalogue.get(item)
    if (spec !== undefined)
      return isObject(value) ? findInFields(spec.schema, value, pointer, item) : []
    if (value !== null) return []
    const detail = `there is no item "${item}" to drop.${didYouMean(item, catalogue.keys())}`
    return [{ code: 'item-unknown', pointer, part: 'key', summary: 'Unknown item', detail, item }]
  })
}

function findInFields(
  schema: ItemSchema,
  value: JsonObject,
  parentPointer: string,
  item: string,
): Finding[] {
  const properties = schema.properties
  if (properties === undefined) return []
  return Object.entries(value).flatMap(([key, field]): Finding[] => {
    const pointer = parentPointer + formatPointerStep(key)
    const fieldSchema = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (fieldSchema !== undefined)
      return isObject(field) ? findInFields(fieldSchema, field, pointer, item) : []
    if (field !== null || key.startsWith('$')) return []
    const detail = `there is no field "${key}" to drop.${didYouMean(key, Object.keys(properties))}`
    const summary = problemSummaries['unknown-field']
    return [{ code: 'item-invalid', pointer, part: 'key', summary, detail, item }]
  })
}
