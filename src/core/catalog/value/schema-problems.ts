import { inputLimits } from '../../model/input-limits.ts'
import { resolvePointer, formatPointerStep, type Json } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import type { SchemaError } from '../../model/text/schema-fault.ts'
import { describeMissingField, describeRefusal } from '../problems.ts'
import { formatWords, isDomain, suggestName } from './formats.ts'
import { findIpVersion } from './ip-version.ts'
import { listParts, type ItemSchema } from './item-schema.ts'
import { didYouMean } from './nearest.ts'
import { findRegexFault } from './regex.ts'

/** Describes the violations of a schema by a value, as sentences: the first thousands of them. */
export function describeSchemaErrors(
  found: SchemaError[],
  schema: ItemSchema,
  value: Json,
): Problem[] {
  const errors = selectAlternatives(found.slice(0, inputLimits.problems), schema)
  const listed = new Set(
    errors.filter(({ keyword }) => keyword === 'enum').map(({ instancePath }) => instancePath),
  )
  return (
    errors
      // The allowed values show the type.
      .filter((error) => error.keyword !== 'type' || !listed.has(error.instancePath))
      .map((error) => createProblem(error, schema, value))
  )
}

/**
 * Selects for each entry that matches none of several alternatives the violations of the only one
 * of its type; or else one for all alternatives.
 */
function selectAlternatives(errors: SchemaError[], schema: ItemSchema): SchemaError[] {
  /** The alternatives of another type, by the pointer of the entry. */
  const mistyped = new Map<string, Set<number>>()
  for (const { keyword, instancePath } of errors)
    if (keyword === 'oneOf') mistyped.set(instancePath, new Set())
  if (mistyped.size === 0) return errors
  const places = errors.map((error) => findAlternative(error, mistyped))
  errors.forEach(({ keyword, instancePath }, i) => {
    const { entry, branch } = places[i] ?? {}
    if (keyword === 'type' && entry === instancePath && branch !== undefined)
      mistyped.get(entry)?.add(branch)
  })
  const isDecided = (entry: string, path: string) => {
    const { length } = findSchema(schema, `${path}/`).oneOf ?? []
    return length - (mistyped.get(entry)?.size ?? 0) === 1
  }
  return errors.filter(({ keyword, instancePath, schemaPath }, i) => {
    const { entry, branch, path = '' } = places[i] ?? {}
    if (keyword === 'oneOf') return !isDecided(instancePath, getParent(schemaPath))
    if (entry === undefined || branch === undefined) return true
    return isDecided(entry, path) && mistyped.get(entry)?.has(branch) !== true
  })
}

/** Finds the alternative that a violation is of: the entry, its schema, and the number. */
function findAlternative(
  { instancePath, schemaPath }: SchemaError,
  entries: ReadonlyMap<string, unknown>,
): { entry?: string; path?: string; branch?: number } {
  const [, path, branch] = /^(.*?)\/oneOf\/(\d+)\//.exec(schemaPath) ?? []
  if (path === undefined) return {}
  let entry = instancePath
  while (!entries.has(entry) && entry !== '') entry = getParent(entry)
  return { entry, path, branch: Number(branch) }
}

function getParent(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf('/'))
}

/** Violation of a keyword, with the value and the schema at its place. */
interface Violation {
  pointer: string
  params: SchemaError['params']
  value: Json | undefined
  schema: ItemSchema
}

function createProblem(error: SchemaError, schema: ItemSchema, root: Json): Problem {
  const { instancePath: pointer, params, keyword } = error
  const create = creators[keyword]
  if (create === undefined) return describeRefusal(pointer, `the rule "${keyword}" is violated`)
  const value = resolvePointer(root, pointer)
  return create({ pointer, params, value, schema: findSchema(schema, error.schemaPath) })
}

/** Creators of problems, by keyword. */
const creators: Partial<Record<string, (violation: Violation) => Problem>> = {
  required: ({ pointer, params }) =>
    describeMissingField(
      pointer,
      `the field "${String(params['missingProperty'])}" is required here`,
    ),
  additionalProperties: createFieldProblem,
  type: createTypeProblem,
  enum: createEnumProblem,
  const: (violation) =>
    refuseValue(violation, describeValue(violation.params['allowedValue'] as Json)),
  minimum: createRangeProblem,
  maximum: createRangeProblem,
  minLength: (violation) => refuseValue(violation, 'some text', 'an empty string'),
  maxLength: (violation) =>
    refuseValue(
      violation,
      `at most ${String(violation.params['limit'])} characters`,
      String(String(violation.value).length),
    ),
  minItems: (violation) =>
    refuseValue(violation, `at least ${String(violation.params['limit'])} entry`, 'an empty list'),
  maxItems: (violation) => {
    const { params, value } = violation
    const count = Array.isArray(value) ? value.length : 0
    return refuseValue(violation, `at most ${String(params['limit'])} entries`, String(count))
  },
  format: ({ pointer, params, value }) =>
    createFormatProblem(pointer, String(params['format']), value),
  pattern: (violation) => {
    const pattern = String(violation.params['pattern'])
    return refuseValue(violation, patternWords[pattern] ?? `text that matches ${pattern}`)
  },
  oneOf: (violation) =>
    refuseValue(violation, 'an entry in one of the allowed forms (see "edgewise explain")'),
}

function refuseValue(
  { pointer, value }: Violation,
  expected: string,
  got = describeValue(value),
): Problem {
  return describeRefusal(pointer, `expected ${expected}, got ${got}`)
}

function createFieldProblem({ pointer, params, schema }: Violation): Problem {
  const field = String(params['additionalProperty'])
  const known = Object.keys(schema.properties ?? {})
  const hint = didYouMean(field, known)
  const list = hint === '' ? ` Known fields: ${known.join(', ')}.` : hint
  const text = `there is no field "${field}".${list}`
  return describeRefusal(pointer + formatPointerStep(field), text, 'unknown-field')
}

function createTypeProblem(violation: Violation): Problem {
  const { params, value, schema } = violation
  const type = String(params['type'])
  const fields = Object.keys(schema.properties ?? {})
  const expected = (typeWords[type] ?? type) + formatNames(fields)
  // Text in place of an object with secret fields may be a secret.
  const got = holdsSecrets(schema) ? describeKind(value) : describeValue(value)
  const hint = type === 'boolean' ? suggestAllowed(value, ['true', 'false']) : ''
  return refuseValue(violation, expected, got + hint)
}

function createEnumProblem(violation: Violation): Problem {
  const { params, value } = violation
  const allowed = (params['allowedValues'] as Json[]).map(String)
  const got = describeValue(value) + suggestAllowed(value, allowed)
  return refuseValue(violation, joinAlternatives(allowed), got)
}

function createRangeProblem(violation: Violation): Problem {
  const { comparison, limit } = violation.params
  return refuseValue(violation, `a number ${String(comparison)} ${String(limit)}`)
}

/** Returns `. Did you mean "x"?` with the allowed value that was meant, or an empty string. */
export function suggestAllowed(value: Json | undefined, allowed: string[]): string {
  const words = switches.find((each) => each.includes(String(value).toLowerCase())) ?? []
  const meant = words.find((word) => allowed.includes(word))
  const slip = typeof value === 'string' ? didYouMean(value, allowed) : ''
  const hint = meant === undefined ? slip : ` Did you mean "${meant}"?`
  return hint && `.${hint}`
}

/** Words that mean the same. */
const switches = [
  ['on', 'yes', 'true'],
  ['off', 'no', 'false'],
]

/** Creates the problem of a string that does not match a format. */
export function createFormatProblem(
  pointer: string,
  format: string,
  value: Json | undefined,
): Problem {
  const expected = formatWords[format] ?? format
  const text = String(value)
  const name = /domain|address|host/.test(format) ? suggestName(text, isDomain) : ''
  const fault =
    format === 'regex-any'
      ? `: ${findRegexFault(text) ?? 'malformed'}`
      : explainNetwork(text) || name
  return describeRefusal(pointer, `expected ${expected}, got ${describeValue(value)}${fault}`)
}

/** Explains how to write a network that the service does not support; empty for other text. */
function explainNetwork(text: string): string {
  const [, address = '', bits] = /^(.*)\/(\d+)$/.exec(text) ?? []
  const prefix = Number(bits)
  if (findIpVersion(address) !== 4 || prefix > 32) return ''
  if (prefix === 32) return `. Write "${address}" for a single address.`
  const size = [8, 16, 24].find((each) => each > prefix)
  return size === undefined
    ? `. List its ${2 ** (32 - prefix)} addresses.`
    : `. Split it into ${2 ** (size - prefix)} networks of /${size}.`
}

/** Expected values of the patterns, in words for messages. */
export const patternWords: Record<string, string> = {
  '^(0|[1-9][0-9]*)$': 'a whole number such as 60',
  '^[^&=?#\\s]+$': 'a name without blanks, "&", "=", "?" and "#"',
  '^[A-Za-z_][A-Za-z0-9_]*$': 'a name of letters, digits and "_" that begins with no digit',
  ['^(\\$ourkey\\$uri\\$time|\\$ourkey\\$time\\$uri|\\$uri\\$ourkey\\$time' +
  '|\\$uri\\$time\\$ourkey|\\$time\\$ourkey\\$uri|\\$time\\$uri\\$ourkey)$']:
    'an order of $ourkey, $uri and $time such as $ourkey$uri$time',
  '^/': 'a path that begins with "/"',
  '^/\\S*$': 'a path that begins with "/" and has no blanks',
  '^([01][0-9]|2[0-3]):[0-5][0-9]$': 'a time such as 08:30',
}

/** Values of each type of a schema, in words. */
export const typeWords: Record<string, string> = {
  integer: 'a whole number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with fields',
}

/** Formats some names in brackets; empty without any. */
export function formatNames(names: string[]): string {
  const some = names.slice(0, 6).join(', ') + (names.length > 6 ? ', …' : '')
  return some === '' ? '' : ` (${some})`
}

/** Tests whether a value of this schema has a secret field. */
export function holdsSecrets(schema: ItemSchema): boolean {
  return schema.writeOnly === true || listParts(schema).some(holdsSecrets)
}

function describeKind(value: Json | undefined): string {
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' ? 'a number' : describeValue(value)
}

/** Formats allowed values: `one of "a", "b"`. */
export function joinAlternatives(allowed: string[]): string {
  const words = allowed.map((word) => `"${word}"`)
  return words.length === 1 ? (words[0] ?? '') : `one of ${words.join(', ')}`
}

/** Describes a value for a message: short, in JSON, or by its kind. */
export function describeValue(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text
}

/**
 * Finds the schema with the keyword at a schema path of ajv such as
 * `#/items/properties/configs/additionalProperties`.
 */
export function findSchema<Schema>(schema: Schema, path: string): Schema {
  let node: unknown = schema
  for (const step of path.split('/').slice(1, -1)) {
    node = (node as Record<string, unknown>)[
      decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    ]
  }
  return node as Schema
}
