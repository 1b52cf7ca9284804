import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'
import workspaceSchema from '../../schemas/workspace.schema.json' with { type: 'json' }
import { listFileKinds } from '../../src/manifest/workspace-file/file-kinds.ts'
import { findFileKind } from '../../src/manifest/manifests/forgotten-files.ts'
import { createWorkspace, listGlobs } from './test-workspace.ts'

const src = fileURLToPath(new URL('../../src', import.meta.url))
const kinds = Object.keys(listFileKinds(listGlobs()))

/** Modules that search or load files of a name in the workspace, and for which kinds. */
const readers: Record<string, string> = {
  'cli/explain/explain.ts': 'workspace',
  'cli/init/find-placement.ts': 'workspace',
  'cli/select-files.ts': 'requests, schema, owners',
  'manifest/manifests/cache/file-memory.ts': 'manifests, profiles',
  'manifest/manifests/cache/load-files.ts': 'manifests, profiles',
  'manifest/manifests/forgotten-files.ts': 'manifests, profiles, policies',
  'manifest/manifests/load-documents.ts': 'manifests, profiles',
  'manifest/manifests/load-workspace.ts': 'workspace, manifests, profiles, policies, tests',
  'manifest/policies/load-policies.ts': 'policies',
  'manifest/tests/load-tests.ts': 'tests',
  'operations/people/owners.ts': 'owners',
  // A policy names its requests itself.
  'operations/policies/load-request-cases.ts': 'requests',
  'cli/requests/effects-request.ts': 'requests',
}
/** Modules that load no file of a workspace: named by a person, secret, stored, packaged. */
const others = [
  'cli/action/run-action.ts',
  'cli/init/write-workspace.ts',
  'cli/load-file.ts',
  'cli/own/own-check.ts',
  'cli/report/html.ts',
  'emulator/store/data-file.ts',
  'manifest/manifests/find-files.ts',
  'manifest/manifests/load-source.ts',
  'manifest/secrets/secret-sources.ts',
  'manifest/workspace-file/find-root.ts',
  'operations/history/sign-history.ts',
  'operations/observation/observe.ts',
  'operations/runtime/node-outside.ts',
  'state/folder/real-disk.ts',
  'state/git/find-repository.ts',
  'state/postgres/create-pool.ts',
]
const reading = new RegExp(
  String.raw`from '[^']*/(?:load-below|load-bounded|load-source|list-below|list-names|find-files)` +
    String.raw`\.ts'|(?:from|import\() ?'(?:tinyglobby|picomatch)'`,
)

describe('the list of the files of a workspace', () => {
  it('has every key of edgewise.yaml with globs of files', () => {
    const keys = Object.entries(workspaceSchema.properties)
      .filter(([, schema]) =>
        ('description' in schema ? schema.description : '').startsWith('Globs of '),
      )
      .map(([key]) => key)
    expect(keys.toSorted()).toEqual(Object.keys(listGlobs()).toSorted())
    expect(kinds).toEqual(expect.arrayContaining(keys))
  })

  it('has what each module of the program searches and loads: a new reader needs a kind', () => {
    const found = globSync('**/*.ts', { cwd: src, ignore: ['files/**', '**/generated/**'] }).filter(
      (path) => reading.test(readFileSync(join(src, path), 'utf8')),
    )
    expect(found.toSorted()).toEqual([...Object.keys(readers), ...others].toSorted())
    const read = Object.values(readers).flatMap((each) => each.split(', '))
    expect([...new Set(read)].toSorted()).toEqual(kinds.toSorted())
  })

  it.each([
    ['edgewise.yaml', 'workspace'],
    ['tests/a.yaml', 'tests'],
    ['policies/a.yaml', 'policies'],
    ['manifests/a.yaml', 'manifests'],
    ['requests/a.txt', 'requests'],
    ['edgewise.schema.json', 'schema'],
    ['.github/CODEOWNERS', 'owners'],
    ['README.md', undefined],
  ])('knows %s as one of %s', (path, kind) => {
    expect(findFileKind(path, listGlobs())).toBe(kind)
  })
})

describe('a hidden file', () => {
  it.each([
    ['domains/.a.yaml', 'domain: a.example.com\nconfig: {}\n', 'a.yaml'],
    ['domains/.example.com.yaml', 'domain: .example.com\nconfig: {}\n', 'example.com.yaml'],
    ['policies/.p.yaml', 'policy: p\n', 'p.yaml'],
  ])('%s that looks like one of the workspace is named', (path, text, name) => {
    const { diagnostics } = createWorkspace({
      'domains/b.yaml': 'domain: b.example.com\nconfig: {}\n',
      [path]: text,
    })
    expect(diagnostics).toMatchObject([{ file: path, severity: 'warning' }])
    expect(diagnostics[0]?.detail).toContain(`Rename it to "${name}"`)
  })

  it('is not named for anything else', () => {
    const files = { 'domains/.swp.yaml': 'a: 1\n', 'domains/.b/c.yaml': 'domain: c.example.com\n' }
    const { diagnostics } = createWorkspace({
      'domains/b.yaml': 'domain: b.example.com\nconfig: {}\n',
      ...files,
    })
    expect(diagnostics).toEqual([])
  })
})
