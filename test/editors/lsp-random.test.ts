// @module-tag often
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import {
  CodeActionRequest,
  CompletionRequest,
  HoverRequest,
} from 'vscode-languageserver-protocol/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { itOften, runs, seed } from '../runs.ts'
import { runProgram } from '../program.ts'
import { Chance } from '../simulation/chance.ts'
import { Editor } from './lsp-client.ts'

const files: Record<string, string> = {
  'edgewise.yaml': 'version: 1\nsecrets: {key: {env: KEY}}\ndefaults: {timeout: {time: 30}}\n',
  'profiles/base.yaml': 'profile: base\nvars: {zone: eu}\nconfig:\n  timeout: {time: 60}\n',
  'profiles/more.yaml':
    'profile: more\nprofiles: [base]\nconfig:\n  https: {cert_id: 1001, http2: on}\n',
  'domains/shop.yaml':
    'domain: shop.example.com\nprofiles: [more]\nconfig:\n' +
    '  origin_host: {host: "${var:zone}.example.com"}\n' +
    '  ip_black_list: {list: [192.0.2.1, 192.0.2.0/24]}\n',
  'domains/many.yaml':
    'domains:\n  - a.example.com\n  - b.example.com\nprofiles: [base]\nconfig: {}\n---\n' +
    'domain: c.example.com\nconfig:\n  visit_timestamp: {type: typeA, key_1: "${secret:key}"}\n',
}
const pieces =
  'base|more|basis|shop.example.com|a.example.com|  |\n|---\n|{|}|[|]|"|: |- |#|timeout|time: 5|' +
  '${secret:key}|${var:zone}|${|*a|&a |\t|\u{1f6d2}|# edgewise: allow |on|!!|null|profile: x\n'

describe('an editor', () => {
  itOften('shows what validate finds after random edits, and its server never fails', async () => {
    const root = mkdtempSync(join(tmpdir(), 'edgewise-'))
    const editor = new Editor(root, { KEY: 'value' })
    const chance = new Chance(`editor ${seed}`)
    const texts = new Map(Object.entries(files))
    for (const [path, text] of texts) editor.write(path, text)
    await editor.start()
    for (const [path, text] of texts) await editor.open(path, text)
    const [rounds, edits] = [runs(3, 20), 50]
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < edits; i++) {
        const [path, text] = chance.pick([...texts])
        // Some edits bring a file back, so that not all stay broken.
        const next = chance.between(0, 8) === 0 ? (files[path] ?? '') : null
        const document = TextDocument.create('file:///x', 'yaml', 1, text)
        const start = document.positionAt(chance.between(0, text.length))
        const at = document.offsetAt(start)
        const end = document.positionAt(at + chance.between(0, 6))
        const piece = chance.pick(pieces.split('|'))
        const range = { start, end }
        const changed = next ?? TextDocument.applyEdits(document, [{ range, newText: piece }])
        await editor.change(path, next ?? piece, next === null ? range : undefined)
        texts.set(path, changed)
        const position = { textDocument: { uri: editor.toUri(path) }, position: start }
        const ask = chance.between(0, 9)
        if (ask === 0) await editor.connection.sendRequest(HoverRequest.type, position)
        if (ask === 1) await editor.connection.sendRequest(CompletionRequest.type, position)
        const actions = { ...position, range: { start, end: start }, context: { diagnostics: [] } }
        if (ask === 2) await editor.connection.sendRequest(CodeActionRequest.type, actions)
      }
      for (const [path, text] of texts) editor.write(path, text)
      const { out } = await runProgram({ root, env: { KEY: 'value' } }, 'validate', '--json')
      const { diagnostics } = JSON.parse(out) as {
        diagnostics: { file: string; line: number; column: number; code: string }[]
      }
      const wanted = diagnostics
        .map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`)
        .toSorted()
      await editor.waitFor((list) => list.join() === wanted.join())
      expect(editor.logs).toEqual([])
    }
    await editor.stop()
    rmSync(root, { recursive: true })
  })
})
