import { formatPointerStep, isObject, type Json, type JsonObject } from '../../model/json.ts'
import { isSecret } from '../../model/secret.ts'

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
  /** Whether the text has several lines, and may have tabs. */
  lines?: boolean
  /** Whether order and duplicates have no meaning. */
  set?: boolean
  /**
   * Name of the field by which an array of objects is sorted; order matters only between equal
   * names.
   */
  sortBy?: string
  /** Field with the unit of this time; empty if it is in seconds. */
  time?: string
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

/** An object with its schema, by which the schemas of its fields are chosen. */
export interface Parent {
  schema: ItemSchema
  value: JsonObject
}

/** Returns the annotations of a schema, empty by default. */
export function getAnnotations(schema: ItemSchema): Annotations {
  return schema['x-edgewise'] ?? {}
}

/** Tests whether a field of a schema is the unit of a time. */
export function isUnit({ properties = {} }: ItemSchema, name: string): boolean {
  return Object.values(properties).some((field) => getAnnotations(field).time === name)
}

/**
 * Tests a condition on a sibling field in this object; an omitted field has its default.
 */
export function holds(condition: FieldCondition | undefined, parent: Parent | undefined): boolean {
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
export function findSeparator(schema: ItemSchema, parent?: Parent): ',' | '\n' | null {
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

/** Returns the schema of a field; undefined if it is unknown. */
export function getField({ properties = {} }: ItemSchema, name: string): ItemSchema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** Finds the schema of a value at steps of a pointer; undefined if it is unknown. */
export function findFieldSchema(
  schema: ItemSchema,
  steps: readonly string[],
): ItemSchema | undefined {
  return steps.reduce<ItemSchema | undefined>((outer, step) => {
    // A list may be added to one below it, or stand for a text with several entries.
    if (
      outer === undefined ||
      /^\$(ap|pre)pend$/.test(step) ||
      getAnnotations(outer).list !== undefined
    )
      return outer
    return listHolders(outer)
      .flatMap((each) => getField(each, step) ?? each.items ?? [])
      .at(0)
  }, schema)
}

/** A value that has no parts, or a secret, with its schema and the object that it is a field of. */
export interface Leaf {
  schema: ItemSchema
  value: Json
  pointer: string
  parent?: Parent
}

/** Lists the values below one that the schema knows. */
export function listLeaves(
  schema: ItemSchema,
  value: Json,
  pointer = '',
  parent?: Parent,
  found: Leaf[] = [],
): Leaf[] {
  const chosen = chooseAlternative(schema, value)
  if (Array.isArray(value)) {
    if (chosen.items === undefined) return found
    for (const [i, entry] of value.entries())
      listLeaves(chosen.items, entry, `${pointer}/${i}`, undefined, found)
  } else if (!isObject(value) || isSecret(value)) {
    found.push({ schema: chosen, value, pointer, parent })
  } else {
    const own = { schema: chosen, value }
    for (const [name, field] of Object.entries(value)) {
      const known = getField(chosen, name)
      if (known !== undefined)
        listLeaves(known, field, pointer + formatPointerStep(name), own, found)
    }
  }
  return found
}

/** Lists a schema and its alternatives. */
export function listHolders(schema: ItemSchema): ItemSchema[] {
  return schema.oneOf === undefined ? [schema] : [schema, ...schema.oneOf]
}

/** Lists the schemas of the fields and entries of a value, and its alternatives. */
export function listParts({ properties = {}, oneOf = [], items }: ItemSchema): ItemSchema[] {
  return [...Object.values(properties), ...oneOf, ...(items === undefined ? [] : [items])]
}

/** Collects the names of all fields of a schema at any depth. */
export function listFieldNames(schema: ItemSchema, names = new Set<string>()): Set<string> {
  for (const name of Object.keys(schema.properties ?? {})) names.add(name)
  for (const part of listParts(schema)) listFieldNames(part, names)
  return names
}

/** Tests whether a schema, or one within it at any depth, passes a test of its annotations. */
export function hasAnnotation(
  schema: ItemSchema,
  test: (annotations: Annotations) => boolean,
): boolean {
  return test(getAnnotations(schema)) || listParts(schema).some((part) => hasAnnotation(part, test))
}
