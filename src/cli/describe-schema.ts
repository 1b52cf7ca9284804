import { formatWords } from '../catalog/value/formats.ts'
import {
  getAnnotations,
  type FieldCondition,
  type ItemSchema,
} from '../catalog/value/item-schema.ts'
import { patternWords } from '../catalog/value/schema-problems.ts'

/** A field of an object: name, schema, and whether it is required. */
export type Field = [name: string, schema: ItemSchema, required: boolean]

/** Lists the fields of an object, or of the objects in a list. */
export function listFields(schema: ItemSchema): Field[] {
  const holder =
    schema.items === undefined
      ? schema
      : (schema.items.oneOf?.find((choice) => choice.type === 'object') ?? schema.items)
  return Object.entries(holder.properties ?? {}).map(([name, field]) => [
    name,
    field,
    holder.required?.includes(name) === true,
  ])
}

/** Describes type and allowed values in a few words, for a list of fields. */
export function describeType(schema: ItemSchema): string {
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ')
  const { list } = getAnnotations(schema)
  if (list !== undefined)
    return list === 'comma'
      ? 'list (or comma-separated text)'
      : 'list (or text with one entry per line)'
  if (schema.type === 'array')
    return schema.items?.enum === undefined
      ? 'list'
      : `list of ${schema.items.enum.map(String).join(' | ')}`
  return schema.type === 'boolean' ? 'true | false' : nameType(schema)
}

/** Names the type of a value, and of the entries of a list. */
export function nameType(schema: ItemSchema): string {
  switch (schema.type) {
    case 'integer':
      return 'whole number'
    case 'boolean':
      return 'true or false'
    case 'object':
      return 'object'
    case 'array':
      return listFields(schema).length > 0
        ? 'list of objects'
        : `list of ${nameType(schema.items ?? {})}`.replace(/number$/, 'numbers')
    default:
      return 'text'
  }
}

/** Describes the allowed values; null for an object, whose fields say more, and for any list. */
export function describeAllowed(schema: ItemSchema): string | null {
  const { minItems: min, maxItems: max } = schema
  switch (schema.type) {
    case 'object':
      return null
    case 'array': {
      const count = min === undefined && max === undefined ? null : describeCount(min, max)
      const entries = schema.items?.type === undefined ? null : describeAllowed(schema.items)
      const facts = [count, entries].filter((fact) => fact !== null)
      return facts.length === 0 ? null : facts.join('; ')
    }
    case 'boolean':
      return 'true | false'
    default:
      return schema.enum?.map(String).join(' | ') ?? describeScalar(schema)
  }
}

function describeCount(min: number | undefined, max: number | undefined): string {
  const least = min === undefined ? [] : [`at least ${min} ${min === 1 ? 'entry' : 'entries'}`]
  return [...least, ...(max === undefined ? [] : [`at most ${max} entries`])].join(', ')
}

function describeScalar(schema: ItemSchema): string {
  const { range, list, when, regexWhen, of, ofEnum } = getAnnotations(schema)
  if (range !== undefined) return describeRange('a whole number', range[0], range[1])
  if (schema.type === 'integer') {
    const { minimum = null, maximum = null } = schema
    return describeRange('', minimum, maximum) || 'any whole number'
  }
  if (list !== undefined) {
    const separator = list === 'comma' ? 'separated by commas' : 'one per line'
    const regex =
      regexWhen === undefined ? '' : `; a regular expression${describeCondition(regexWhen)}`
    const names = ofEnum === undefined ? '' : `. Each is one of: ${ofEnum.join(', ')}`
    const each = of === undefined ? '' : `. Each is ${formatWords[of]}`
    const entries = `entries ${separator}, or a YAML list${describeCondition(when)}`
    return `${entries}${regex}${names}${each}`
  }
  const words = formatWords[schema.format ?? ''] ?? patternWords[schema.pattern ?? '']
  return words ?? (schema.minLength === undefined ? 'any text' : 'any text that is not empty')
}

/** Describes a range in words: `from 5 to 300`, `at least 1`; empty without limits. */
function describeRange(what: string, min: number | null, max: number | null): string {
  if (min === null && max === null) return what
  const words = max === null ? `at least ${min}` : `${min ?? 0} to ${max}`
  if (what === '') return words
  return max === null ? `${what}, ${words}` : `${what} from ${words}`
}

function describeCondition(condition: FieldCondition | undefined): string {
  if (condition === undefined) return ''
  const values = condition.in.map(String)
  const last = values.pop() ?? ''
  const text = values.length === 0 ? last : `${values.join(', ')} or ${last}`
  return ` if ${condition.field} is ${text}`
}

/** Describes the default; null without one. */
export function describeDefault(schema: ItemSchema): string | null {
  if (getAnnotations(schema).keeps === true) return 'unchanged if omitted'
  if (schema.default === undefined) return null
  return schema.default === '' ? 'empty' : String(schema.default)
}
