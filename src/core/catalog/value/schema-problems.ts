import { inputLimits } from '../../model/input-limits.ts'
import type { Json } from '../../model/json.ts'
import { resolvePointer, formatPointerStep } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import type { SchemaError } from '../../model/text/schema-fault.ts'
import { describeMissingField, describeRefusal } from '../problems.ts'
import { formatWords } from './formats.ts'
import type { ItemSchema } from './item-schema.ts'
import { didYouMean } from './nearest.ts'
import { findRegexFault } from './regex.ts'

/** Describes the violations of a schema by a value, as sentences: the first thousands of them. */
export function describeSchemaErrors(
  found: SchemaError[],
  schema: ItemSchema,
  value: Json,
): Problem[] {
  const errors = found.slice(0, inputLimits.problems)
  // An entry that matches none of several alternatives is reported once, not per alternative.
  const choices = errors
    .filter((error) => error.keyword === 'oneOf')
    .map((error) => error.instancePath)
  const listed = new Set(
    errors.filter(({ keyword }) => keyword === 'enum').map(({ instancePath }) => instancePath),
  )
  return (
    errors
      .filter(
        (error) => error.keyword === 'oneOf' || !choices.some((path) => isInside(error, path)),
      )
      // The allowed values show the type.
      .filter((error) => error.keyword !== 'type' || !listed.has(error.instancePath))
      .map((error) => createProblem(error, schema, value))
  )
}

function isInside(error: SchemaError, path: string): boolean {
  return error.instancePath.startsWith(path) && error.schemaPath.includes('/oneOf/')
}

function createProblem(error: SchemaError, schema: ItemSchema, root: Json): Problem {
  const value = resolvePointer(root, error.instancePath)
  const { params } = error
  const refuseExpected = (expected: string) =>
    describeRefusal(error.instancePath, `expected ${expected}, got ${describeValue(value)}`)
  switch (error.keyword) {
    case 'required': {
      const field = String(params['missingProperty'])
      return describeMissingField(error.instancePath, `the field "${field}" is required here`)
    }
    case 'additionalProperties': {
      const field = String(params['additionalProperty'])
      const known = Object.keys(findSchema(schema, error.schemaPath).properties ?? {})
      const hint = didYouMean(field, known)
      const list = hint === '' ? ` Known fields: ${known.join(', ')}.` : hint
      const pointer = error.instancePath + formatPointerStep(field)
      return describeRefusal(pointer, `there is no field "${field}".${list}`, 'unknown-field')
    }
    case 'type': {
      const fields = Object.keys(findSchema(schema, error.schemaPath).properties ?? {})
      const withFields =
        fields.length === 0
          ? ''
          : ` (${fields.slice(0, 6).join(', ')}${fields.length > 6 ? ', …' : ''})`
      // Text in place of an object with secret fields may be a secret.
      const shownValue = holdsSecrets(findSchema(schema, error.schemaPath))
        ? describeKind(value)
        : describeValue(value)
      const expected = `${typeWords[String(params['type'])] ?? String(params['type'])}${withFields}`
      return describeRefusal(error.instancePath, `expected ${expected}, got ${shownValue}`)
    }
    case 'enum': {
      const allowed = (params['allowedValues'] as Json[]).map(String)
      const hint = suggestAllowed(value, allowed)
      return describeRefusal(
        error.instancePath,
        `expected ${joinAlternatives(allowed)}, got ${describeValue(value)}` +
          (hint === '' ? '' : `.${hint}`),
      )
    }
    case 'const':
      return refuseExpected(describeValue(params['allowedValue'] as Json))
    case 'minimum':
    case 'maximum':
      return refuseExpected(`a number ${String(params['comparison'])} ${String(params['limit'])}`)
    case 'minLength':
      return describeRefusal(error.instancePath, 'expected some text, got an empty string')
    case 'maxLength':
      return describeRefusal(
        error.instancePath,
        `expected at most ${String(params['limit'])} characters, got ${String(value).length}`,
      )
    case 'minItems':
      return describeRefusal(
        error.instancePath,
        `expected at least ${String(params['limit'])} entry, got an empty list`,
      )
    case 'maxItems':
      return describeRefusal(
        error.instancePath,
        `expected at most ${String(params['limit'])} entries, got ` +
          `${Array.isArray(value) ? value.length : 0}`,
      )
    case 'format':
      return createFormatProblem(error.instancePath, String(params['format']), value)
    case 'pattern':
      return refuseExpected(
        patternWords[String(params['pattern'])] ?? `text that matches ${String(params['pattern'])}`,
      )
    case 'oneOf':
      return refuseExpected('an entry in one of the allowed forms (see "edgewise explain")')
    default:
      return describeRefusal(error.instancePath, `the rule "${error.keyword}" is violated`)
  }
}

/** Returns ` Did you mean "x"?` with the allowed value that was meant, or an empty string. */
export function suggestAllowed(value: Json | undefined, allowed: string[]): string {
  if (typeof value === 'string') return didYouMean(value, allowed)
  const words = value === true ? ['on', 'yes'] : value === false ? ['off', 'no'] : []
  const meant = words.find((word) => allowed.includes(word))
  return meant === undefined ? '' : ` Did you mean "${meant}"?`
}

/** Creates the problem of a string that does not match a format. */
export function createFormatProblem(
  pointer: string,
  format: string,
  value: Json | undefined,
): Problem {
  const expected = formatWords[format] ?? format
  const fault = format === 'regex-any' ? `: ${findRegexFault(String(value)) ?? 'malformed'}` : ''
  return describeRefusal(pointer, `expected ${expected}, got ${describeValue(value)}${fault}`)
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

const typeWords: Record<string, string> = {
  integer: 'a whole number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with fields',
}

/** Tests whether a value of this schema has a secret field. */
export function holdsSecrets(schema: ItemSchema): boolean {
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
  ]
  return schema.writeOnly === true || inner.some(holdsSecrets)
}

function describeKind(value: Json | undefined): string {
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' ? 'a number' : describeValue(value)
}

function joinAlternatives(allowed: string[]): string {
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
