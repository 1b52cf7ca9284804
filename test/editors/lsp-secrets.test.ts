// @module-tag often
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { HoverRequest } from 'vscode-languageserver-protocol/node'
import { Editor } from './lsp-client.ts'

const value = 'kept-from-every-editor'
const manifest =
  'domain: shop.example.com\nconfig:\n  visit_timestamp:\n    type: typeA\n' +
  '    key_1: "${secret:key}"\n    key_2: "${secret:run}"\n'

it('runs no command of a secret, and shows no value', async () => {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-'))
  const editor = new Editor(root, { KEY: value })
  const mark = join(root, 'mark')
  editor.write(
    'edgewise.yaml',
    `version: 1\nsecrets:\n  key: {env: KEY}\n  run: {command: [touch, ${mark}]}\n`,
  )
  editor.write('domains/shop.yaml', `${manifest}    odd: 1\n`)
  await editor.start()
  await editor.waitFor((list) => list.length > 0)
  expect(existsSync(mark)).toBe(false)
  expect(JSON.stringify([...editor.shown])).not.toContain(value)
  await editor.stop()
  rmSync(root, { recursive: true })
})

it('masks the values of secrets in what it says about a place', async () => {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-'))
  const editor = new Editor(root, { KEY: value })
  const literal = 'written-in-the-manifest'
  const fields = 'pattern: ".*", time_format: timestamp, deadtime: 1800, req_uri_type: 1'
  const build = (key: string) =>
    `domain: shop.example.com\nconfig:\n  visit_|timestamp: {${fields}, k|ey: "${key}"}\n`
  editor.write(
    'edgewise.yaml',
    'version: 1\nallowLiteralSecrets: true\nsecrets: {key: {env: KEY}}\n',
  )
  await editor.start()
  for (const key of ['${secret:key}', literal])
    for (const kept of [0, 1]) {
      let count = 0
      const marked = build(key).replaceAll('|', () => (count++ === kept ? '|' : ''))
      const at = await editor.at('domains/shop.yaml', marked)
      const hover = await editor.connection.sendRequest(HoverRequest.type, at)
      const text = JSON.stringify(hover)
      expect(text).toContain('Merged value of `shop.example.com`')
      expect(text).toContain('(secret)')
      expect(text).not.toContain(value)
      expect(text).not.toContain(literal)
    }
  expect(editor.list()).toEqual([])
  await editor.stop()
  rmSync(root, { recursive: true })
})

it('publishes the problems of a file in which secrets stand for texts', async () => {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-'))
  const editor = new Editor(root)
  editor.write('edgewise.yaml', 'version: 1\nsecrets: {preview: {env: KEY}}\n')
  const rules = ['ext', 'dir', 'route', 'regex'].map(
    (method) => `{match_method: ${method}, pattern: "\${secret:preview}", expire: 5}`,
  )
  editor.write(
    'domains/shop.yaml',
    `domain: shop.example.com\nconfig:\n  cache_rule_list: [${rules.join(', ')}]\n` +
      '  cache_rule: [{type: 1, pattern: "${secret:preview}", time: 5}]\n' +
      '  deny_url: {urls: ["/a${secret:preview}", "/b"]}\n' +
      '  ip_black_list: {list: ["${secret:preview}", 10.0.0.0/8]}\n' +
      '  timeout: {time: 60, tim: 5}\n',
  )
  await editor.start()
  await editor.waitFor((list) => list.some((each) => each.includes('item-invalid')))
  expect(editor.logs.join('\n')).not.toMatch(/internal error|TypeError/)
  await editor.stop()
  rmSync(root, { recursive: true })
})
