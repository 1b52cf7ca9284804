import { isObject, maxJsonLevels, type Json, type JsonObject } from '../json.ts'
import { describeSchemaFault, type SchemaError } from './schema-fault.ts'

/** A validator compiled by ajv. */
export interface Validator<T> {
  (data: unknown): data is T
  /** Errors of the last refused value. */
  errors?: SchemaError[] | null
}

/** A format of stored files; its schema is in `schemas/state`. */
export interface StoredFormat<T extends { format: string }> {
  /** Name and version, such as `edgewise.record/1`. */
  name: T['format']
  fits: Validator<T>
  /** Descriptions of expected texts, by pattern. */
  expected: Readonly<Record<string, string>>
}

/**
 * A valid file or its fault. `json` is the same value, including keys that the schema does not
 * name. `newer`: a newer version of Edgewise wrote the file.
 */
export type Checked<T> = { value: T; json: JsonObject } | { fault: string; newer: boolean }

/**
 * Checks a stored file: format and version, then the schema. Keys that the schema does not name
 * are allowed.
 *
 * @param data undefined if the text is not JSON
 */
export function checkStored<T extends { format: string }>(
  data: Json | undefined,
  format: StoredFormat<T>,
): Checked<T> {
  if (data === undefined)
    return { fault: `it is not JSON, or has more than ${maxJsonLevels} levels`, newer: false }
  if (!isObject(data)) return { fault: 'expected an object', newer: false }
  if (data['format'] !== format.name) return compareFormats(data, format.name)
  const hostile = findHostilePart(data)
  if (hostile !== null) return { fault: hostile, newer: false }
  const value: unknown = data
  if (format.fits(value)) return { value, json: data }
  return {
    fault: describeSchemaFault(format.fits.errors ?? [], data, format.expected),
    newer: false,
  }
}

/** Compares formats. A file of a later format names in `program` the version that wrote it. */
function compareFormats(
  { format: given, program }: JsonObject,
  expected: string,
): { fault: string; newer: boolean } {
  const [name, version] = splitFormat(expected)
  const [otherName, otherVersion] = splitFormat(given)
  const newer = name === otherName && otherVersion > version
  const got = typeof given === 'string' ? given.slice(0, 60) : 'none'
  const fault = `expected the format ${expected}, got ${got}`
  const isNamed = typeof program === 'string' && /^[\w.+ -]{1,60}$/.test(program)
  const writer = isNamed ? program : 'a newer edgewise'
  return { fault: newer ? `${fault}; ${writer} wrote it` : fault, newer }
}

function splitFormat(format: Json | undefined): [string, number] {
  const [, name = '', version = ''] =
    typeof format === 'string' ? (/^(.*)\/(\d+)$/.exec(format) ?? []) : []
  return [name, Number(version)]
}

/**
 * Finds a number that JSON allows but Edgewise never writes: it parses to infinity (`1e999`). Is
 * written for speed: every file is checked.
 */
function findHostilePart(part: Json): string | null {
  if (part === Infinity || part === -Infinity) return 'it has a number that is too large'
  if (typeof part !== 'object' || part === null) return null
  for (const each of Array.isArray(part) ? part : Object.values(part)) {
    const found = findHostilePart(each)
    if (found !== null) return found
  }
  return null
}
