import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  CodeActionRequest,
  CompletionRequest,
  DefinitionRequest,
  DocumentFormattingRequest,
  HoverRequest,
  ReferencesRequest,
  RenameRequest,
  type CodeAction,
  type CompletionItem,
  type Location,
  type MarkupContent,
} from 'vscode-languageserver-protocol/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { Editor } from './lsp-client.ts'

const shop =
  'domain: shop.example.com\nprofiles: [base]\nconfig:\n  origin_host: {host: o.example.com}\n'
const base = 'profile: base\nconfig:\n  timeout: {time: 60}\n'

const root = mkdtempSync(join(tmpdir(), 'edgewise-'))
const editor = new Editor(root)
beforeAll(async () => {
  editor.write('edgewise.yaml', 'version: 1\n')
  editor.write('domains/shop.yaml', shop)
  editor.write('domains/blog.yaml', shop.replace('shop.', 'blog.'))
  editor.write('profiles/base.yaml', base)
  await editor.start()
})
afterAll(async () => {
  expect(await editor.stop()).toBe(0)
  rmSync(root, { recursive: true })
})

describe('problems in an editor', () => {
  it('follow the unsaved text, and the profile that manifests use', async () => {
    await editor.open('domains/shop.yaml', shop)
    await editor.change('domains/shop.yaml', shop.replace('origin_host', 'origin_hots'))
    await editor.waitFor((list) => list.join() === 'domains/shop.yaml:4:3 item-unknown')
    await editor.change('domains/shop.yaml', shop)
    await editor.waitFor((list) => list.length === 0)
    await editor.open('profiles/base.yaml', base.replace('base', 'basis'))
    await editor.waitFor(
      (list) =>
        list.join() ===
        'domains/blog.yaml:2:12 profile-unknown,domains/shop.yaml:2:12 profile-unknown',
    )
    await editor.close('profiles/base.yaml')
    await editor.waitFor((list) => list.length === 0)
  })

  it('of a range count UTF-16 units', async () => {
    const text = shop.replace('{host: o.', '{host: "\u{1f6d2}", hots: o.')
    await editor.change('domains/shop.yaml', text)
    const column = (text.split('\n')[3] ?? '').indexOf('hots') + 1
    await editor.waitFor((list) => list.some((each) => each.includes(`:4:${column} `)))
    const at = { line: 3, character: column - 1 }
    const range = { start: at, end: { ...at, character: column + 'hots'.length } }
    await editor.change('domains/shop.yaml', 'host: ', range)
    await editor.waitFor(
      (list) => list.length > 0 && list.every((each) => !each.includes(`:${column} item-inv`)),
    )
    await editor.change('domains/shop.yaml', shop)
    await editor.waitFor((list) => list.length === 0)
  })

  it('are those of a new file, of one that another program writes, of a broken one', async () => {
    await editor.open('domains/new.yaml', shop)
    await editor.waitFor((list) => list.join().includes('domain-duplicate'))
    await editor.close('domains/new.yaml')
    await editor.waitFor((list) => list.length === 0)
    editor.write('domains/other.yaml', 'domain: x.example.com\nconfig: {https: [\n')
    await editor.reportChanges()
    await editor.waitFor((list) => list.join().includes('domains/other.yaml'))
    rmSync(join(root, 'domains/other.yaml'))
    await editor.reportChanges()
    await editor.waitFor((list) => list.length === 0)
  })

  it('are those of all lists, also where one check does not compare all of them', async () => {
    const build = (i: number) => {
      const list = Array.from({ length: 40 }, (_, n) => `10.${i}.0.${n}`)
      const bans = [list, list.toReversed()].map((each) => ({ configs: { ip: { list: each } } }))
      return JSON.stringify({ domain: `d${i}.example.com`, config: { combined_ban: bans } })
    }
    const text = Array.from({ length: 20 }, (_, i) => `${build(i)}\n`).join('---\n')
    await editor.open('domains/lists.yaml', text)
    await editor.waitFor(
      (list) => list.filter((each) => each.includes('entry-redundant')).length === 20,
    )
    await editor.close('domains/lists.yaml')
    await editor.waitFor((list) => list.length === 0)
  })

  it('are those of an unsaved edgewise.yaml, which may be broken', async () => {
    await editor.open('edgewise.yaml', 'version: 1\nlimits: {callsPerMinutes: 3}\n')
    await editor.waitFor((list) => list.join().startsWith('edgewise.yaml:2:'))
    await editor.change('edgewise.yaml', 'version: [')
    await editor.waitFor((list) => list.join().includes('yaml-invalid'))
    await editor.close('edgewise.yaml')
    await editor.waitFor((list) => list.length === 0)
    expect(editor.logs).toEqual([])
  })
})

const { connection } = editor

async function hover(path: string, marked: string): Promise<string> {
  const result = await connection.sendRequest(HoverRequest.type, await editor.at(path, marked))
  return (result?.contents as MarkupContent | undefined)?.value ?? ''
}

describe('hover', () => {
  it('has the meaning of an item, its merged value, its source and its state', async () => {
    const text = await hover('domains/shop.yaml', `${shop}  time|out: {}\n`)
    expect(text).toContain('**timeout**')
    expect(text).toContain('Merged value of `shop.example.com`:')
    expect(text).toContain('- time: `profiles/base.yaml:3`')
    expect(text).toContain('"time": "60"')
    expect(text).toContain('State: nothing is recorded for `shop.example.com`.')
  })

  it('says what shadows a value of a profile', async () => {
    await editor.at('domains/shop.yaml', `${shop}  timeout: {time: 50}|\n`)
    const text = await hover('profiles/base.yaml', base.replace('time:', 'ti|me:'))
    expect(text).toContain('*Shadowed by* `domains/shop.yaml:5` in 1 of 2 domains')
  })

  it('is nothing in a comment, and does not fail in a broken file', async () => {
    expect(await hover('domains/shop.yaml', `# a com|ment\n${shop}`)).toBe('')
    const text = await hover(
      'domains/shop.yaml',
      `${shop.replace('origin_host', 'origin|_host')}  x: [`,
    )
    expect(text).toContain('**origin\\_host**')
  })
})

describe('completion', () => {
  it.each<[string, string, string[]]>([
    ['items', 'domain: a.example.com\nconfig:\n  ori|', ['origin', 'origin_host', 'https']],
    ['fields', 'domain: a.example.com\nconfig:\n  https:\n    ht|', ['http2', 'cert_id']],
    [
      'fields in braces',
      'domain: a.example.com\nconfig:\n  https: {http2: on, f|',
      ['force_https'],
    ],
    ['fields of entries', 'domain: a.example.com\nconfig:\n  cache_rule:\n    - |', ['pattern']],
    ['values', 'domain: a.example.com\nconfig:\n  https:\n    http2: o|', ['on', 'off']],
    ['profiles', 'domain: a.example.com\nprofiles:\n  - b|', ['base']],
    ['profiles in brackets', 'domain: a.example.com\nprofiles: [b|]', ['base']],
    ['keys', 'domain: a.example.com\npro|', ['profiles', 'config']],
    [
      'secrets',
      'profile: x\nconfig:\n  origin_host: {host: "${|',
      ['${domain}', '${secret:key}', '${var:zone}'],
    ],
  ])('of %s', async (_what, marked, expected) => {
    await editor.open('edgewise.yaml', 'version: 1\nsecrets: {key: {env: KEY}}\n')
    await editor.open('profiles/zones.yaml', 'profile: zones\nvars: {zone: a}\nconfig: {}\n')
    const at = await editor.at('domains/new.yaml', marked)
    const items = (await connection.sendRequest(CompletionRequest.type, at)) as CompletionItem[]
    expect(items.map(({ label }) => label)).toEqual(expect.arrayContaining(expected))
    await editor.close('edgewise.yaml')
    await editor.close('profiles/zones.yaml')
    await editor.close('domains/new.yaml')
  })
})

it('completes settings in edgewise.yaml', async () => {
  const at = await editor.at('edgewise.yaml', 'version: 1\nlim|')
  const items = (await connection.sendRequest(CompletionRequest.type, at)) as CompletionItem[]
  expect(items.map(({ label }) => label)).toContain('limits')
  await editor.close('edgewise.yaml')
})

/** Lists where locations are, as `file:line:column`. */
function listPlaces(locations: Location[]): string[] {
  return locations
    .map(({ uri, range: { start } }) => {
      const path = uri.slice(editor.toUri('').replace(/\/$/, '').length + 1)
      return `${path}:${start.line + 1}:${start.character + 1}`
    })
    .toSorted()
}

describe('profiles', () => {
  it('have a definition and references', async () => {
    await editor.at('profiles/base.yaml', `${base}|`)
    const at = await editor.at('domains/shop.yaml', shop.replace('[base', '[b|ase'))
    const found = (await connection.sendRequest(DefinitionRequest.type, at)) as Location[]
    expect(listPlaces(found)).toEqual(['profiles/base.yaml:1:10'])
    const context = { includeDeclaration: true }
    const all = await connection.sendRequest(ReferencesRequest.type, { ...at, context })
    expect(listPlaces(all ?? [])).toEqual([
      'domains/blog.yaml:2:12',
      'domains/shop.yaml:2:12',
      'profiles/base.yaml:1:10',
    ])
  })

  it('are renamed everywhere, except to a wrong name or while a file is broken', async () => {
    const at = await editor.at(
      'profiles/base.yaml',
      'profile: ba|se\nconfig: {timeout: {time: 60}}\n',
    )
    const edit = await connection.sendRequest(RenameRequest.type, { ...at, newName: '1.5' })
    const edits = Object.values(edit?.changes ?? {}).flat()
    expect(edits.map(({ newText }) => newText)).toEqual(['"1.5"', '"1.5"', '"1.5"'])
    for (const [newName, reason] of [
      ['a b', 'A name of a profile'],
      ['base', 'already'],
    ] as const)
      await expect(connection.sendRequest(RenameRequest.type, { ...at, newName })).rejects.toThrow(
        reason,
      )
    await editor.open('domains/broken.yaml', 'domain: [\n')
    await expect(
      connection.sendRequest(RenameRequest.type, { ...at, newName: 'root' }),
    ).rejects.toThrow('domains/broken.yaml:2 may name the profile too')
    await editor.close('domains/broken.yaml')
  })
})

/** Applies the first action of this title to a text, and returns the new text. */
async function act(path: string, marked: string, title: string): Promise<string> {
  const { textDocument, position } = await editor.at(path, marked)
  const range = { start: position, end: position }
  const context = { diagnostics: [] }
  const actions = await connection.sendRequest(CodeActionRequest.type, {
    textDocument,
    range,
    context,
  })
  const action = (actions as CodeAction[] | null)?.find((each) => each.title === title)
  const edits = action?.edit?.changes?.[textDocument.uri] ?? []
  const document = TextDocument.create('file:///x', 'yaml', 1, marked.replace('|', ''))
  return TextDocument.applyEdits(document, edits)
}

describe('actions', () => {
  it.each([
    ['origin_hots|', 'origin_host|'],
    ['[bas|s]', '[bas|e]'],
  ])('change %s to what was meant', async (wrong, right) => {
    const text = shop.replace('origin_host', 'https: {http2: on}\n  origin_host')
    const meant = right.replace('|', '')
    const marked = text.replace(meant, wrong)
    const title = `Change to "${meant.replaceAll(/[[\]]/g, '')}"`
    expect(await act('domains/shop.yaml', marked, title)).toBe(text)
  })

  it('remove a repeated entry', async () => {
    const text = `${shop}  ip_black_list: {list: [192.0.2.1, 192.0.2.0/24|]}\n`
    const fixed = await act(
      'domains/shop.yaml',
      text.replace('192.0.2.1', '|192.0.2.1').replace('24|', '24'),
      'Remove what is repeated',
    )
    expect(fixed).toBe(`${shop}  ip_black_list: {list: [192.0.2.0/24]}\n`)
  })

  it('format as fmt does', async () => {
    const rough = 'config:\n    timeout: { time: 60 }\ndomain: a|.example.com\n'
    const wanted = 'domain: a.example.com\nconfig:\n  timeout: {time: 60}\n'
    expect(await act('domains/shop.yaml', rough, 'Format as edgewise fmt does')).toBe(wanted)
    const textDocument = { uri: editor.toUri('domains/shop.yaml') }
    const options = { tabSize: 4, insertSpaces: true }
    const edits = await connection.sendRequest(DocumentFormattingRequest.type, {
      textDocument,
      options,
    })
    expect(edits?.map(({ newText }) => newText)).toEqual([wanted])
  })
})
