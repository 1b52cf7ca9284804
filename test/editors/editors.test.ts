// @module-tag often
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyNth, itOften } from '../runs.ts'
import { LanguageServer } from './language-server.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = join(root, 'node_modules/yaml-language-server/bin/yaml-language-server')

const schema = pathToFileURL(join(root, 'schemas/edgewise.schema.json')).href
const settings = { validate: true, hover: true, completion: true, schemaStore: { enable: false } }
/** Refers to the schema, as the first line of every file of a workspace does. */
const line = `# yaml-language-server: $schema=${schema}\n`

describe('a YAML language server with the schemas', () => {
  let server: LanguageServer
  beforeAll(async () => {
    server = new LanguageServer(program, settings)
    await server.start(root)
  })
  afterAll(() => server.stop())

  const files = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => /(edgewise|domains|profiles|tests|policies).*\.yaml$/.test(name),
  )
  itOften('finds no problem in the examples', async () => {
    expect(files.length).toBeGreaterThan(20)
    for (const name of everyNth(files, 5)) {
      const path = join(root, 'examples', name)
      const text = line + readFileSync(path, 'utf8')
      expect([name, await server.open(path, text)]).toEqual([name, []])
    }
  })

  it.each<[string, string, string, number, RegExp]>([
    [
      'an unknown key of the workspace',
      'edgewise.yaml',
      'version: 1\nservise: {}\n',
      2,
      /servise is not allowed/,
    ],
    [
      'a wrong value of the workspace',
      'edgewise.yaml',
      'version: 1\nstate: {store: sqlite}\n',
      2,
      /git|dir/,
    ],
    [
      'a number above the maximum',
      'edgewise.yaml',
      'version: 1\nlimits: {domainsPerWrite: 11}\n',
      2,
      /maximum of 10/,
    ],
    [
      'an unknown key of a policy',
      'policies/a.yaml',
      'policy: a\nrequests: a.yaml\nlevle: hard\n',
      3,
      /levle is not allowed/,
    ],
    ['a manifest without a domain', 'domains/a.yaml', 'config: {}\n', 1, /domain/],
    ['a manifest in a .yml file', 'domains/a.yml', 'config: {}\n', 1, /domain/],
    [
      'an unknown key of a manifest',
      'domains/a.yaml',
      'domain: a.example.com\nconfg: {}\n',
      2,
      /confg is not allowed/,
    ],
    [
      'an unknown item',
      'domains/a.yaml',
      'domain: a.example.com\nconfig:\n  htps: {cert_id: 1}\n',
      3,
      /htps is not allowed/,
    ],
    [
      'an unknown field',
      'domains/a.yaml',
      'domain: a.example.com\nconfig:\n  https:\n    cert: 1\n',
      4,
      /cert is not allowed/,
    ],
    [
      'a wrong value',
      'domains/a.yaml',
      'domain: a.example.com\nconfig:\n  https:\n    http2: maybe\n',
      4,
      /on|off/,
    ],
    [
      'a wrong type',
      'domains/a.yaml',
      'domain: a.example.com\nconfig:\n  referer:\n    allow_empty: [1]\n',
      4,
      /type/,
    ],
    [
      'a profile with a domain',
      'profiles/p.yaml',
      'profile: p\ndomain: a.example.com\n',
      2,
      /domain is not allowed/,
    ],
    ['a broken file', 'domains/a.yaml', 'domain: a.example.com\nconfig: {\n', 3, /flow/i],
  ])('reports %s', async (what, path, text, place, message) => {
    const diagnostics = await server.open(
      join(root, 'broken', what.replaceAll(' ', '-'), path),
      line + text,
    )
    expect(diagnostics).toEqual(
      expect.arrayContaining([
        { line: place + 1, message: expect.stringMatching(message) as string },
      ]),
    )
  })

  it('completes and explains items, fields and values', async () => {
    const head = `${line}domain: a.example.com\nconfig:\n`
    const open = async (name: string, text: string) => {
      const path = join(root, `complete-${name}/domains/a.yaml`)
      await server.open(path, head + text)
      return path
    }
    expect(await server.listCompletions(await open('items', '  \n'), 3, 2)).toEqual(
      expect.arrayContaining(['origin', 'timeout', 'visit_timestamp']),
    )
    const fields = await open('fields', '  https:\n    cert_id: 1\n    \n')
    expect(await server.listCompletions(fields, 5, 4)).toEqual(
      expect.arrayContaining(['force_https', 'http2', 'ocsp']),
    )
    expect(
      await server.listCompletions(await open('words', '  https:\n    http2: \n'), 4, 11),
    ).toEqual(expect.arrayContaining(['"on"', '"off"']))
    expect(await server.hover(fields, 3, 4)).toContain('certificate')
    expect(await server.hover(fields, 4, 6)).toContain('certificate')
  })

  it('completes edgewise.yaml and profiles', async () => {
    const home = join(root, 'complete/edgewise.yaml')
    await server.open(home, `${line}version: 1\nguards:\n  \n`)
    expect(await server.listCompletions(home, 3, 2)).toEqual(
      expect.arrayContaining(['maxDomains', 'protect', 'freeze']),
    )
    expect(await server.hover(home, 2, 3)).toContain('Limits of one apply')
    const profile = join(root, 'complete/profiles/p.yaml')
    await server.open(profile, `${line}profile: p\nconfig:\n  time\n`)
    expect(await server.listCompletions(profile, 3, 6)).toContain('timeout')
  })

  it('completes tests: keys, answers and items, and finds their errors', async () => {
    const path = join(root, 'complete/tests/t.yaml')
    const requests = 'requests:\n  - url: https://a.b/\n    expect:\n      cache\n'
    await server.open(path, `${line}test: t\n${requests}`)
    expect(await server.listCompletions(path, 5, 11)).toContain('cache.seconds')
    const given = join(root, 'complete/tests/given.yaml')
    await server.open(given, `${line}test: t\ngiven:\n  config:\n    time\n`)
    expect(await server.listCompletions(given, 4, 8)).toContain('timeout')
    const wrong = join(root, 'complete/tests/wrong.yaml')
    const found = await server.open(wrong, `${line}test: t\nrequest: []\n`)
    expect(found.map(({ message }) => message).join()).toMatch(/request is not allowed/)
  })
})
