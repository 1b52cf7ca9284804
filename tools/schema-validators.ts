import { _, Ajv, type AnySchemaObject } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { transform } from 'esbuild'
import { formats } from '../src/core/catalog/value/formats.ts'

/** How code of a validator returns it: what stands before and after its name. */
type Around = [before: string, after: string]

/** Schemas with a validator. */
interface Schemas {
  items: Readonly<Record<string, object>>
  workspace: object
  test: object
  policy: object
}

/**
 * Builds the compiled validators of items, of edgewise.yaml, of tests and of policies: a file that
 * only counts the faults of a value, and a larger one that lists them, which a run loads for a
 * value that has some. Each is in a function of its own, so that a run parses only those that it
 * needs.
 */
export async function buildSchemaValidators(
  header: string,
  schemas: Schemas,
): Promise<{ validators: string; faults: string }> {
  const counting = await compress(
    formatFunctions('itemValidators', 'Validator', schemas, (schema, kind, args) =>
      formatBody(schema, kind, keepKnownKeys, ['join(', `, () => create${kind}Faults(${args}))`]),
    ),
    countFaults,
  )
  const listing = await compress(
    formatFunctions('itemFaults', 'Faults', schemas, (schema, kind) =>
      formatBody(schema, kind, dropUnused),
    ),
    addFaults,
  )
  const typed = counting
    .replace('const itemValidators =', 'const itemValidators: ItemValidators =')
    .replaceAll(/(create\w+Validator)\(\)/g, '$1(): SchemaValidator')
  const validators = `// @ts-nocheck
${header}import type { SchemaFormats, SchemaValidator } from '../../model/text/schema-fault.ts'
import {
  createItemFaults,
  createPolicyFaults,
  createTestFaults,
  createWorkspaceFaults,
} from './schema-faults.ts'
import type { itemSchemas } from './schemas.ts'

/** Functions that compile the validator of each item. */
type ItemValidators = Record<keyof typeof itemSchemas, (formats: SchemaFormats) => SchemaValidator>

${counter}
/** Joins code that accepts values with code that lists the faults of the others. */
function join(accepts, createFaults) {
  let listFaults
  const validate = (data) => {
    const isValid = accepts(data) || (listFaults ??= createFaults())(data)
    validate.errors = isValid ? null : listFaults.errors
    return isValid
  }
  return validate
}

${typed}`
  const faults = `// @ts-nocheck
${header}
${counter}
/** Adds a fault to those of a value. */
function addFault(faults, instancePath, schemaPath, keyword, params, propertyName) {
  const fault = { instancePath, schemaPath, keyword, params, propertyName }
  if (faults === null) return [fault]
  faults.push(fault)
  return faults
}

${listing}
/** Creates the code that lists the faults of the values of an item. */
export function createItemFaults(item, formats) {
  return itemFaults[item](formats)
}
`
  return { validators, faults }
}

const counter = `/** Counts the characters of a text; a pair of surrogates is one. */
function countCharacters(text) {
  let count = 0
  for (const _ of text) count++
  return count
}
`

/**
 * Formats the functions that create validators.
 *
 * @param listName name of the list of those of items
 * @param suffix the end of the names of the other functions
 * @param format formats the body of one, by its schema and the kind of value, with the arguments
 *   of the function that creates its other validator
 */
function formatFunctions(
  listName: string,
  suffix: string,
  { items, ...files }: Schemas,
  format: (schema: object, kind: string, args: string) => string,
): string {
  const rows = Object.entries(items).map(
    ([key, schema]) => `${key}(formats) ${format(schema, itemKind, `'${key}', formats`)}`,
  )
  const others = Object.entries(files).map(([file, schema]) => {
    const kind = file.charAt(0).toUpperCase() + file.slice(1)
    return `export function create${kind}${suffix}() ${format(schema, kind, '')}\n`
  })
  return `export const ${listName} = {\n${rows.join(',\n')}\n};\n${others.join('')}`
}

const itemKind = 'Item'

/** Code that ajv emits for a fault, after the bundler has shortened it. */
const fault = new RegExp(
  String.raw`const (err\d+) = \{ instancePath(?:: (.+?))?, schemaPath: ("[^"]*"), ` +
    String.raw`keyword: ("[^"]*"), params: (\{.*?\})(?:, propertyName: (\w+))? \};\n\s*` +
    String.raw`vErrors === null \? vErrors = \[\1\] : vErrors\.push\(\1\), errors\+\+;`,
  'g',
)

/**
 * Shortens the code of validators.
 *
 * @throws Error for code of ajv that is not as expected
 */
async function compress(code: string, change: (code: string) => string): Promise<string> {
  const options = { target: 'node20', minifySyntax: true, legalComments: 'none' } as const
  const inlined = await transform(code, options)
  const changed = change(inlined.code)
  if (/\berr\d+\b/.test(changed)) throw new Error('expected each fault of ajv in one form')
  const { code: short } = await transform(changed, { ...options, minifyIdentifiers: true })
  if (short.includes('require(')) throw new Error('expected the validators to import nothing')
  return short
}

/** Lets the code of all faults call one function; two thirds of the code only add faults. */
function addFaults(code: string): string {
  return code.replaceAll(
    fault,
    (_all, _name, path = 'instancePath', ...[schemaPath, keyword, params, name]: string[]) => {
      const own = [path, schemaPath, keyword, params, ...(name === undefined ? [] : [name])]
      return `vErrors = addFault(vErrors, ${own.join(', ')}), errors++;`
    },
  )
}

/** Lets the code only count faults. */
function countFaults(code: string): string {
  const counting = code
    .replaceAll(fault, 'errors++;')
    .replaceAll(/return validate\d+\.errors = vErrors, /g, 'return ')
    .replaceAll(/, vErrors !== null && \((\w+) \? vErrors\.length = \1 : vErrors = null\)/g, '')
    .replaceAll('let vErrors = null, errors = 0', 'let errors = 0')
    .replaceAll(/\(data, \{ instancePath = "".*? \} = \{\}\)/g, '(data)')
  if (/vErrors|instancePath|(?<!\.call\()schema\d+\./.test(counting))
    throw new Error('expected code that counts faults')
  return counting
}

/**
 * Formats the body of a function that returns a validator. Items and other files use only what
 * means the same in draft 7, for which ajv emits half the code; a test validates with 2020-12.
 */
function formatBody(
  schema: object,
  kind: string,
  change: (code: string) => string,
  [before, after]: Around = ['', ''],
): string {
  // Those of files are written into the value.
  const useDefaults = kind !== itemKind
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    strictTypes: !useDefaults,
    strictRequired: false,
    useDefaults,
    validateSchema: false,
    messages: false,
    code: { source: true, formats: _`formats` },
  })
  for (const [name, accepts] of Object.entries(formats)) ajv.addFormat(name, accepts)
  const validate = ajv.compile(stripAnnotations(schema) as AnySchemaObject)
  const code = standaloneCode
    .default(ajv, validate)
    .replaceAll('require("ajv/dist/runtime/ucs2length").default', 'countCharacters')
  const [, name = '', rest = ''] =
    /^"use strict";module\.exports = (\w+);module\.exports\.default = \w+;(.*)$/s.exec(code) ?? []
  if (name === '') throw new Error('expected a validator that ajv exports')
  return `{ ${change(rest)}\nreturn ${before}${name}${after} }`
}

/**
 * Drops schemas that code does not read.
 *
 * @param use start of the code that reads one, before its name
 */
function dropUnused(code: string, use = '', keep = (schema: object) => schema): string {
  return code.replaceAll(
    /const (schema\d+) = (\{.*?\});(?=const |function )/g,
    (_all, name, text) =>
      code.includes(`${use}${name}.`)
        ? `const ${name} = ${JSON.stringify(keep(JSON.parse(text)))};`
        : '',
  )
}

/** Keeps of the schemas in code that counts faults the known keys, where it looks them up. */
function keepKnownKeys(code: string): string {
  return dropUnused(code, '.call(', keepKeys)
}

/** A schema without all that is no mapping. */
function keepKeys(part: object): object {
  const kept = Object.entries(part).filter(
    ([, each]) => typeof each === 'object' && (!Array.isArray(each) || each.some(isSchema)),
  )
  return Array.isArray(part)
    ? part.map(keepKeys)
    : Object.fromEntries(kept.map(([key, each]) => [key, keepKeys(each)]))
}

/** A schema without what does not decide whether a value is valid. */
function stripAnnotations(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(stripAnnotations)
  if (typeof part !== 'object' || part === null) return part
  const annotations = ['$schema', 'title', 'description', 'examples', 'writeOnly']
  const kept = Object.entries(part).filter(
    ([key, value]) => !key.startsWith('x-') && !(annotations.includes(key) && !isSchema(value)),
  )
  return Object.fromEntries(kept.map(([key, value]) => [key, stripAnnotations(value)]))
}

/** Tests whether a part of a schema is a mapping. */
function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
