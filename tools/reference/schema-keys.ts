import { formatCode, formatProse } from './markdown.ts'

/** The part of JSON Schema (draft 2020-12) that the pages describe. */
export interface Schema {
  title?: string
  description?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  oneOf?: Schema[]
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  $ref?: string
  $defs?: Record<string, Schema>
  'x-expected'?: string
}

/** How keys are listed. */
export interface KeyStyle {
  /** Adds the path of the parent to names, as in `service.url`. */
  paths: boolean
}

const outline: Record<string, string> = {
  integer: 'whole number',
  string: 'text',
  boolean: '`true` or `false`',
  object: 'mapping',
  number: 'number',
  null: '`null`',
  array: 'list',
}

/** Lists the keys of an object, and those of the objects in it, as nested bullets. */
export function formatKeys(schema: Schema, style: KeyStyle, path = '', indent = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const name = style.paths && path !== '' ? `${path}.${key}` : key
    const mark = schema.required?.includes(key) === true ? ['required'] : []
    const facts = [describeType(part), ...mark, ...describeDefault(part)]
    const text = `(${facts.join('; ')}). ${describeWhole(part)}`.trimEnd()
    return [
      formatProse(text, `${indent}- ${formatCode(name)} `, `${indent}  `),
      ...formatParts(part, style, name, `${indent}  `),
    ]
  })
}

/** Lists the keys of the objects that a value consists of. */
export function formatParts(part: Schema, style: KeyStyle, path: string, indent = ''): string[] {
  const inner =
    part.items ?? (typeof part.additionalProperties === 'object' ? part.additionalProperties : part)
  const step = inner === part ? '' : part.items === undefined ? '.NAME' : '[]'
  if (inner !== part)
    return [
      // A list, or a mapping in its place.
      ...(part.items === undefined ? [] : formatKeys(part, style, path, indent)),
      ...formatParts(inner, style, `${path}${step}`, indent),
    ]
  // Alternatives of an object with keys only restrict them.
  const choices = part.properties === undefined ? (part.oneOf ?? []) : [part]
  return choices.flatMap((choice) => formatKeys(choice, style, path, indent))
}

/** Describes a value and, if they have one of their own, its entries. */
function describeWhole(part: Schema): string {
  const description = part.description ?? ''
  const entries = typeof part.additionalProperties === 'object' ? part.additionalProperties : null
  const ofEach = entries?.description ?? ''
  const isNew = ofEach !== '' && !ofEach.startsWith('Value of ')
  return isNew ? `${description} Each value: ${ofEach}` : description
}

/** Describes the type and the range of a value, in Markdown. */
export function describeType(part: Schema): string {
  if (part.$ref !== undefined) {
    const name = part.$ref.split('/').at(-1) ?? ''
    return `[${name}](#${name})`
  }
  if (part.const !== undefined) return formatCode(JSON.stringify(part.const))
  if (part.enum !== undefined) return joinChoices(part.enum.map((value) => formatValue(value)))
  const expected = getExpected(part)
  if (expected !== null) return expected
  const choices = part.oneOf ?? part.anyOf
  if (choices !== undefined && part.type === undefined)
    return joinChoices([...new Set(choices.map(describeType))])
  if (part.type === 'array') return `list${describeEntries(part.items)}${describeLength(part)}`
  if (Array.isArray(part.type)) return joinChoices(part.type.map(describeTypeName))
  return describeTypeName(part.type ?? '') + describeRange(part)
}

/** Returns what the program expects, by its own messages; null if that is any text. */
function getExpected(part: Schema): string | null {
  const expected = part['x-expected']?.replace(/^(?:an?|the) /, '') ?? null
  return expected === 'some text' || expected === 'string' ? null : expected
}

function describeTypeName(type: string): string {
  return outline[type] ?? 'any value'
}

function describeEntries(items: Schema | undefined): string {
  if (items === undefined) return ''
  const expected = getExpected(items)
  if (expected !== null) return `; each entry: ${expected}`
  const type = describeType(items)
  return ` of ${plural[type] ?? type}`
}

const plural: Record<string, string> = {
  text: 'texts',
  mapping: 'mappings',
  'whole number': 'whole numbers',
}

function describeLength({ minItems, maxItems }: Schema): string {
  if (maxItems !== undefined) return `, at most ${maxItems}`
  return minItems === undefined ? '' : ', not empty'
}

/** Describes a range; a minimum of 0 or 1 alone is what one expects of a number. */
function describeRange({ minimum, maximum }: Schema): string {
  if (maximum !== undefined) return ` from ${minimum ?? 0} to ${maximum}`
  return minimum === undefined || minimum <= 1 ? '' : `, at least ${minimum}`
}

/** Describes the default, unless it is an empty mapping. */
export function describeDefault({ default: value }: Schema): string[] {
  if (value === undefined || JSON.stringify(value) === '{}') return []
  return [`default ${formatValue(value)}`]
}

function formatValue(value: unknown): string {
  return formatCode(typeof value === 'string' ? value : JSON.stringify(value))
}

function joinChoices(choices: string[]): string {
  return choices.length < 2
    ? (choices[0] ?? '')
    : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1) ?? ''}`
}
