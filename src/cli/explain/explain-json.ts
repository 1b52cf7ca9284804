import { catalogue, getItemSpec } from '../../core/catalog/catalogue.ts'
import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import type { ItemSchema } from '../../core/catalog/value/item-schema.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { readings, type Reading } from '../../core/trace/readings.ts'
import { refuseUnknownItems } from '../../operations/submission/select.ts'
import { extractFirstSentence, listFields } from '../../outlets/report/catalog/describe-item.ts'
import { listPolicyVariables } from './explain-policy.ts'

/**
 * Builds what is known of an item, a field, a reading or policies; without a name, of all items.
 *
 * @throws EdgewiseError `usage` when there is no such item or field
 */
export function buildExplainJson(name?: string): object {
  if (name === undefined)
    return Object.fromEntries(
      [...catalogue].map(([key, spec]) => [key, extractFirstSentence(spec)]),
    )
  if (name === 'policy') return listPolicyVariables()
  const shown = findReadings(name)
  if (shown.length > 0) return shown
  const { spec, path } = parseItemName(name)
  return path.length === 0 ? spec.schema : findField(spec, path).schema
}

/** Finds the reading of a name, or all of them for `readings`; none for another name. */
export function findReadings(name: string): readonly Reading[] {
  const named = readings.filter((each) => each.name === name.toUpperCase())
  return name === 'readings' ? readings : named
}

/**
 * Parses `ITEM.FIELD.FIELD`.
 *
 * @throws EdgewiseError `usage` when there is no such item
 */
export function parseItemName(name: string): { spec: ItemSpec; path: string[] } {
  const [key = '', ...path] = name.split('.')
  refuseUnknownItems([key])
  return { spec: getItemSpec(key), path }
}

/** A field that was found by its path in an item. */
export interface FoundField {
  schema: ItemSchema
  required: boolean
  /** Whether it is a field of the entries of a list. */
  isOfEntry: boolean
}

/**
 * Finds a field by the names that lead to it, through lists.
 *
 * @param path at least one name
 * @throws EdgewiseError `usage` when there is no such field
 */
export function findField(spec: ItemSpec, path: string[]): FoundField {
  const start: FoundField = { schema: spec.schema, required: false, isOfEntry: false }
  return path.reduce<FoundField>(({ schema }, step) => {
    const fields = listFields(schema)
    const found = fields.find(([name]) => name === step)
    if (found !== undefined)
      return { schema: found[1], required: found[2], isOfEntry: schema.type === 'array' }
    const names = fields.map(([name]) => name)
    const hint =
      didYouMean(step, names) || (names.length === 0 ? '' : ` It has: ${names.join(', ')}.`)
    throw new EdgewiseError(
      'usage',
      `${spec.key} has no field "${step}".${hint}`,
      `"edgewise explain ${spec.key}" lists its fields.`,
    )
  }, start)
}
