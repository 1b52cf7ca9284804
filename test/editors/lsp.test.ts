import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
