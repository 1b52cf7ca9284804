import { catalogue } from '../../core/catalog/catalogue.ts'
import { getField, type ItemSchema } from '../../core/catalog/value/item-schema.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { formatPointerStep, isObject, type JsonObject } from '../../core/model/json.ts'
import { problemSummaries } from '../../core/model/problem.ts'
import { listSome } from '../../core/model/text/words.ts'
import { isDocumentKey } from './document-keys.ts'
import type { Finding } from './finding.ts'

/** Creates the finding about an unknown item. The search for a similar name is slow. */
export function createUnknownItem(item: string): Finding {
  return {
    code: 'item-unknown',
    pointer: formatPointerStep(item),
    part: 'key',
    summary: 'Unknown item',
    detail: `there is no item "${item}".${suggest(item)}`,
  }
}

function suggest(item: string): string {
  if (isDocumentKey(item))
    return ` "${item}" is a key of manifests and profiles. Move it out of "config:".`
  const hint = didYouMean(item, catalogue.keys())
  if (hint !== '') return hint
  const owners = [...catalogue.values()].filter(({ schema }) => getField(schema, item))
  return owners.length === 0
    ? ' "edgewise explain" lists all items.'
    : ` It is a field of ${listSome(owners.map(({ key }) => key))}: indent it below its item.`
}

/**
 * Finds nulls for items and fields that don't exist. Merging drops them before any other check, so
 * a misspelt name would silently keep what it was meant to remove. Pointers are within the
 * configuration.
 */
export function findIdleNulls(config: JsonObject, base = ''): Finding[] {
  return Object.entries(config).flatMap(([item, value]) => {
    const pointer = base + formatPointerStep(item)
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
    const fieldSchema = getField(schema, key)
    if (fieldSchema !== undefined)
      return isObject(field) ? findInFields(fieldSchema, field, pointer, item) : []
    if (field !== null || key.startsWith('$')) return []
    const detail = `there is no field "${key}" to drop.${didYouMean(key, Object.keys(properties))}`
    const summary = problemSummaries['unknown-field']
    return [{ code: 'item-invalid', pointer, part: 'key', summary, detail, item }]
  })
}
