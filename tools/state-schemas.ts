import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv, type AnySchemaObject } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { build } from 'esbuild'
import { compile, type JSONSchema } from 'json-schema-to-typescript'

type Node = Record<string, unknown>

const root = new URL('../', import.meta.url)
const folder = new URL('schemas/state/', root)
const header = '// Made by `npm run generate` from schemas/state. Do not edit.\n'

/** What the program parses: name of its format and the schema that describes it. */
const parsed: Record<string, { ref: string; type: string; format?: string }> = {
  domainFile: { ref: 'domain.schema.json', type: 'DomainFile' },
  journalFile: { ref: 'journal.schema.json', type: 'JournalFile' },
  waveFile: { ref: 'wave.schema.json', type: 'WaveFile' },
  rolloutFile: { ref: 'rollout.schema.json', type: 'RolloutFile' },
  planFile: { ref: 'plan.schema.json', type: 'PlanFile' },
}
/** What the program reads as far as it fits, since it can do without. */
const optional: Record<string, { ref: string; type: string }> = {
  isAddressFile: { ref: 'address.schema.json', type: 'AddressFile' },
  isCall: { ref: 'calls.schema.json#/$defs/call', type: 'Call' },
}

/** The files that are made from the schemas of stored files: types and validators, by path. */
export async function buildStateSchemaFiles(): Promise<Record<string, string>> {
  const schemas = new Map(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Node]),
  )
  return {
    'src/generated/state-types.ts': await buildTypes(schemas),
    'src/generated/state-validators.ts': await buildValidators(schemas),
  }
}

/** The types of all files and of their shared parts, each once. */
async function buildTypes(schemas: ReadonlyMap<string, Node>): Promise<string> {
  const definitions: Node = {}
  for (const [file, { $defs = {}, ...schema }] of schemas) {
    if (file !== 'shared.schema.json') definitions[formatTypeName(file)] = toTypeSchema(schema)
    for (const [name, each] of Object.entries($defs as Node))
      definitions[capitalize(name)] = name === 'value' ? { tsType: 'Json' } : toTypeSchema(each)
  }
  const types = await compile({ definitions } as JSONSchema, 'StateFiles', {
    bannerComment: '',
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
    format: false,
  })
  const own = types
    .replace(/export interface StateFiles \{[^}]*\}\n/, '')
    .replace(
      / \* (?: ?\n \* )?This interface was referenced by .*\n \* via the `definition` .*\n/g,
      '',
    )
    .replace(/\/\*\*\n \*\/\n/g, '')
    .replace(/ +$/gm, '')
  return `${header}import type { Json } from '../model/json.ts'\n\n${own.trim()}\n`
}

/** A part of a schema for the types: references lead to the one list of definitions. */
function toTypeSchema(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(toTypeSchema)
  if (typeof part !== 'object' || part === null) return part
  if ('$ref' in part && typeof part.$ref === 'string') {
    const name = capitalize(part.$ref.split('/').at(-1) ?? '')
    return { $ref: `#/definitions/${name}` }
  }
  const kept = Object.entries(part).filter(([key]) => !['$id', '$schema', 'title'].includes(key))
  return Object.fromEntries(kept.map(([key, value]) => [key, toTypeSchema(value)]))
}

/**
 * The validators, compiled, with their helpers inlined. The schemas use only what means the same in
 * draft 7, for which ajv emits half the code; a test validates with 2020-12.
 */
async function buildValidators(schemas: ReadonlyMap<string, Node>): Promise<string> {
  const ajv = new Ajv({ strict: true, messages: false, code: { source: true, esm: true } })
  for (const schema of schemas.values()) ajv.addSchema(stripAnnotations(schema) as AnySchemaObject)
  const base = String(schemas.get('shared.schema.json')?.['$id']).replace('shared.schema.json', '')
  const all = { ...parsed, ...optional }
  const code = standaloneCode.default(
    ajv,
    Object.fromEntries(Object.entries(all).map(([name, { ref }]) => [`${name}Fits`, base + ref])),
  )
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(root) },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    legalComments: 'none',
  })
  const bundled = (outputFiles[0]?.text ?? '')
    .replace(/^\/\/ <stdin>\n/m, '')
    .replace(/export \{[\s\S]*?\};\n/, '')
  if (/\brequire\(|^import /m.test(bundled))
    throw new Error('expected the validators to import nothing')
  const names = Object.values(all).map(({ type }) => type)
  const words = JSON.stringify(
    Object.fromEntries(collectExpectations([...schemas.values()])),
    null,
    2,
  )
  const formats = Object.entries(parsed).map(
    ([name, { ref, type }]) =>
      `export const ${name}: StoredFormat<${type}> = { name: ${JSON.stringify(findFormatName(schemas.get(ref)))}, fits: ${name}Fits, expected }`,
  )
  const checks = Object.entries(optional).map(
    ([name, { type }]) => `export const ${name}: Validator<${type}> = ${name}Fits`,
  )
  return `// @ts-nocheck
${header}import type { StoredFormat, Validator } from '../model/stored-file.ts'
import type { ${names.join(', ')} } from './state-types.ts'

/** What a text is expected to be, by the pattern that it has to match. */
const expected: Record<string, string> = ${words}

${bundled}
${formats.join('\n')}
${checks.join('\n')}
`
}

/** A schema without what is for readers only. */
function stripAnnotations(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(stripAnnotations)
  if (typeof part !== 'object' || part === null) return part
  if ('$ref' in part && String(part.$ref).endsWith('#/$defs/value')) return true
  const kept = Object.entries(part).filter(
    ([key, value]) =>
      !['x-expected', '$schema'].includes(key) &&
      !(['title', 'description'].includes(key) && typeof value === 'string'),
  )
  return Object.fromEntries(kept.map(([key, value]) => [key, stripAnnotations(value)]))
}

/** Every pattern with the words for it. */
function collectExpectations(part: unknown): [string, string][] {
  if (typeof part !== 'object' || part === null) return []
  const inner = Object.values(part).flatMap(collectExpectations)
  const { pattern, 'x-expected': words } = part as Node
  if (typeof pattern !== 'string') return inner
  if (typeof words !== 'string') throw new Error(`expected "x-expected" beside ${pattern}`)
  return [[pattern, words], ...inner]
}

function findFormatName(schema: Node | undefined): string {
  const { format } = (schema?.['properties'] ?? {}) as { format?: { const: string } }
  if (format === undefined) throw new Error('expected the schema to name its format')
  return format.const
}

function formatTypeName(file: string): string {
  return `${capitalize(file.replace('.schema.json', ''))}File`
}

function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
