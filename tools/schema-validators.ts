import { _, Ajv, type AnySchemaObject } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { transform } from 'esbuild'
import { formats } from '../src/catalog/value/formats.ts'

/**
 * Builds the compiled validators of items and of edgewise.yaml. Each is compiled in a function of
 * its own, so that a run parses only those that it needs.
 */
export async function buildSchemaValidators(
  header: string,
  items: Readonly<Record<string, object>>,
  workspace: object,
): Promise<string> {
  const rows = Object.entries(items).map(([key, schema]) => `${key}(formats) ${wrap(schema)}`)
  const { code } = await transform(
    `export const itemValidators = {\n${rows.join(',\n')}\n};\n` +
      `export function createWorkspaceValidator() ${wrap(workspace, true)}\n`,
    { target: 'node20', minifySyntax: true, legalComments: 'none' },
  )
  if (code.includes('require(')) throw new Error('expected the validators to import nothing')
  const typed = code
    .replace('const itemValidators =', 'const itemValidators: ItemValidators =')
    .replace('createWorkspaceValidator()', 'createWorkspaceValidator(): SchemaValidator')
  return `// @ts-nocheck
${header}import type { SchemaFormats, SchemaValidator } from '../model/schema-fault.ts'
import type { itemSchemas } from './schemas.ts'

/** Functions that compile the validator of each item. */
type ItemValidators = Record<keyof typeof itemSchemas, (formats: SchemaFormats) => SchemaValidator>

/** Counts the characters of a text; a pair of surrogates is one. */
function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

${typed}`
}

/**
 * Formats the body of a function that returns a validator. Items and edgewise.yaml use only what
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
