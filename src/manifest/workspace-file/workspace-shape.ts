import { getOrAdd } from '../../core/model/lists.ts'
import { explainCode } from '../../core/checks/levels.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import {
  describeValue,
  findSchema,
  formatNames,
  suggestAllowed,
  typeWords,
} from '../../core/catalog/value/schema-problems.ts'
import { explainRemovedKey, type removedKeys } from './removed-keys.ts'
import { workspaceSchema } from './generated/file-schemas.ts'
import { createWorkspaceValidator } from '../../core/catalog/generated/schema-validators.ts'
import { inputLimits } from '../../core/model/input-limits.ts'
import { resolvePointer, formatPointerStep, type Json } from '../../core/model/json.ts'
import type { SchemaError, SchemaValidator } from '../../core/model/text/schema-fault.ts'
import type { Finding } from '../manifests/finding.ts'

/** Reserved words of later versions, distinguished from typing errors. */
const reserved = ['rewriteUnchanged']

/** A kind of file: its schema, and its findings. */
export interface Shape {
  kind: keyof typeof removedKeys
  schema: object
  createValidator(): SchemaValidator
  createFinding(pointer: string, detail: string, part?: 'key'): Finding
}

const workspaceShape: Shape = {
  kind: 'workspace',
  schema: workspaceSchema,
  createValidator: createWorkspaceValidator,
  createFinding: createWorkspaceFinding,
}

const validators = new Map<Shape, SchemaValidator>()

/**
 * Checks the workspace file, or another one, against its schema and writes the schema's defaults
 * into `value`.
 *
 * @param written the content before the environment was replaced; messages show this one, since
 * `value` may contain a token
 */
export function checkShape(value: Json, written: Json, shape = workspaceShape): Finding[] {
  const validate = getOrAdd(validators, shape, () => shape.createValidator())
  if (validate(value)) return []
  const errors = (validate.errors ?? []).slice(0, inputLimits.problems)
  const choices = errors
    .filter((error) => error.keyword === 'anyOf')
    .map((error) => error.instancePath)
  const listed = new Set(
    errors
      .filter(({ keyword }) => keyword === 'enum' || keyword === 'const')
      .map(({ instancePath }) => instancePath),
  )
  return errors
    .filter(
      (error) =>
        error.propertyName === undefined &&
        // The allowed values show the type.
        (error.keyword !== 'type' || !listed.has(error.instancePath)) &&
        !choices.some(
          (path) => error.instancePath.startsWith(path) && error.schemaPath.includes('/anyOf/'),
        ),
    )
    .map((error) => createFinding(error, resolvePointer(written, error.instancePath), shape))
}

function createFinding(error: SchemaError, value: Json | undefined, shape: Shape): Finding {
  const { instancePath: pointer, keyword } = error
  const { params } = error
  const { createFinding: create } = shape
  const schema = findSchema(shape.schema as Record<string, unknown>, error.schemaPath)
  const expected = schema['x-expected']
  // An address may contain a password, and a secret may be written in place of its source.
  const hidden =
    /^\/(service|secrets(\/[^/]+)?)$/.test(pointer) ||
    ['/service/token', '/service/url', '/state/url'].some((each) => pointer.startsWith(each)) ||
    (typeof value === 'string' && /:\/\/[^/]*@/.test(value))
  const got = hidden ? 'something else' : describeValue(value)
  const expectedWords = () =>
    typeof expected === 'string' ? expected : describeType(String(params['type']), schema)
  switch (keyword) {
    case 'additionalProperties':
      return createUnknownKey(
        pointer,
        String(params['additionalProperty']),
        Object.keys(schema['properties'] ?? {}),
        shape,
      )
    case 'propertyNames': {
      const name = String(params['propertyName'])
      return create(
        pointer + formatPointerStep(name),
        `expected ${String(schema['x-expected-names'])}, got "${name}"`,
        'key',
      )
    }
    case 'required':
      return create(pointer, `the key "${String(params['missingProperty'])}" is required here`)
    case 'enum': {
      const allowed = (params['allowedValues'] as Json[]).map(String)
      return create(
        pointer,
        `expected ${allowed.map((word) => `"${word}"`).join(' or ')}, got ` +
          `${got}${suggestAllowed(value, allowed) || '.'}`,
      )
    }
    case 'minProperties':
    case 'maxProperties':
      return create(
        pointer,
        `expected ${String(expected)}, got ${keyword === 'minProperties' ? 'none' : 'several'}`,
      )
    case 'minItems':
      return create(pointer, 'expected at least one entry, got an empty list')
    default: {
      const isEntry = params['type'] === 'array' && typeof value === 'string'
      const meant = params['type'] === 'boolean' ? suggestAllowed(value, ['true', 'false']) : ''
      const hint = isEntry ? `. Write "[${value}]".` : meant
      return create(pointer, `expected ${expectedWords()}, got ${got}${hint}`)
    }
  }
}

/** Describes a type in words; a mapping by its first keys. */
function describeType(type: string, schema: Record<string, unknown>): string {
  if (type !== 'object') return typeWords[type] ?? 'something else'
  return `a mapping${formatNames(Object.keys(schema['properties'] ?? {}))}`
}

function createUnknownKey(pointer: string, key: string, known: string[], shape: Shape): Finding {
  const keyPointer = pointer + formatPointerStep(key)
  const removed = explainRemovedKey(shape.kind, keyPointer)
  if (removed !== null) return shape.createFinding(keyPointer, removed, 'key')
  if (shape === workspaceShape && reserved.includes(key))
    return shape.createFinding(
      keyPointer,
      `"${key}" is reserved for a later version. Remove it.`,
      'key',
    )
  const isWorkspace = shape === workspaceShape
  const isSection = isWorkspace && ['', '/checks'].includes(pointer)
  const sections = isSection ? listSections(key) : []
  const place = sections.map((section) => `"${section}:"`).join(' or ')
  const code = pointer === '/checks' && place === '' ? explainCode(key) : null
  if (code !== null) return createWorkspaceFinding(keyPointer, code, 'key')
  const hint =
    place === ''
      ? didYouMean(key, known) || ` Known keys: ${known.join(', ')}.`
      : ` It belongs under ${place}. Indent it below that key.`
  return shape.createFinding(keyPointer, `there is no key "${key}" here.${hint}`, 'key')
}

/** Lists the keys at the top of the file that have another key below. */
function listSections(key: string): string[] {
  return Object.entries(workspaceSchema.properties).flatMap(([section, schema]) =>
    'properties' in schema && Object.hasOwn(schema.properties, key) ? [section] : [],
  )
}

/** Creates a finding of the workspace file. */
export function createWorkspaceFinding(pointer: string, detail: string, part?: 'key'): Finding {
  return {
    code: 'workspace-invalid',
    pointer,
    part,
    summary: 'The workspace file is not valid',
    detail,
  }
}
