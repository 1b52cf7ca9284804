// @module-tag often
// @module-tag nightly
import { describe, expect } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { assemble } from '../../src/manifest/manifests/assemble.ts'
import { createSourceLineLookup } from '../../src/manifest/yaml/source-line.ts'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-file/workspace-config.ts'
import { parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import type { Diagnostic } from '../../src/core/model/problem.ts'
import { createRandomYaml, editedYaml } from './random-yaml.ts'
import { plainKeeper } from './test-workspace.ts'
import { anyCharacter, fc, itOften, runs } from '../runs.ts'

const home =
  'version: 1\nsecrets: {s: {env: X}}\nallowLiteralSecrets: true\n' +
  'service: {itemKeys: {deny_protocol: a, error_bcache: b}}\n'

/** Loads a workspace with a text; checks that every diagnostic has a place in its file. */
function load(text: string): void {
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
  const findLine = createSourceLineLookup(() => [file, { path: 'edgewise.yaml', text: home }])
  for (const each of diagnostics) {
    const line = findLine(each)
    expect(line).not.toBeNull()
    expect(each.column).toBeGreaterThan(0)
    expect(each.endColumn).toBeGreaterThanOrEqual(each.column)
    expect(each.endLine).toBe(each.line)
    expect(each.column).toBeLessThanOrEqual((line ?? '').length + 1)
  }
}

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
describe('loading never throws', () => {
  itOften('on edited manifests', () => {
    fc.assert(fc.property(editedYaml, load), { numRuns: runs(200, 10_000) })
  })

  itOften('on any YAML', () => {
    fc.assert(fc.property(fc.nat().map(createRandomYaml), load), { numRuns: runs(100, 5_000) })
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
})
