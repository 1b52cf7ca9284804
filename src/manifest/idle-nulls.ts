import { catalogue } from '../catalog/catalogue.ts'
import type { ItemSchema } from '../catalog/value/item-schema.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { isObject, formatPointerStep, type JsonObject } from '../model/json.ts'
import { problemSummaries } from '../model/problem.ts'
import type { Finding } from './finding.ts'

/**
 * Items and fields that don't exist and are given the value null. Merging takes them out before
 * anything else sees them, and a misspelt name would leave in place what it was meant to take out.
 * Pointers are within the configuration.
 */
export function findIdleNulls(config: JsonObject): Finding[] {
  return Object.entries(config).flatMap(([item, value]) => {
    const pointer = formatPointerStep(item)
    const spec = catalogue.get(item)
    if (spec !== undefined)
      return isObject(value) ? inFields(spec.schema, value, pointer, item) : []
    if (value !== null) return []
    const detail = `there is no item "${item}" to take out.${didYouMean(item, catalogue.keys())}`
    return [
      { code: 'item-unknown', pointer, part: 'key', summary: 'An unknown item', detail, item },
    ]
  })
}

function inFields(schema: ItemSchema, value: JsonObject, at: string, item: string): Finding[] {
  const known = schema.properties
  if (known === undefined) return []
  return Object.entries(value).flatMap(([key, field]): Finding[] => {
    const pointer = at + formatPointerStep(key)
    const own = Object.hasOwn(known, key) ? known[key] : undefined
    if (own !== undefined) return isObject(field) ? inFields(own, field, pointer, item) : []
    if (field !== null || key.startsWith('$')) return []
    const detail = `there is no field "${key}" to take out.${didYouMean(key, Object.keys(known))}`
    const summary = problemSummaries['unknown-field']
    return [{ code: 'item-invalid', pointer, part: 'key', summary, detail, item }]
  })
}
