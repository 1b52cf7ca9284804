/**
 * Writes what is made from the schemas: `src/generated/schemas.ts` (the item schemas as data),
 * `src/generated/items.ts` (their types), `src/generated/file-schemas.ts` (the schema of
 * edgewise.yaml as data), `src/generated/state-types.ts` and `src/generated/state-validators.ts`
 * (types and compiled validators of stored files), and the schemas of manifests and profiles for
 * editors. With `--check` nothing is written, and files that are not current are named (exit 1).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { compile, type JSONSchema } from 'json-schema-to-typescript'
import type { ItemSchema } from '../src/catalog/value/item-schema.ts'
import { buildManifestSchemas } from './manifest-schema.ts'
import { buildStateSchemaFiles } from './state-schemas.ts'

const root = new URL('../', import.meta.url)
const header = '// Made by `npm run generate` from schemas/items. Do not edit.\n'

const items = readdirSync(new URL('schemas/items/', root))
  .filter((name) => name.endsWith('.schema.json'))
  .map((name) => name.replace('.schema.json', ''))
  .toSorted()

function schemaOf(item: string): JSONSchema {
  return JSON.parse(
    readFileSync(new URL(`schemas/items/${item}.schema.json`, root), 'utf8'),
  ) as JSONSchema
}

function schemasFile(): string {
  const rows = items.map((item) => `  ${item}: ${JSON.stringify(schemaOf(item))},`)
  return `${header}\n/** The JSON Schema of every item, by key. */\nexport const itemSchemas = {\n${rows.join('\n')}\n} as const\n`
}

async function typesFile(): Promise<string> {
  const types = []
  for (const item of items) {
    const schema = schemaOf(item)
    const title = schema.title ?? item
    types.push(
      await compile(schema, title, {
        bannerComment: '',
        additionalProperties: false,
        ignoreMinAndMaxItems: true,
        format: false,
        $refOptions: { resolve: { http: false, file: false } },
      }),
    )
  }
  return `${header}\n${types.join('\n')}`
}

/** The schema of edgewise.yaml as data: the program checks the file with it. */
function fileSchemasFile(): string {
  const schema: unknown = JSON.parse(
    readFileSync(new URL('schemas/workspace.schema.json', root), 'utf8'),
  )
  return `${header.replace('schemas/items', 'schemas')}\n/** The JSON Schema of edgewise.yaml. */\nexport const workspaceSchema = ${JSON.stringify(schema)} as const\n`
}

const { manifest, profile } = buildManifestSchemas(
  Object.fromEntries(items.map((item) => [item, schemaOf(item) as ItemSchema])),
)

const files: Record<string, string> = {
  'src/generated/schemas.ts': schemasFile(),
  'src/generated/file-schemas.ts': fileSchemasFile(),
  'schemas/manifest.schema.json': `${JSON.stringify(manifest, null, 1)}\n`,
  'schemas/profile.schema.json': `${JSON.stringify(profile, null, 1)}\n`,
  'src/generated/items.ts': await typesFile(),
  ...(await buildStateSchemaFiles()),
}

const stale = Object.entries(files).filter(([path, text]) => read(path) !== text)
if (process.argv.includes('--check')) {
  for (const [path] of stale) console.error(`${path} is not current: run "npm run generate"`)
  if (stale.length > 0) process.exitCode = 1
} else {
  for (const [path, text] of stale) writeFileSync(new URL(path, root), text)
  console.log(
    `${items.length} items; ${stale.length} of ${Object.keys(files).length} files written`,
  )
}

function read(path: string): string {
  try {
    return readFileSync(new URL(path, root), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
