/**
 * Creates a new configuration item: `npm run new-item -- my_item [--file]` writes its schema, its
 * row in the catalogue, an example manifest and a first conformance case; with `--file` also a file
 * for rules that a schema can't express.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const root = new URL('../', import.meta.url)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { file: { type: 'boolean', default: false } },
})
const [key = ''] = positionals
if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(key))
  fail(`expected a name such as my_item, got "${key}"`)

const title = key.replace(/(^|_)([a-z0-9])/g, (_, _bar, letter: string) => letter.toUpperCase())
const name = title.replace(/^./, (letter) => letter.toLowerCase())
const fileName = key.replaceAll('_', '-')

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title,
  description: 'Purpose of the item, in one or two sentences.',
  type: 'object',
  additionalProperties: false,
  required: ['field'],
  properties: {
    field: {
      type: 'string',
      minLength: 1,
      description: 'Meaning of the field, its unit, and its default.',
    },
  },
  examples: [{ field: 'value' }],
}
const code = `import type { ${title} } from '../generated/items.ts'
import type { Json } from '../../model/json.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { describeRefusal } from '../problems.ts'

/** Purpose of the item (specification, "${key}"). */
export const ${name}: ItemRow = {
  check: (value: Json) => {
    const { field } = castPlain<${title}>(value)
    const blank = describeRefusal('/field', 'expected some text, got only blanks')
    return field.trim() === '' ? [blank] : []
  },
}
`
const example =
  `# ${title}: purpose of the item, in one line.\n` +
  `domain: ${fileName}.example.com\nconfig:\n  ${key}: {field: value}\n`
const cases = [
  {
    id: `own-${key}-001`,
    payload: { field: 'value' },
    expect: 'accept',
    rule: 'the field is sufficient',
    manifest: true,
    tier: 'plain',
  },
  {
    id: `own-${key}-002`,
    payload: {},
    expect: 'reject',
    rule: 'field is required',
    manifest: false,
    tier: 'plain',
  },
]

write(`schemas/items/${key}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`)
if (values.file) write(`src/core/catalog/items/${fileName}.ts`, code)
write(`examples/every-item/domains/${fileName}.yaml`, example)
write(
  `test/conformance/own/${key}.json`,
  `[\n${cases.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`,
)
addRow()
console.log(`Now fill in the schema, then run "npm run generate" and "npm run check".`)

/**
 * Adds the row and the stage of a request at the ends of their tables, and the import of its file,
 * if any, among the others.
 */
function addRow(): void {
  const path = new URL('src/core/catalog/catalogue.ts', root)
  const text = readFileSync(path, 'utf8')
  const end = text.indexOf('\n}\n', text.indexOf('const rows'))
  const imports = text.lastIndexOf('\nimport ') + 1
  if (end < 0 || imports === 0)
    fail('no imports and table of rows in src/core/catalog/catalogue.ts')
  const line = values.file ? `import { ${name} } from './items/${fileName}.ts'\n` : ''
  const row = `\n  ${key}: ${values.file ? name : '{}'},`
  const stages = text.indexOf('\n}\n', text.indexOf('const stages'))
  writeFileSync(
    path,
    text.slice(0, imports) +
      line +
      text.slice(imports, end) +
      row +
      text.slice(end, stages) +
      `\n  ${key}: ['response'],` +
      text.slice(stages),
  )
  console.log('changed src/core/catalog/catalogue.ts')
}

function write(path: string, text: string): void {
  const file = new URL(path, root)
  if (existsSync(file)) fail(`${path} already exists`)
  writeFileSync(file, text)
  console.log(`wrote ${path}`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
