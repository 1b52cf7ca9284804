import type { Json } from '../../model/json.ts'

/**
 * The part of JSON Schema (draft 2020-12) that the items' schemas use, with `x-edgewise` for rules
 * that JSON Schema can't express.
 */
export interface ItemSchema {
  $schema?: string
  title?: string
  description?: string
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  properties?: Record<string, ItemSchema>
  required?: string[]
  additionalProperties?: boolean
  items?: ItemSchema
  oneOf?: ItemSchema[]
  enum?: Json[]
  const?: Json
  default?: Json
  examples?: Json[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  format?: string
  writeOnly?: boolean
  'x-edgewise'?: Annotations
}

/** A condition on a sibling field: its value (or its default) is one of these. */
export interface FieldCondition {
  field: string
  in: Json[]
}

export interface Annotations {
  /**
   * Separator of a string with several entries; a manifest may give a YAML list. `when` limits it
   * to some kinds of rule.
   */
  list?: 'comma' | 'newline'
  when?: FieldCondition
  /** Format of each entry of `list`. */
  of?: string
  /** Allowed entries of `list`. */
  ofEnum?: string[]
  /** Condition under which entries are paths; an entry without a leading "/" gets a warning. */
  pathsWhen?: FieldCondition
  /** Condition under which this string is a regular expression. */
  regexWhen?: FieldCondition
  /** Whether order and duplicates have no meaning. */
  set?: boolean
  /**
   * Name of the field by which an array of objects is sorted; order matters only between equal
   * names.
   */
  sortBy?: string
  /** Range of a numeric string. */
  range?: [number | null, number | null]
  /**
   * Whether an empty string is the same as omitting the field (unless the sibling condition is
   * met).
   */
  emptyIsDefault?: boolean | { unless: FieldCondition }
  /** Whether the service leaves the field unchanged when a payload omits it. */
  keeps?: boolean
  /** Whether a query never shows the field, and a write without it resets it. */
  hidden?: boolean
}

/** Tests whether a schema is that of texts of any form, for which a secret may stand. */
export function isFreeText({ type, enum: words, pattern }: ItemSchema): boolean {
  return type === 'string' && words === undefined && pattern === undefined
}

/** Returns the annotations of a schema, empty by default. */
export function getAnnotations(schema: ItemSchema): Annotations {
  return schema['x-edgewise'] ?? {}
}

/**
 * Tests a condition on a sibling field in this object; an omitted field has its default.
 */
export function holds(
  condition: FieldCondition | undefined,
  parent: { schema: ItemSchema; value: Record<string, Json> } | undefined,
): boolean {
  if (condition === undefined) return true
  if (parent === undefined) return false
  const explicit = Object.hasOwn(parent.value, condition.field)
    ? parent.value[condition.field]
    : undefined
  const value = explicit ?? parent.schema.properties?.[condition.field]?.default
  // A list or an object never matches: conditions name scalars, and it may have no text form.
  return (
    value !== undefined &&
    typeof value !== 'object' &&
    condition.in.some((entry) => String(entry) === String(value))
  )
}

/**
 * Finds the separator of a string of this schema in its parent object; null if it is not a list.
 */
export function findSeparator(
  schema: ItemSchema,
  parent?: { schema: ItemSchema; value: Record<string, Json> },
): ',' | '\n' | null {
  const { list, when } = getAnnotations(schema)
  if (list === undefined || !holds(when, parent)) return null
  return list === 'comma' ? ',' : '\n'
}

/** Splits a list string into trimmed entries; an empty string has none. */
export function splitEntries(text: string, by: ',' | '\n'): string[] {
  if (text === '') return []
  const entries = text.split(by).map((entry) => entry.trim())
  return by === '\n' ? entries.filter((entry) => entry !== '') : entries
}

/**
 * Chooses the alternative of a `oneOf` for a value of this kind; without alternatives the schema
 * itself.
 */
export function chooseAlternative(schema: ItemSchema, value: Json): ItemSchema {
  if (schema.oneOf === undefined) return schema
  const kind = Array.isArray(value) ? 'array' : typeof value === 'object' ? 'object' : 'string'
  return schema.oneOf.find((choice) => choice.type === kind) ?? schema
}

/** Collects the names of all fields of a schema at any depth. */
export function listFieldNames(schema: ItemSchema, names = new Set<string>()): Set<string> {
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    listFieldNames(field, names.add(name))
  for (const part of [
    ...(schema.oneOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ])
    listFieldNames(part, names)
  return names
}
