import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { catalogue } from '../../src/catalog/catalogue.ts'
import { assemble } from '../../src/manifest/assemble.ts'
import { createSourceLineLookup } from '../../src/manifest/source-line.ts'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-config.ts'
import { parseYaml } from '../../src/manifest/yaml-file.ts'
import type { Diagnostic } from '../../src/model/problem.ts'
import { plainKeeper } from './test-workspace.ts'
import { anyCharacter, fc, itOften, runs } from '../runs.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const texts = readdirSync(examples, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(examples + name, 'utf8'))

const defaultHome =
  'version: 1\nsecrets: {s: {env: X}}\nallowLiteralSecrets: true\n' +
  'service: {itemKeys: {deny_protocol: a, error_bcache: b}}\n'

/** Loads a workspace from texts; checks that every diagnostic has a place in its file. */
function load(text: string, home = defaultHome): void {
  const workspace = parseWorkspaceConfig({ path: 'edgewise.yaml', text: home }, { HOME: 'x' })
  const file = { path: 'domains/a.yaml', text }
  const yaml = parseYaml(file)
  const diagnostics: Diagnostic[] = [...workspace.diagnostics, ...yaml.diagnostics]
  if (workspace.config !== null) {
    const assembled = assemble(workspace.config, workspace.document, yaml.documents, plainKeeper)
    diagnostics.push(...assembled.diagnostics)
    for (const [domain, items] of assembled.desired)
      for (const item of items.keys()) expect(assembled.findItemPlace(domain, item)).not.toBeNull()
  }
  const findLine = createSourceLineLookup([file, { path: 'edgewise.yaml', text: home }])
  for (const each of diagnostics) {
    const line = findLine(each)
    expect(line).not.toBeNull()
    expect(each.column).toBeGreaterThan(0)
    expect(each.endColumn).toBeGreaterThanOrEqual(each.column)
    expect(each.endLine).toBe(each.line)
    expect(each.column).toBeLessThanOrEqual((line ?? '').length + 1)
  }
}

const pieces = [
  ...catalogue.keys(),
  'domain: a.example.com',
  'domains:',
  'profiles: [p, q]',
  'profile: p',
  'vars: {x: 1}',
  'config:',
  '  https:',
  '    cert_id: 1',
  '---',
  '...',
  '- ',
  '? ',
  ': ',
  '\t',
  '  ',
  '&a ',
  '*a',
  '!!str ',
  '!x ',
  '|',
  '>',
  '"',
  "'",
  '{',
  '}',
  '[',
  ']',
  ',',
  '#',
  '\n',
  '\r\n',
  '%YAML 1.2\n',
  '${domain}',
  '${var:x}',
  '${secret:s}',
  '$${',
  '${',
  '{$append: [1]}',
  '{$unset: true}',
  '{$secret: x}',
  'null',
  '~',
  '.inf',
  '0x1',
  '1e400',
  '__proto__: 1',
  'constructor: 1',
  'toString: 1',
  '<<: *a',
  '\u0000',
  '\ufeff',
  '\u2028',
  '😀',
  '\ud800',
]
const piece = fc.constantFrom(...pieces)
const yamlish = fc
  .array(fc.oneof(piece, fc.string({ maxLength: 6, unit: anyCharacter })), { maxLength: 40 })
  .map((parts) => parts.join(''))

const mutated = fc
  .record({
    text: fc.constantFrom(...texts),
    cuts: fc.array(
      fc.record({ at: fc.nat(4000), gone: fc.nat(30), put: fc.oneof(piece, fc.constant('')) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
  })
  .map(({ text, cuts }) =>
    cuts.reduce(
      (all, { at, gone: removed, put: inserted }) =>
        all.slice(0, at % all.length) + inserted + all.slice((at % all.length) + removed),
      text,
    ),
  )

const key = fc.oneof(
  fc.constantFrom(
    '$append',
    '$unset',
    '$secret',
    'list',
    'url',
    'key',
    'configs',
    'code',
    'toString',
    '',
  ),
  fc.string({ maxLength: 5 }),
)
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, '', 'on', '${domain}', '${secret:s}', '1'),
    fc.integer(),
    fc.double(),
    fc.string({ unit: anyCharacter, maxLength: 8 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
})).value
const field = fc.constantFrom(
  ...[...catalogue].flatMap(([item, { schema }]) =>
    Object.keys(schema.properties ?? schema.items?.properties ?? { '': {} }).map(
      (name) => [item, name] as const,
    ),
  ),
)
const config = fc.oneof(
  fc.dictionary(fc.constantFrom(...catalogue.keys()), json, { maxKeys: 5 }),
  fc.tuple(field, json).map(([[item, name], value]) => ({
    [item]: { ...(catalogue.get(item)?.schema.examples?.[0] as object), [name]: value },
  })),
)
const section = fc.constantFrom(
  'id',
  'service',
  'limits',
  'manifests',
  'profiles',
  'defaults',
  'secrets',
  'state',
  'grouping',
  'guards',
  'rollout',
  'toString',
)

describe('loading never throws', () => {
  itOften('on text similar to YAML', () => {
    fc.assert(
      fc.property(yamlish, (text) => load(text)),
      { numRuns: runs(200, 13_500) },
    )
  })

  itOften('on mutated examples', () => {
    fc.assert(
      fc.property(mutated, (text) => load(text)),
      { numRuns: runs(120, 3_600) },
    )
  })

  itOften('on any JSON as value of items, in a manifest and in a profile', () => {
    fc.assert(
      fc.property(config, config, (own, below) => {
        const documents = [
          { domains: ['a.example.com', 'b.example.com'], profiles: ['p'], config: own },
          { profile: 'p', config: below },
        ]
        load(documents.map((each) => JSON.stringify(each)).join('\n---\n'))
      }),
      { numRuns: runs(150, 9_000) },
    )
  })

  itOften('on any JSON in the workspace file', () => {
    fc.assert(
      fc.property(fc.dictionary(section, json, { maxKeys: 4 }), (home) =>
        load('domain: a.example.com', JSON.stringify({ version: 1, ...home })),
      ),
      { numRuns: runs(150, 9_000) },
    )
    fc.assert(
      fc.property(yamlish, (home) => load('domain: a.example.com', `version: 1\n${home}`)),
      { numRuns: runs(90, 2_700) },
    )
  })
})
