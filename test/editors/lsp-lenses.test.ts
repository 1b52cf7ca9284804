// @module-tag often
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  CodeLensRefreshRequest,
  CodeLensRequest,
  HoverRequest,
} from 'vscode-languageserver-protocol/node'
import { runProgram } from '../program.ts'
import { Editor } from './lsp-client.ts'

const base = 'profile: base\nconfig:\n  timeout: {time: 60}\n'
const shop =
  'domain: Shop.example.com\nprofiles: [base]\nconfig:\n  origin_host: {host: o.example.com}\n'
const more = '---\ndomains: [a.example.com, b.example.com]\nconfig:\n  timeout: {time: 5}\n'
const payloads = {
  'shop.example.com': { origin_host: { host: 'o.example.com' }, timeout: { time: '60' } },
  'a.example.com': { timeout: { time: '5' } },
  'b.example.com': { timeout: { time: '6' } },
}

const root = mkdtempSync(join(tmpdir(), 'edgewise-'))
const env = { KEY: 'kept-from-every-editor', HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
const editor = new Editor(root, env, ['--stdio'])
let refreshed = 0
let onRefresh: () => void = () => undefined

beforeAll(async () => {
  editor.write('edgewise.yaml', 'version: 1\nstate: {store: dir}\nsecrets: {key: {env: KEY}}\n')
  editor.write('domains/shop.yaml', shop + more)
  editor.write('profiles/base.yaml', base)
  editor.write('payloads.json', JSON.stringify(payloads))
  editor.connection.onRequest(CodeLensRefreshRequest.type, () => {
    refreshed++
    onRefresh()
  })
  await editor.start({ workspace: { codeLens: { refreshSupport: true } } })
  await editor.open('domains/shop.yaml', shop + more)
})
afterAll(async () => {
  expect(editor.logs).toEqual([])
  expect(await editor.stop()).toBe(0)
  rmSync(root, { recursive: true })
})

/** Lists the lenses of a file: their lines from 1, and their texts. */
async function list(path = 'domains/shop.yaml', of = editor): Promise<string[] | undefined> {
  const textDocument = { uri: of.toUri(path) }
  const lenses = await of.connection.sendRequest(CodeLensRequest.type, { textDocument })
  return lenses?.map(({ range, command }) => `${range.start.line + 1}: ${command?.title}`)
}

it('tells what an apply of a manifest sends, with its unsaved text', async () => {
  expect(await list()).toEqual(['1: 2 changes · 1 write', '6: 2 changes · 1 write'])
  const { code, err } = await runProgram({ root, env }, 'import', 'payloads.json', '--yes')
  expect(code, err).toBe(0)
  expect(await list()).toEqual(['1: no changes', '6: 1 change · 1 write'])
  await editor.change('domains/shop.yaml', shop.replace('o.example', 'p.example'))
  expect(await list()).toEqual(['1: 1 change · 1 write'])
})

it('asks the editor to ask again when a profile has changed', async () => {
  await editor.change('domains/shop.yaml', shop)
  expect(await list()).toEqual(['1: no changes'])
  const before = refreshed
  const asked = new Promise<void>((resolve) => (onRefresh = resolve))
  await editor.open('profiles/base.yaml', base.replace('60', '61'))
  await asked
  expect(refreshed).toBeGreaterThan(before)
  expect(await list()).toEqual(['1: 1 change · 1 write'])
  expect(await list('profiles/base.yaml')).toEqual([])
  await editor.close('profiles/base.yaml')
})

it('shows nothing in a workspace with an error, nor in other files', async () => {
  await editor.open('domains/other.yaml', 'domain: other.example.com\nconfig: {timeot: {}}\n')
  expect(await list()).toEqual([])
  await editor.close('domains/other.yaml')
  expect(await list()).toEqual(['1: no changes'])
  expect(await list('edgewise.yaml')).toEqual([])
})

it('plans only for the last request, and answers others meanwhile', async () => {
  const first = list()
  const position = { line: 3, character: 4 }
  const textDocument = { uri: editor.toUri('domains/shop.yaml') }
  const hover = editor.connection.sendRequest(HoverRequest.type, { textDocument, position })
  const last = list()
  await expect(Promise.race([last.then(() => 'lens'), hover.then(() => 'hover')])).resolves.toBe(
    'hover',
  )
  await expect(first).rejects.toThrow('asked about again')
  expect(await last).toEqual(['1: no changes'])
})

it('looks no secret up, so that a recorded one may differ', async () => {
  const fields = { pattern: '.*', time_format: 'timestamp', deadtime: 1800, req_uri_type: 1 }
  const build = (key: string) => ({ visit_timestamp: { ...fields, key } })
  const text = JSON.stringify({ domain: 's.example.com', config: build('${secret:key}') })
  await editor.open('domains/s.yaml', text)
  expect(await list('domains/s.yaml')).toEqual(['1: 1 change · 1 write'])
  editor.write('domains/s.yaml', text)
  editor.write('payloads.json', JSON.stringify({ 's.example.com': build(env.KEY) }))
  const { code, err } = await runProgram({ root, env }, 'import', 'payloads.json', '--yes')
  expect(code, err).toBe(0)
  const title = 'no changes · 1 secret compared at the apply'
  expect(await list('domains/s.yaml')).toEqual([`1: ${title}`])
})

it('knows the state of a clone without its remote', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-'))
  const clone = new Editor(folder, env)
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, env: { ...env, PATH: process.env['PATH'] } })
  git('init', '--quiet')
  clone.write('edgewise.yaml', 'version: 1\n')
  clone.write('domains/shop.yaml', shop.replace('profiles: [base]\n', ''))
  clone.write('payloads.json', JSON.stringify(payloads))
  const { code, err } = await runProgram({ root: folder, env }, 'import', 'payloads.json', '--yes')
  expect(code, err).toBe(0)
  await clone.start()
  await clone.open('domains/shop.yaml', shop.replace('profiles: [base]\n', ''))
  expect(await list('domains/shop.yaml', clone)).toEqual(['1: no changes'])
  git('update-ref', 'refs/remotes/origin/edgewise-state', 'edgewise-state')
  git('branch', '-D', 'edgewise-state')
  git('remote', 'add', 'origin', join(folder, 'nowhere'))
  expect(await list('domains/shop.yaml', clone)).toEqual(['1: no changes'])
  expect(clone.logs).toEqual([])
  await clone.stop()
  rmSync(folder, { recursive: true })
})
