import type { Json } from '../../model/json.ts'

/**
 * The part of JSON Schema (draft 2020-12) that the items' schemas use, and `x-edgewise` for what it
 * can't say.
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
  exclusiveMinimum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  format?: string
  writeOnly?: boolean
  'x-edgewise'?: Annotations
}

/** A condition on the field beside: its value (or its default) is one of these. */
export interface FieldCondition {
  field: string
  in: Json[]
}

export interface Annotations {
  /**
   * This string holds several entries; a manifest may give a YAML list. `when` limits that to some
   * kinds of rule.
   */
  list?: 'comma' | 'newline'
  when?: FieldCondition
  /** Format of each entry of `list`. */
  of?: string
  /** The only entries that `list` may hold. */
  ofEnum?: string[]
  /** Entries of a list that begin otherwise get a warning: they are paths. */
  pathsWhen?: FieldCondition
  /** This string is a regular expression when the field beside says so. */
  regexWhen?: FieldCondition
  /** Order and duplicates mean nothing. */
  set?: boolean
  /** An array of objects whose order means nothing but between equal names. */
  sortBy?: string
  /** Range of a numeric string. */
  range?: [number | null, number | null]
  /**
   * An empty string is the same as leaving the field out (unless the field beside says otherwise).
   */
  emptyIsDefault?: boolean | { unless: FieldCondition }
  /** The service leaves the field as it is when a payload omits it. */
  keeps?: boolean
}

/** The annotations of a schema; none is the same as an empty set of them. */
export function getAnnotations(schema: ItemSchema): Annotations {
  return schema['x-edgewise'] ?? {}
}

/**
 * Whether a condition on the field beside holds in this object; the field's default counts where it
 * is left out.
 */
export function holds(
  condition: FieldCondition | undefined,
  parent: { schema: ItemSchema; value: Record<string, Json> } | undefined,
): boolean {
  if (condition === undefined) return true
  if (parent === undefined) return false
  const given = Object.hasOwn(parent.value, condition.field)
    ? parent.value[condition.field]
    : undefined
  const value = given ?? parent.schema.properties?.[condition.field]?.default
  // A list or an object is none of the values that a condition names, and may not even have a text.
  return (
    value !== undefined &&
    typeof value !== 'object' &&
    condition.in.some((entry) => String(entry) === String(value))
  )
}

/** Whether a string of this schema holds a list, given the object it stands in. */
export function findSeparator(
  schema: ItemSchema,
  parent?: { schema: ItemSchema; value: Record<string, Json> },
): ',' | '\n' | null {
  const { list, when } = getAnnotations(schema)
  if (list === undefined || !holds(when, parent)) return null
  return list === 'comma' ? ',' : '\n'
}

/** The entries of a list string: blanks around them don't count, an empty string has none. */
export function splitEntries(text: string, by: ',' | '\n'): string[] {
  if (text === '') return []
  const entries = text.split(by).map((entry) => entry.trim())
  return by === '\n' ? entries.filter((entry) => entry !== '') : entries
}

/**
 * The alternative of a `oneOf` that a value of this kind belongs to; the schema itself where there
 * is no choice.
 */
export function chooseAlternative(schema: ItemSchema, value: Json): ItemSchema {
  if (schema.oneOf === undefined) return schema
  const kind = Array.isArray(value) ? 'array' : typeof value === 'object' ? 'object' : 'string'
  return schema.oneOf.find((choice) => choice.type === kind) ?? schema
}

/** The names of all fields that a schema knows, however deep. */
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
