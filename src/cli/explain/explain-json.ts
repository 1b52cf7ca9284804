import { catalogue, getItemSpec } from '../../core/catalog/catalogue.ts'
import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import type { ItemSchema } from '../../core/catalog/value/item-schema.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { readings, type Reading } from '../../core/trace/readings.ts'
import { refuseUnknownItems } from '../../operations/submission/select.ts'
import { extractFirstSentence, listFields } from '../../outlets/report/catalog/describe-item.ts'
import { listPolicyVariables } from './explain-policy.ts'

/** What a name stands for. */
export type Explained =
  | { kind: 'items' | 'policy' }
  | { kind: 'readings'; readings: readonly Reading[] }
  | ExplainedItem

/** An item, or a field of it by the names that lead to it. */
export interface ExplainedItem {
  kind: 'item'
  spec: ItemSpec
  path: string[]
  field: FoundField
}

/**
 * Finds what a name stands for: `ITEM`, `ITEM.FIELD.FIELD`, a reading, `readings` or `policy`;
 * without a name, all items.
 *
 * @throws EdgewiseError `usage` when there is no such item or field
 */
export function findExplained(name: string | undefined): Explained {
  if (name === undefined) return { kind: 'items' }
  if (name === 'policy') return { kind: 'policy' }
  const named = readings.filter((each) => [each.name, 'READINGS'].includes(name.toUpperCase()))
  if (named.length > 0) return { kind: 'readings', readings: named }
  const [key = '', ...path] = name.split('.')
  refuseUnknownItems([key])
  const spec = getItemSpec(key)
  return { kind: 'item', spec, path, field: findField(spec, path) }
}

/** Builds what is known of what a name stands for, as `findExplained`. */
export function buildExplainJson(name?: string): object {
  const found = findExplained(name)
  switch (found.kind) {
    case 'items':
      return Object.fromEntries(
        [...catalogue].map(([key, spec]) => [key, extractFirstSentence(spec)]),
      )
    case 'policy':
      return listPolicyVariables()
    case 'readings':
      return found.readings
    case 'item':
      return found.field.schema
  }
}

/** A field that was found by its path in an item. */
export interface FoundField {
  schema: ItemSchema
  required: boolean
  /** Whether it is a field of the entries of a list. */
  isOfEntry: boolean
}

/**
 * Finds a field by the names that lead to it, through lists; the item itself without any.
 *
 * @throws EdgewiseError `usage` when there is no such field
 */
function findField(spec: ItemSpec, path: string[]): FoundField {
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
