import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { didYouMean } from '../catalog/value/nearest.ts'
import { describeValue } from '../catalog/value/schema-problems.ts'
import { workspaceSchema } from '../generated/file-schemas.ts'
import { resolvePointer, formatPointerStep, type Json } from '../model/json.ts'
import type { Finding } from './finding.ts'

/** Not built yet, and not to be confused with a typing error. */
const reserved = ['postgres', 'rewriteUnchanged']

/**
 * Everything in which the workspace file and its schema disagree; the schema's defaults are written
 * into `value`. `written` is the same content before the environment was read: messages show that
 * one, since the other may hold a token.
 */
export function checkShape(value: Json, written: Json): Finding[] {
  const validate = compiled()
  if (validate(value)) return []
  const errors = validate.errors ?? []
  const choices = errors
    .filter((error) => error.keyword === 'anyOf')
    .map((error) => error.instancePath)
  return errors
    .filter(
      (error) =>
        error.propertyName === undefined &&
        !choices.some(
          (path) => error.instancePath.startsWith(path) && error.schemaPath.includes('/anyOf/'),
        ),
    )
    .map((error) => findingOf(error, resolvePointer(written, error.instancePath)))
}

let validator: ValidateFunction | undefined
function compiled(): ValidateFunction {
  if (validator !== undefined) return validator
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    useDefaults: true,
    verbose: true,
    validateSchema: false,
  })
  ajv.addKeyword('x-expected')
  ajv.addKeyword('x-expected-names')
  validator = ajv.compile(workspaceSchema)
  return validator
}

function findingOf(error: ErrorObject, value: Json | undefined): Finding {
  const { instancePath: pointer, keyword } = error
  const params = error.params as Record<string, unknown>
  const schema = error.parentSchema as Record<string, unknown>
  const expected = schema['x-expected']
  // An address may hold a password.
  const hidden = ['/service/token', '/service/url'].some((each) => pointer.startsWith(each))
  const got = hidden ? 'something else' : describeValue(value)
  switch (keyword) {
    case 'additionalProperties':
      return unknownKey(
        pointer,
        String(params['additionalProperty']),
        Object.keys(schema['properties'] ?? {}),
      )
    case 'propertyNames': {
      const name = String(params['propertyName'])
      return createWorkspaceFinding(
        pointer + formatPointerStep(name),
        `expected ${String(schema['x-expected-names'])}, got "${name}"`,
        'key',
      )
    }
    case 'required':
      return createWorkspaceFinding(
        pointer,
        `the key "${String(params['missingProperty'])}" is required here`,
      )
    case 'enum': {
      const allowed = (params['allowedValues'] as Json[]).map(String)
      if (typeof value === 'string' && reserved.includes(value))
        return createWorkspaceFinding(
          pointer,
          `"${value}" is reserved for a later version. It may be: ${allowed.join(', ')}.`,
        )
      return createWorkspaceFinding(
        pointer,
        `expected ${allowed.map((word) => `"${word}"`).join(' or ')}, got ${got}.${typeof value === 'string' ? didYouMean(value, allowed) : ''}`,
      )
    }
    case 'minProperties':
    case 'maxProperties':
      return createWorkspaceFinding(
        pointer,
        `expected ${String(expected)}, got ${keyword === 'minProperties' ? 'none' : 'several'}`,
      )
    case 'minItems':
      return createWorkspaceFinding(pointer, 'expected at least one entry, got an empty list')
    default:
      return createWorkspaceFinding(
        pointer,
        `expected ${typeof expected === 'string' ? expected : (typeWords[String(params['type'])] ?? 'something else')}, got ${got}`,
      )
  }
}

const typeWords: Record<string, string> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a string',
  integer: 'a whole number',
  boolean: 'true or false',
}

function unknownKey(pointer: string, key: string, known: string[]): Finding {
  const at = pointer + formatPointerStep(key)
  if (reserved.includes(key))
    return createWorkspaceFinding(
      at,
      `"${key}" is reserved for a later version. Take it out.`,
      'key',
    )
  const hint = didYouMean(key, known) || ` It has: ${known.join(', ')}.`
  return createWorkspaceFinding(at, `there is no key "${key}" here.${hint}`, 'key')
}

/** Something wrong in the workspace file. */
export function createWorkspaceFinding(pointer: string, detail: string, part?: 'key'): Finding {
  return {
    code: 'workspace-invalid',
    pointer,
    part,
    summary: 'The workspace file is not valid',
    detail,
  }
}
