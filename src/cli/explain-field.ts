import { stringify } from 'yaml'
import type { ItemSpec } from '../catalog/item-spec.ts'
import type { ItemSchema } from '../catalog/value/item-schema.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { isObject, type Json } from '../model/json.ts'
import type { Paint } from '../report/text/paint.ts'
import { wrap } from '../report/text/wrap.ts'
import { describeAllowed, describeDefault, listFields, nameType } from './describe-schema.ts'

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

/** Formats type and allowed values of an item or a field, and more facts, one a line. */
export function formatFacts(
  schema: ItemSchema,
  more: [name: string, text: string][],
  paint: Paint,
  columns: number,
): string {
  const allowed = describeAllowed(schema)
  const facts: [string, string][] = [
    ['Type', nameType(schema)],
    ...(allowed === null ? [] : [['Allowed', allowed] satisfies [string, string]]),
    ...more,
  ]
  const indent = ' '.repeat(10)
  return facts
    .map(([name, text]) => paint.bold(name.padEnd(10)) + wrap(text, columns, indent).trimStart())
    .join('\n')
}

/** Formats the page of one field; the parts are separated by blank lines. */
export function formatFieldPage(
  spec: ItemSpec,
  path: string[],
  { schema, required, isOfEntry }: FoundField,
  fieldTexts: string[],
  paint: Paint,
  columns: number,
): string {
  const need = required ? `yes${isOfEntry ? ', in each entry' : ''}` : 'no'
  const facts: [string, string][] = [
    ...(schema.type === 'object'
      ? []
      : [['Default', describeDefault(schema) ?? 'none'] satisfies [string, string]]),
    ['Required', need],
    ...(schema.writeOnly === true
      ? [['Secret', 'yes: write ${secret:NAME}'] satisfies [string, string]]
      : []),
  ]
  const name = path.at(-1) ?? ''
  const example = stringify({ [name]: findExample(spec, path, schema) }, { lineWidth: 0 })
  const parts = [
    paint.bold([spec.key, ...path].join('.')),
    wrap(schema.description ?? '', columns, ''),
    formatFacts(schema, facts, paint, columns),
    ...(fieldTexts.length === 0
      ? []
      : [`${paint.bold('Fields')}\n${fieldTexts.join('')}`.trimEnd()]),
    `${paint.bold('Example')}\n${example.trimEnd().replaceAll(/^/gm, '  ')}`,
    `"edgewise explain ${spec.key}" shows the whole item.`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** Finds an example of a field: its own, that of the item, its default, or its first choice. */
function findExample(spec: ItemSpec, path: string[], schema: ItemSchema): Json {
  const value = schema.examples?.[0] ?? findValue(spec.schema.examples?.[0] ?? null, path)
  if (value !== undefined) return value
  if (schema.type === 'object') return buildObjectExample(spec, path, schema)
  return schema.default ?? schema.enum?.[0] ?? null
}

/** Builds an example with the required fields of an object. */
function buildObjectExample(spec: ItemSpec, path: string[], schema: ItemSchema): Json {
  return Object.fromEntries(
    listFields(schema)
      .filter(([, , required]) => required)
      .map(([name, field]) => [name, findExample(spec, [...path, name], field)]),
  )
}

/** Finds the value at a path; in a list, that of the first entry that has it. */
function findValue(value: Json, path: string[]): Json | undefined {
  const [name, ...rest] = path
  if (name === undefined) return value
  if (Array.isArray(value)) {
    const found = value.map((entry) => findValue(entry, path))
    return found.find((entry) => entry !== undefined)
  }
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
  return findValue(value[name] ?? null, rest)
}
