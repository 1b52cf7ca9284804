import { catalogue, unnamedItems } from '../../../core/catalog/catalogue.ts'
import { findExclusions } from '../../../core/catalog/conflicts.ts'
import type { DeltaForm, ItemSpec } from '../../../core/catalog/item-spec.ts'
import { unrecordedState } from '../../../core/model/item.ts'
import type { Json } from '../../../core/model/json.ts'
import { formatWords } from '../../../core/catalog/value/formats.ts'
import {
  getAnnotations,
  type FieldCondition,
  type ItemSchema,
} from '../../../core/catalog/value/item-schema.ts'
import { patternWords } from '../../../core/catalog/value/schema-problems.ts'

/** Extracts the first sentence of an item's description. */
export function extractFirstSentence(spec: ItemSpec): string {
  return /^.*?\.(?=\s|$)/s.exec(spec.schema.description ?? '')?.[0] ?? ''
}

/** Lists the rules of an item that hold beyond its fields, in sentences with `code`. */
export function listRules(spec: ItemSpec): string[] {
  const grouped = [...catalogue.values()]
    .filter((other) => other.group === spec.group && other !== spec)
    .map((other) => `\`${other.key}\``)
  return [
    ...(unnamedItems.includes(spec.key)
      ? [
          `Its wire name is not documented: configure it under \`service.itemKeys.${spec.key}\` ` +
            'in `edgewise.yaml`.',
        ]
      : []),
    ...findExclusions(spec.key).map(
      ({ other, severity, detail }) =>
        `Together with \`${other}\` it gets ${severity === 'error' ? 'an error' : 'a warning'}: ` +
        detail.replace(/(?<![.!?])$/, '.'),
    ),
    ...spec.clearedItems.map((other) => `Setting it empties \`${other}\`.`),
    ...(spec.keptFields.length > 0
      ? [
          `The service keeps ${spec.keptFields.map((name) => `\`${name}\``).join(' and ')} if a ` +
            'write omits them.',
        ]
      : []),
    ...(spec.hidesFields
      ? ['After an import, the values of fields that a query never shows are not known.']
      : []),
    spec.unset === undefined
      ? 'The service documents no reset: `{$unset: true}` needs an account with ' +
        '`service.unset`. Removed from a manifest, it is released: the service keeps its value.'
      : `\`{$unset: true}\` resets it${describeReset(spec)}. Removed from a manifest, it is ` +
        'released: the service keeps its value.',
    ...(spec.explainDestructive?.(null)
      ? [`Destructive changes need \`--allow ${spec.key}\`: ${spec.explainDestructive(null)}.`]
      : []),
    ...spec.deltaForms.map((form) => deltaSentences[form]),
    grouped.length === 0
      ? 'With `grouping.groups: documented` it shares a write with no other item.'
      : `With \`grouping.groups: documented\` it may share a write with ${grouped.join(', ')}.`,
  ]
}

const deltaSentences: Record<DeltaForm, string> = {
  append: 'Added entries are sent alone (form `append`) if that saves writes.',
  add: 'Added and changed headers are sent alone (form `add`) if that saves writes.',
  remove: 'Removed headers are sent alone (form `remove`) if that saves writes.',
  switch: 'Each write switches entries on or off, and leaves the others (form `switch`).',
}

function describeReset(spec: ItemSpec): string {
  const payload: Json | null = spec.unset?.(unrecordedState, 'www.example.com') ?? null
  return payload === null ? '' : ` by writing \`${JSON.stringify(payload)}\``
}

/** A field of an object: name, schema, and whether it is required. */
type Field = [name: string, schema: ItemSchema, required: boolean]

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

/**
 * Lists the facts of a field: type or values, range, required, default, secret, hidden.
 *
 * @param code formats values
 */
export function listFacts(
  schema: ItemSchema,
  required: boolean,
  code = (text: string): string => text,
): string[] {
  const fallback = describeDefault(schema)
  const isValue = schema.default !== undefined && schema.default !== ''
  return [
    ...describeValues(schema, code),
    ...(required ? ['required'] : []),
    ...(fallback === null
      ? []
      : [isValue ? `default ${code(fallback)}` : fallback.replace(/^empty$/, 'default empty')]),
    ...(schema.writeOnly === true ? ['secret'] : []),
    ...(getAnnotations(schema).hidden === true ? ['never shown by a query'] : []),
  ]
}

/** Describes the type of a field, and the allowed values if the type leaves them open. */
function describeValues(schema: ItemSchema, code: (text: string) => string): string[] {
  const values = (schema.enum ?? schema.items?.enum)?.map((value) => code(String(value)))
  if (values !== undefined)
    return [`${schema.type === 'array' ? 'list of ' : ''}${values.join(', ')}`]
  const type = nameType(schema).replace(/^list of text$/, 'list of texts')
  const allowed = schema.type === 'boolean' ? null : describeAllowed(schema)
  const isOpen = allowed === null || /^any (?:text|whole number)$/.test(allowed)
  return isOpen ? [type] : [type, allowed]
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
