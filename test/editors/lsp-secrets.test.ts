import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
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
