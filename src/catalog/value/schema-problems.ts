import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Json } from '../../model/json.ts'
import { resolvePointer, formatPointerStep } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { refuseMissingField, refuse } from '../problems.ts'
import { formats, formatWords } from './formats.ts'
import type { ItemSchema } from './item-schema.ts'
import { didYouMean, findNearest } from './nearest.ts'
import { findRegexFault } from './regex.ts'

const compiled = new WeakMap<ItemSchema, ValidateFunction>()

/** Everything in which a value and its schema disagree, in sentences. */
export function findSchemaProblems(schema: ItemSchema, value: Json): Problem[] {
  let validate = compiled.get(schema)
  if (validate === undefined) {
    validate = ajv().compile(schema)
    compiled.set(schema, validate)
  }
  if (validate(value)) return []
  const errors = validate.errors ?? []
  // An entry that fits none of several shapes is told once, not once for each shape.
  const choices = errors
    .filter((error) => error.keyword === 'oneOf')
    .map((error) => error.instancePath)
  return errors
    .filter((error) => error.keyword === 'oneOf' || !choices.some((path) => within(error, path)))
    .map((error) => problemOf(error, schema, value))
}

let instance: Ajv2020 | undefined
function ajv(): Ajv2020 {
  if (instance !== undefined) return instance
  instance = new Ajv2020({
    allErrors: true,
    strict: true,
    strictRequired: false,
    validateSchema: false,
  })
  instance.addKeyword('x-edgewise')
  for (const [name, accepts] of Object.entries(formats)) instance.addFormat(name, accepts)
  instance.addFormat('regex-any', (text: string) => findRegexFault(text) === null)
  return instance
}

function within(error: ErrorObject, path: string): boolean {
  return error.instancePath.startsWith(path) && error.schemaPath.includes('/oneOf/')
}

function problemOf(error: ErrorObject, schema: ItemSchema, root: Json): Problem {
  const value = resolvePointer(root, error.instancePath)
  const params = error.params as Record<string, unknown>
  const say = (expected: string) =>
    refuse(error.instancePath, `expected ${expected}, got ${describeValue(value)}`)
  switch (error.keyword) {
    case 'required': {
      const field = String(params['missingProperty'])
      return refuseMissingField(error.instancePath, `the field "${field}" is required here`)
    }
    case 'additionalProperties': {
      const field = String(params['additionalProperty'])
      const known = Object.keys(schemaAt(schema, error.schemaPath).properties ?? {})
      const hint = didYouMean(field, known)
      const list = hint === '' ? ` It has: ${known.join(', ')}.` : hint
      const pointer = error.instancePath + formatPointerStep(field)
      return refuse(pointer, `there is no field "${field}".${list}`, 'unknown-field')
    }
    case 'type': {
      const fields = Object.keys(schemaAt(schema, error.schemaPath).properties ?? {})
      const withFields =
        fields.length === 0
          ? ''
          : ` (${fields.slice(0, 6).join(', ')}${fields.length > 6 ? ', …' : ''})`
      // Text in the place of fields that hold secrets may be one.
      const shownValue = holdsSecrets(schemaAt(schema, error.schemaPath))
        ? kindOf(value)
        : describeValue(value)
      const expected = `${typeWords[String(params['type'])] ?? String(params['type'])}${withFields}`
      return refuse(error.instancePath, `expected ${expected}, got ${shownValue}`)
    }
    case 'enum': {
      const allowed = (params['allowedValues'] as Json[]).map(String)
      const near = typeof value === 'string' ? findNearest(value, allowed) : null
      const hint = near === null ? '' : `. Did you mean "${near}"?`
      return refuse(
        error.instancePath,
        `expected ${oneOf(allowed)}, got ${describeValue(value)}${hint}`,
      )
    }
    case 'const':
      return say(describeValue(params['allowedValue'] as Json))
    case 'minimum':
    case 'exclusiveMinimum':
    case 'maximum':
      return say(`a number ${String(params['comparison'])} ${String(params['limit'])}`)
    case 'minLength':
      return refuse(error.instancePath, 'expected some text, got an empty string')
    case 'maxLength':
      return refuse(
        error.instancePath,
        `expected at most ${String(params['limit'])} characters, got ${String(value).length}`,
      )
    case 'minItems':
      return refuse(
        error.instancePath,
        `expected at least ${String(params['limit'])} entry, got an empty list`,
      )
    case 'maxItems':
      return refuse(
        error.instancePath,
        `expected at most ${String(params['limit'])} entries, got ${Array.isArray(value) ? value.length : 0}`,
      )
    case 'format':
      return createFormatProblem(error.instancePath, String(params['format']), value)
    case 'pattern':
      return say(`text that matches ${String(params['pattern'])}`)
    case 'oneOf':
      return say('one of the shapes that this list may hold (see "edgewise explain")')
    default:
      return refuse(error.instancePath, error.message ?? `the rule "${error.keyword}" is broken`)
  }
}

/** What is wrong with a string of a format. */
export function createFormatProblem(
  pointer: string,
  format: string,
  value: Json | undefined,
): Problem {
  const expected = formatWords[format] ?? format
  if (format !== 'regex-any')
    return refuse(pointer, `expected ${expected}, got ${describeValue(value)}`)
  return refuse(
    pointer,
    `expected ${expected} that some dialect can read, got ${describeValue(value)}: ${findRegexFault(String(value)) ?? 'malformed'}`,
  )
}

const typeWords: Record<string, string> = {
  integer: 'a whole number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with fields',
}

/** Whether a value of this schema has a field that always holds a secret. */
export function holdsSecrets(schema: ItemSchema): boolean {
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
  ]
  return schema.writeOnly === true || inner.some(holdsSecrets)
}

function kindOf(value: Json | undefined): string {
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' ? 'a number' : describeValue(value)
}

function oneOf(allowed: string[]): string {
  const words = allowed.map((word) => `"${word}"`)
  return words.length === 1 ? (words[0] ?? '') : `one of ${words.join(', ')}`
}

/** A value as messages show it: short, in JSON, and its kind where that says more. */
export function describeValue(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text
}

/**
 * The schema that holds the keyword at an Ajv schema path such as
 * `#/items/properties/configs/additionalProperties`.
 */
function schemaAt(schema: ItemSchema, path: string): ItemSchema {
  let at: unknown = schema
  for (const step of path.split('/').slice(1, -1)) {
    at = (at as Record<string, unknown>)[
      decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    ]
  }
  return at as ItemSchema
}
