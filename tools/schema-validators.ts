import { _, Ajv, type AnySchemaObject } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { transform } from 'esbuild'
import { formats } from '../src/core/catalog/value/formats.ts'

/**
 * Builds the compiled validators of items, of edgewise.yaml, of tests and of policies. Each is in a
 * function of its own, so that a run parses only those that it needs.
 */
export async function buildSchemaValidators(
  header: string,
  items: Readonly<Record<string, object>>,
  workspace: object,
  test: object,
  policy: object,
): Promise<string> {
  const rows = Object.entries(items).map(([key, schema]) => `${key}(formats) ${wrap(schema)}`)
  const options = { target: 'node20', minifySyntax: true, legalComments: 'none' } as const
  const { code: inlined } = await transform(
    `export const itemValidators = {\n${rows.join(',\n')}\n};\n` +
      `export function createWorkspaceValidator() ${wrap(workspace, true)}\n` +
      `export function createTestValidator() ${wrap(test, true)}\n` +
      `export function createPolicyValidator() ${wrap(policy, true)}\n`,
    options,
  )
  const { code } = await transform(shareFaults(inlined), options)
  if (code.includes('require(')) throw new Error('expected the validators to import nothing')
  const typed = code
    .replace('const itemValidators =', 'const itemValidators: ItemValidators =')
    .replaceAll(/(create\w+Validator)\(\)/g, '$1(): SchemaValidator')
  return `// @ts-nocheck
${header}import type { SchemaFormats, SchemaValidator } from '../../model/text/schema-fault.ts'
import type { itemSchemas } from './schemas.ts'

/** Functions that compile the validator of each item. */
type ItemValidators = Record<keyof typeof itemSchemas, (formats: SchemaFormats) => SchemaValidator>

/** Counts the characters of a text; a pair of surrogates is one. */
function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Adds a fault to those of a value. */
function addFault(faults, instancePath, schemaPath, keyword, params, propertyName) {
  const fault = { instancePath, schemaPath, keyword, params, propertyName }
  if (faults === null) return [fault]
  faults.push(fault)
  return faults
}

${typed}`
}

/**
 * Lets the code of all faults call one function. A run parses all of the code, two thirds of which
 * only add faults.
 *
 * @throws Error for code of ajv that is not as expected
 */
function shareFaults(code: string): string {
  const fault = new RegExp(
    String.raw`const (err\d+) = \{ instancePath(?:: (.+?))?, schemaPath: ("[^"]*"), ` +
      String.raw`keyword: ("[^"]*"), params: (\{.*?\})(?:, propertyName: (\w+))? \};\n\s*` +
      String.raw`vErrors === null \? vErrors = \[\1\] : vErrors\.push\(\1\), errors\+\+;`,
    'g',
  )
  const shared = code.replaceAll(
    fault,
    (_all, _name, path = 'instancePath', ...[schemaPath, keyword, params, name]: string[]) => {
      const own = [path, schemaPath, keyword, params, ...(name === undefined ? [] : [name])]
      return `vErrors = addFault(vErrors, ${own.join(', ')}), errors++;`
    },
  )
  if (/\berr\d+\b/.test(shared)) throw new Error('expected each fault of ajv in one form')
  return shared
}

/**
 * Formats the body of a function that returns a validator. Items and other files use only what
 * means the same in draft 7, for which ajv emits half the code; a test validates with 2020-12.
 */
function wrap(schema: object, useDefaults = false): string {
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
  return `{ const module = {};\n${code}\nreturn module.exports }`
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

/** Tests whether a key of `properties` has the name of an annotation. */
function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
