import { resolvePointer, isObject, formatPointerStep, type Json } from '../json.ts'

/** An error that ajv reports for a value that does not fit its schema. */
export interface SchemaError {
  /** JSON pointer of the value. */
  instancePath: string
  /** Path of the keyword in the schema, e.g. `#/properties/configs/type`. */
  schemaPath: string
  keyword: string
  params: Readonly<Record<string, unknown>>
  /** The key, if it violates `propertyNames`. */
  propertyName?: string
}

/** A validator that ajv compiled to code. */
export interface SchemaValidator {
  (data: unknown): boolean
  /** Errors of the last refused value. */
  errors?: SchemaError[] | null
}

/** Checks of the formats of a schema's strings, by their names. */
export type SchemaFormats = Readonly<Record<string, (text: string) => boolean>>

const typeWords: Record<string, string> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

/**
 * Describes why a value does not fit its schema: the place, the expected and the actual value.
 *
 * @param expected descriptions of expected texts, by pattern
 */
export function describeSchemaFault(
  errors: SchemaError[],
  data: Json,
  expected: Readonly<Record<string, string>>,
): string {
  const error = findDeepestError(errors)
  if (error === null) return 'it does not fit its schema'
  const { instancePath, keyword, params } = error
  if (keyword === 'required') {
    const missing = formatPointerStep(String(params['missingProperty']))
    return `expected ${instancePath}${missing}, got nothing there`
  }
  const at = instancePath === '' ? '' : `at ${instancePath}: `
  const expectation = describeExpectation(error, errors, expected)
  const keyError = errors.find(
    (each) => each.keyword === 'propertyNames' && each.instancePath === instancePath,
  )
  if (keyError !== undefined) {
    const key = JSON.stringify(keyError.params['propertyName'])
    return `${at}expected each key to be ${expectation}, got ${key}`
  }
  return `${at}expected ${expectation}, got ${formatValue(resolvePointer(data, instancePath))}`
}

/** Finds the error at the deepest place; errors of a choice's other branches rank last. */
function findDeepestError(errors: SchemaError[]): SchemaError | null {
  const depth = ({ instancePath }: SchemaError) => instancePath.split('/').length
  const rank = ({ keyword }: SchemaError) =>
    keyword === 'anyOf' || keyword === 'if' ? 2 : keyword === 'type' ? 1 : 0
  return errors.toSorted((a, b) => depth(b) - depth(a) || rank(a) - rank(b))[0] ?? null
}

function describeExpectation(
  { instancePath, keyword, params }: SchemaError,
  errors: SchemaError[],
  expected: Readonly<Record<string, string>>,
): string {
  const limit = Number(params['limit'])
  switch (keyword) {
    case 'type':
      return describeTypes(errors, instancePath)
    case 'enum': {
      const { allowedValues: allowed } = params
      const values = Array.isArray(allowed) ? allowed : []
      return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
    }
    case 'const':
      return JSON.stringify(params['allowedValue'])
    case 'minimum':
      return `${limit} or more`
    case 'maximum':
      return `${limit} or less`
    case 'minItems':
      return limit === 1 ? 'at least one entry' : `at least ${limit} entries`
    case 'maxItems':
      return limit === 1 ? 'at most one entry' : `at most ${limit} entries`
    case 'pattern': {
      const pattern = String(params['pattern'])
      return expected[pattern] ?? `text that matches ${pattern}`
    }
    default:
      return `a value that fits the schema (${keyword})`
  }
}

/** Describes all types that the branches of a choice expect at a place. */
function describeTypes(errors: SchemaError[], place: string): string {
  const types = errors.flatMap(({ instancePath, keyword, params: { type } }) => {
    if (keyword !== 'type' || instancePath !== place) return []
    return Array.isArray(type) ? type.map(String) : String(type).split(',')
  })
  return [...new Set(types)].map((type) => typeWords[type] ?? type).join(' or ')
}

function formatValue(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value))
    return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (isObject(value)) return 'an object'
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
