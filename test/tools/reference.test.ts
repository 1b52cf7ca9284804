import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { exitCodes, signalCodes } from '../../src/cli/exit-codes.ts'
import { workspaceSchema } from '../../src/manifest/workspace-file/generated/file-schemas.ts'
import { createItemState } from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
import { open } from '../../src/operations/runtime/open.ts'
import { diagnosticDescriptions } from '../../src/outlets/report/generated/diagnostics.ts'
import { errorDescriptions } from '../../src/core/model/generated/errors.ts'
import {
  formatCode,
  formatInline,
  formatProse,
  formatTable,
} from '../../tools/reference/markdown.ts'
import { formatKeys, type Schema } from '../../tools/reference/schema-keys.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { itLong } from '../runs.ts'

const root = new URL('../../', import.meta.url)
const load = (path: string) => readFileSync(new URL(path, root), 'utf8')
const page = (name: string) => load(`docs/reference/${name}.md`)
const headings = (text: string) =>
  Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading]) => heading ?? '')

describe('Markdown', () => {
  it.each([
    ['.* selects <all>', String.raw`.\* selects \<all>`],
    ['a `code * span` stays', 'a `code * span` stays'],
    ['see cert_id, maxDomains and --yes', 'see `cert_id`, `maxDomains` and `--yes`'],
    ['run "edgewise plan --out FILE"', 'run `edgewise plan --out FILE`'],
    ['${env:NAME}, {$append: [1]}, [[a, b]]', '`${env:NAME}`, `{$append: [1]}`, `[[a, b]]`'],
    ['in edgewise.yaml, e.g. here.', 'in `edgewise.yaml`, e.g. here.'],
    ['a lone ` stays', 'a lone ` stays'],
    ['a [link](some_file.md)', 'a [link](some_file.md)'],
  ])('prose: %j', (text, expected) => {
    expect(formatProse(text)).toBe(expected)
  })

  it('breaks lines at 120 columns, never inside of code, nor before the mark of a list', () => {
    const text = `${'word '.repeat(21)}\`some long code span\` ${'a - b 1. c # d '.repeat(20)}`
    const lines = formatProse(text, '- ', '  ').split('\n')
    expect(lines.length).toBeGreaterThan(3)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(122)
    expect(lines.filter((line) => line.split('`').length % 2 === 0)).toEqual([])
    expect(lines.filter((line, i) => i > 0 && /^ *(?:[-+*#>]|\d+\.)( |$)/.test(line))).toEqual([])
  })

  it('escapes the bars of cells, and fences code that has backticks', () => {
    expect(formatTable(['a'], [['on | off']])).toBe('| a |\n|---|\n| on \\| off |')
    expect(formatCode('a `b` c')).toBe('`` a `b` c ``')
  })
})

describe('docs/reference', () => {
  it('describes every key of edgewise.yaml, at any depth', () => {
    const names = listKeys(workspaceSchema as unknown as Schema, '')
    expect(names.length).toBeGreaterThan(50)
    const text = page('workspace-file')
    const described = headings(page('errors'))
    const isCode = (name: string) =>
      name.startsWith('checks.') &&
      text.includes(`\`${name}\``) &&
      described.includes(name.replace('checks.', ''))
    const missing = names.filter(
      (name) => !text.includes(`- \`${name}\``) && !headings(text).includes(name) && !isCode(name),
    )
    expect(missing).toEqual([])
  })

  itLong('has a valid example of every key of edgewise.yaml', () => {
    const validate = new Ajv2020({ strict: false }).compile(workspaceSchema)
    const example = parse(
      /```yaml\n([\s\S]*?)```/.exec(page('workspace-file'))?.[1] ?? '',
    ) as object
    expect(Object.keys(example)).toEqual(Object.keys(workspaceSchema.properties))
    expect([validate(example), validate.errors]).toEqual([true, null])
  })

  it('has a page of every item, with all of its fields, and a row in the table', () => {
    const table = page('items')
    const rules = JSON.parse(load('test/conformance/rules.json')) as {
      item: string | null
      section: string
    }[]
    for (const [key, { schema }] of catalogue) {
      expect([key, table.includes(`\n- [\`${key}\`](items/${key}.md): `)]).toEqual([key, true])
      const text = page(`items/${key}`)
      const names = formatKeys(schema, { paths: false })
      for (const name of names.map((line) => /^ *- (`\w+`)/.exec(line)?.[1]))
        expect([key, name, text.includes(`- ${name}`)]).toEqual([key, name, true])
      expect([key, /it is released|documents no reset|grouping/.test(text)]).toEqual([key, false])
      // A page that names no section means the one with the name of its item.
      const named = text.includes('Specification: section "')
      const hasOwn = rules.some(({ item, section }) => item === key && section.includes(key))
      expect([key, named || hasOwn]).toEqual([key, true])
      const [, examples = ''] = /\n\[Example\]\(\.\.\/\.\.\/\.\.\/(.*?)\)/.exec(text) ?? []
      expect([key, load(examples).includes(`\n  ${key}:`)]).toEqual([key, true])
    }
    expect(globSync('docs/reference/items/*.md')).toHaveLength(catalogue.size)
  })

  itLong('has every code of errors and diagnostics, and each code is used', () => {
    const sources = globSync('src/**/*.ts', {
      ignore: [
        'src/**/generated/**',
        'src/core/model/{edgewise-error,problem}.ts',
        'src/core/checks/levels.ts',
      ],
    }).map((file) => load(file))
    const codes = Object.keys({ ...errorDescriptions, ...diagnosticDescriptions })
    // `parse-document.ts` joins this one.
    const unused = codes.filter((code) => !sources.some((text) => text.includes(`'${code}'`)))
    expect(unused).toEqual([])
    const sections = page('errors').match(/^### [a-z-]+\n\n(?:.+\n)+\nFix: /gm)
    expect(sections).toHaveLength(codes.length)
  })

  it('has every exit code and every format of output with its keys', () => {
    const codes = [...Object.values(exitCodes), ...Object.values(signalCodes)].map(String)
    expect(headings(page('exit-codes')).slice(1)).toEqual(codes)
    const text = page('json')
    for (const file of globSync('schemas/output/*.json')) {
      const schema = JSON.parse(load(file)) as Schema
      const description = (schema.description ?? '?').replace(/^Output of /, '')
      expect(text.replaceAll('\n  ', ' ')).toContain(
        `](../../${file}): ${formatInline(description)}\n`,
      )
      expect([file, listUndescribed(schema)]).toEqual([file, []])
      const name = file.replace(/^.*\/(.*)\.schema\.json$/, '$1')
      for (const example of schema.examples ?? []) {
        expect(listSchemaErrors(name, example)).toEqual([])
        expect(text).toContain(`\n${JSON.stringify(example)}\n`)
      }
      for (const { properties } of schema.oneOf ?? [])
        if (typeof properties?.['type']?.const === 'string')
          expect(text).toContain(`\n- \`${properties['type'].const}\`: `)
    }
  })

  itLong('names every environment variable that a command reads by name', () => {
    const ofGit = /(?:^|[^\w])(?:GIT_SSH_COMMAND|GIT_SSH|GIT_CONFIG_COUNT)$/
    const read = globSync('src/**/*.ts', { ignore: 'src/cli/action/**' }).flatMap((file) =>
      Array.from(load(file).matchAll(/\benv\['([A-Z_]+)'\]/g), ([, name]) => name ?? ''),
    )
    expect(read.length).toBeGreaterThan(5)
    const text = page('environment')
    const missing = read.filter((name) => !text.includes(`\`${name}\``) && !ofGit.test(name))
    expect(missing).toEqual([])
  })
})

it('docs/internals/library.md has every method and option', () => {
  const handle = open(fileURLToPath(new URL('examples/storefront', root)))
  const names = [...Object.keys(handle), 'dialogue', 'outside', 'signal']
  expect(names.length).toBeGreaterThan(10)
  const text = load('docs/internals/library.md')
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})

it('the declared forms of deltas are those that are built', () => {
  const header = (name: string) => ({ name, value: '1' })
  const list = (...names: string[]) => ({ type: 'reset', list: names.map(header) })
  const samples: Record<string, [Json, Json]> = {
    ip_black_list: [{ list: ['192.0.2.1'] }, { list: ['192.0.2.1', '192.0.2.2'] }],
    ip_white_list: [{ list: ['192.0.2.1'] }, { list: ['192.0.2.1', '192.0.2.2'] }],
    add_response_head: [list('a', 'b'), list('b', 'c')],
    visit_deny_whitelist: [[{ url: '/a', turn_on: true }], [{ url: '/b', turn_on: true }]],
  }
  for (const [key, spec] of catalogue) {
    const [before, after] = samples[key] ?? [null, null]
    const forms = spec.buildDeltas?.(createItemState(before), after) ?? []
    expect([key, [...new Set(forms.map(({ name }) => name))].toSorted()]).toEqual([
      key,
      [...spec.deltaForms].toSorted(),
    ])
    expect([key, spec.deltaForms.length > 0]).toEqual([key, spec.buildDeltas !== undefined])
  }
})

/** Lists the paths of all keys of a schema. */
/** Lists the keys without a description, at any depth. */
function listUndescribed(schema: Schema, path = ''): string[] {
  const parts = [schema.items, schema.additionalProperties, ...(schema.oneOf ?? [])]
  return [
    ...Object.entries({ ...schema.properties, ...schema.$defs }).flatMap(([key, part]) => [
      ...((part.description ?? part.$ref ?? part.const ?? false) ? [] : [`${path}/${key}`]),
      ...listUndescribed(part, `${path}/${key}`),
    ]),
    ...(schema.properties === undefined ? parts : parts.slice(0, 2)).flatMap((part) =>
      typeof part === 'object' ? listUndescribed(part, path) : [],
    ),
  ]
}

function listKeys(schema: Schema, path: string): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const name = path === '' ? key : `${path}.${key}`
    return [name, ...listKeys(part, name)]
  })
  const named = schema.additionalProperties
  return [
    ...own,
    ...(schema.items === undefined ? [] : listKeys(schema.items, `${path}[]`)),
    ...(typeof named === 'object' ? listKeys(named, `${path}.NAME`) : []),
  ]
}
