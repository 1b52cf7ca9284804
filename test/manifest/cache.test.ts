import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hashText, type CacheFile } from '../../src/manifest/manifests/cache/manifest-cache.ts'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'
import type { Workspace } from '../../src/manifest/workspace-file/workspace.ts'
import type { SecretKeeper } from '../../src/core/model/secret.ts'
import { fc, itLong, runs } from '../runs.ts'
import { createFolder } from './test-workspace.ts'

/** A cache file in memory that counts its writes. */
interface MemoryFile extends CacheFile {
  text: string | null
  saves: number
}

function createFile(): MemoryFile {
  return {
    text: null,
    saves: 0,
    load() {
      return this.text
    },
    save(text) {
      this.text = text
      this.saves++
    },
  }
}

/** A keeper as that of a command: references stay unresolved. */
function createKeeper(): SecretKeeper & { templates: string[] } {
  const templates: string[] = []
  return {
    templates,
    maskTemplate: (template) => {
      templates.push(template)
      return { $secret: `unresolved:${template.replace(/^\$\{secret:(.*)\}$/, '$1')}` }
    },
    maskLiteral: () => ({ $secret: 'scrypt:of-a-literal' }),
    occursIn: () => false,
  }
}

const home =
  'version: 1\nsecrets: {key: {env: KEY}}\nallowLiteralSecrets: true\n' +
  'service: {url: emulator, itemKeys: {deny_protocol: deny_protocol}}\n'

/** Creates a fleet that is large enough for a cache. */
function createFleet(files: Record<string, string> = {}): string {
  const plain = Array.from({ length: 100 }, (_, i) => [
    `domains/d${i}.yaml`,
    `domain: d${i}.example.com\nprofiles: [base]\n` +
      `config: {origin_host: {host: o${i % 7}.example}}\n`,
  ])
  return createFolder({
    'edgewise.yaml': home,
    'profiles/base.yaml': 'profile: base\nconfig: {timeout: {time: 60}}\n',
    ...Object.fromEntries(plain),
    ...files,
  })
}

function load(
  root: string,
  file?: CacheFile,
  { program = 'program', keeper = createKeeper() } = {},
): Workspace {
  return loadWorkspace(
    root,
    {},
    () => keeper,
    [],
    file === undefined ? {} : { openCache: () => ({ file, program }) },
  )
}

/** Describes everything that a command sees of a workspace. */
function describeWorkspace({ desired, diagnostics, files, ...others }: Workspace): object {
  return {
    desired: [...desired].map(([domain, items]) => [domain, [...items]]),
    diagnostics,
    files: files.map((file) => ({ ...file, uses: [...file.uses] })),
    places: [...desired]
      .filter(([domain]) => /^[a-z]\d\./.test(domain))
      .map(([domain, items]) =>
        [...items.keys()].map((item) => others.findItemPlace(domain, item)),
      ),
    lines: diagnostics.map(others.findSourceLine),
  }
}

function expectSame(root: string, file: CacheFile): void {
  expect(describeWorkspace(load(root, file))).toEqual(describeWorkspace(load(root)))
}

/** Edits of a fleet by name: each gets a number, and returns files with texts; null removes. */
const edits: Record<string, (n: number) => Record<string, string | null>> = {
  change: (n) => ({
    [`domains/d${n}.yaml`]: `domain: d${n}.example.com\nconfig: {timeout: {time: ${n + 1}}}\n`,
  }),
  several: (n) => ({
    [`domains/d${n}.yaml`]:
      `domains: [d${n}.example.com, e${n}.example.com]\nprofiles: [base, other]\n` +
      'config: {ip_black_list: {list: {$append: [192.0.2.1]}}}\n---\n---\n' +
      `domain: f${n}.example.com\nvars: {n: o${n}}\n` +
      'config: {origin_host: {host: "${var:n}.example"}}\n',
  }),
  duplicate: (n) => ({ [`domains/d${n}.yaml`]: 'domain: d7.example.com\nconfig: {}\n' }),
  syntax: (n) => ({ [`domains/d${n}.yaml`]: 'domain: [\n' }),
  item: (n) => ({
    [`domains/d${n}.yaml`]: `domain: d${n}.example.com\nconfig: {timeout: {tim: 1}, none: {}}\n`,
  }),
  null: (n) => ({
    [`domains/d${n}.yaml`]: `domain: d${n}.example.com\nconfig: {timeout: {time: 60, x: null}}\n`,
  }),
  unnamed: (n) => ({ [`domains/d${n}.yaml`]: configure(n, 'deny_protocol: {protocol: http}') }),
  empty: (n) => ({ [`domains/d${n}.yaml`]: '# nothing\n' }),
  remove: (n) => ({ [`domains/d${n}.yaml`]: null }),
  rename: (n) => ({
    [`domains/d${n}.yaml`]: null,
    [`domains/z${n}.yaml`]: `domain: d${n}.example.com\nprofiles: [base]\nconfig: {}\n`,
  }),
  profile: (n) => ({ 'profiles/base.yaml': `profile: base\nconfig: {timeout: {time: ${n}}}\n` }),
  included: (n) => ({
    'profiles/base.yaml': 'profile: base\nprofiles: [other]\nconfig: {timeout: {time: 9}}\n',
    'profiles/other.yaml': `profile: other\nconfig: {ip_black_list: {list: [192.0.2.${n + 9}]}}\n`,
  }),
  noProfile: () => ({ 'profiles/base.yaml': 'profile: bass\nconfig: {timeout: {time: 60}}\n' }),
  inManifest: (n) => ({
    [`domains/d${n}.yaml`]:
      `domain: d${n}.example.com\nconfig: {}\n---\n` +
      'profile: other\nconfig: {timeout: {time: 5}}\n',
  }),
  defaults: (n) => ({
    'edgewise.yaml': `${home}defaults: {connect_timeout: {origin_connect_timeout: ${n + 1}}}\n`,
  }),
  secrets: () => ({ 'edgewise.yaml': 'version: 1\n' }),
  secret: (n) => ({
    [`domains/d${n}.yaml`]: sign(n, '${secret:key}'),
  }),
  literal: (n) => ({
    [`domains/d${n}.yaml`]: sign(n, 'a-literal'),
  }),
}

function configure(n: number, items: string): string {
  return `domain: d${n}.example.com\nconfig: {${items}}\n`
}

function sign(n: number, key: string): string {
  const rest = 'deadtime: 1800, req_uri_type: 1'
  const item = `{pattern: ".*", time_format: timestamp, key: "${key}", ${rest}}`
  return `domain: d${n}.example.com\nconfig:\n  visit_timestamp: ${item}\n`
}

/** Writes and removes files, and returns their texts before. */
function edit(root: string, files: Record<string, string | null>): typeof files {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => {
      const place = join(root, path)
      const before = existsSync(place) ? readFileSync(place, 'utf8') : null
      if (text === null) rmSync(place, { force: true })
      else writeFileSync(place, text)
      return [path, before]
    }),
  )
}

/** Lists the files of an edit of two manifests: the cache of one alone is not written. */
function editTwo(name: string, n: number): Record<string, string | null> {
  return { ...edits[name]?.(n + 20), ...edits[name]?.(n) }
}

function apply(root: string, name: string, n: number): void {
  edit(root, edits[name]?.(n) ?? {})
}

describe('a cache of manifests', () => {
  itLong('changes no result, whatever changes between the runs', () => {
    const anyEdit = fc.tuple(fc.constantFrom(...Object.keys(edits)), fc.nat({ max: 12 }))
    fc.assert(
      fc.property(fc.array(anyEdit, { minLength: 3, maxLength: 5 }), (list) => {
        const [root, file] = [createFleet(), createFile()]
        expectSame(root, file)
        for (const [name, n] of list) {
          edit(root, editTwo(name, n))
          expectSame(root, file)
        }
      }),
      { numRuns: runs(2, 60) },
    )
  })

  itLong('gives the same result after each kind of edit, and after it is undone', () => {
    const [root, file] = [createFleet(), createFile()]
    const whole = describeWorkspace(load(root, file))
    for (const name of Object.keys(edits)) {
      const before = edit(root, editTwo(name, 3))
      const edited = describeWorkspace(load(root))
      for (let i = 0; i < 2; i++) expect(describeWorkspace(load(root, file)), name).toEqual(edited)
      edit(root, before)
      expect(describeWorkspace(load(root, file)), name).toEqual(whole)
    }
  })

  it.each([
    ['a name of a secret', 'secret', (text: string) => text.replace('key:', 'other:')],
    ['allowLiteralSecrets', 'literal', (text: string) => text.replace('allow', '# allow')],
    ['itemKeys', 'unnamed', (text: string) => text.replace(/itemKeys: .*/, 'itemKeys: {}}')],
  ])('is not used after a change of %s', (_, name, change) => {
    const [root, file] = [createFleet(), createFile()]
    apply(root, name, 3)
    load(root, file)
    edit(root, { 'edgewise.yaml': change(home) })
    expect(load(root).diagnostics).not.toEqual([])
    expectSame(root, file)
  })

  it('is used: a manifest is not parsed again', () => {
    const [root, file] = [createFleet(), createFile()]
    load(root, file)
    // Only a test can do this: another value under the hash of the same text.
    const changed = replaceBody(file.text ?? '', (body) => body.replaceAll('o3.example', 'cached'))
    expect(changed).not.toBe(file.text)
    file.text = changed
    const state = load(root, file).desired.get('d3.example.com')?.get('origin_host')
    expect(state?.candidates).toEqual([{ host: 'cached' }])
  })

  itLong('of an account that offers DELETE is not used once it does not, nor the other way', () => {
    const manifest = configure(3, 'timeout: {$unset: true}')
    const root = createFleet({ 'domains/d3.yaml': manifest })
    const file = createFile()
    const offer = (unset: boolean) =>
      writeFileSync(join(root, 'edgewise.yaml'), home.replace('{url', `{unset: ${unset}, url`))
    offer(true)
    expect(load(root, file).diagnostics).toEqual([])
    expect(file.saves).toBe(1)
    offer(false)
    expect(load(root, file).diagnostics.map(({ code }) => code)).toEqual(['unset-unavailable'])
    offer(true)
    expectSame(root, file)
  })

  itLong('is written only after more than one file in 64 has changed', () => {
    const [root, file] = [createFleet(), createFile()]
    for (let i = 0; i < 3; i++) load(root, file)
    expect(file.saves).toBe(1)
    apply(root, 'literal', 3)
    apply(root, 'syntax', 4)
    apply(root, 'change', 5)
    for (let i = 0; i < 2; i++) load(root, file)
    expect(file.saves).toBe(1)
    apply(root, 'change', 6)
    for (let i = 0; i < 2; i++) load(root, file)
    expect(file.saves).toBe(2)
  })

  itLong('is ignored and replaced when another program wrote it', () => {
    const [root, file] = [createFleet(), createFile()]
    load(root, file, { program: 'another' })
    file.text = replaceBody(file.text ?? '', (body) => body.replaceAll('o3.example', 'forged'))
    const { text } = file
    expectSame(root, file)
    expect(file.saves).toBe(2)
    expect(file.text).not.toBe(text)
  })

  it.each([
    ['empty', () => ''],
    ['truncated', (text: string) => text.slice(0, -100)],
    ['without its first line', (text: string) => text.slice(text.indexOf('\n') + 1)],
    ['of another format', (text: string) => text.replace('edgewise.cache/1', 'edgewise.cache/2')],
    ['with a changed value', (text: string) => text.replace('o3.example', 'o4.example')],
    ['of something else', () => 'null\nnull\n'],
  ])('is ignored and replaced when it is %s', (_, damage) => {
    const [root, file] = [createFleet(), createFile()]
    load(root, file)
    const { text } = file
    file.text = damage(text ?? '')
    expect(file.text).not.toBe(text)
    expectSame(root, file)
    expect(file.text).toBe(text)
  })

  it('has references of secrets, and neither values nor files with a literal one', () => {
    const [root, file] = [createFleet(), createFile()]
    apply(root, 'secret', 3)
    apply(root, 'literal', 4)
    load(root, file)
    expect(file.text).toContain('unresolved:key')
    expect(file.text).toContain('d3.example.com')
    expect(file.text).not.toMatch(/a-literal|scrypt|d4\.example\.com/)
  })

  it('looks up the secrets of known manifests, and no others', () => {
    const [root, file] = [createFleet(), createFile()]
    for (const n of [3, 5]) apply(root, 'secret', n)
    load(root, file)
    const keeper = createKeeper()
    load(root, file, { keeper })
    expect(keeper.templates).toEqual(['key'])
    for (const n of [3, 5]) rmSync(join(root, `domains/d${n}.yaml`))
    load(root, file, { keeper })
    expect(keeper.templates).toEqual(['key'])
  })

  it('is neither loaded nor written for few files', () => {
    const [root, file] = [
      createFolder({ 'domains/d.yaml': 'domain: d.example.com\nconfig: {}\n' }),
      createFile(),
    ]
    load(root, file)
    expect(file).toMatchObject({ text: null, saves: 0 })
  })
})

/** Replaces the content of a cache, with the right hash of the new one. */
function replaceBody(text: string, replace: (body: string) => string): string {
  const end = text.indexOf('\n')
  const [format, key] = text.slice(0, end).split(' ')
  const changed = replace(text.slice(end + 1, -1))
  return `${format} ${key} ${hashText(changed)}\n${changed}\n`
}
