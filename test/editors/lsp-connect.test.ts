// @module-tag often
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { CodeLensRequest, HoverRequest } from 'vscode-languageserver-protocol/node'
import { runProgram } from '../program.ts'
import { TestSchema } from '../state/test-schema.ts'
import { Editor } from './lsp-client.ts'

const shop = 'domain: shop.example.com\nconfig:\n  timeout: {time: 60}\n'
const password = 'pass-of-nobody'

/** Starts an editor in a workspace with state in the database of an address. */
async function start(url: string, schema: string, options: string[]) {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-'))
  const env = { DATABASE: url, HOME: root }
  const editor = new Editor(root, env, options)
  const state = `{store: postgres, url: '\${env:DATABASE}', schema: ${schema}}`
  editor.write('edgewise.yaml', `version: 1\nstate: ${state}\n`)
  editor.write('domains/shop.yaml', shop)
  const payloads = { 'shop.example.com': { timeout: { time: '60' } } }
  editor.write('payloads.json', JSON.stringify(payloads))
  await editor.start()
  await editor.open('domains/shop.yaml', shop)
  const lens = async () => {
    const textDocument = { uri: editor.toUri('domains/shop.yaml') }
    const found = await editor.connection.sendRequest(CodeLensRequest.type, { textDocument })
    return found?.map(({ command }) => command?.title)
  }
  const hover = async () => {
    const place = await editor.at('domains/shop.yaml', shop.replace('timeout', 'time|out'))
    return JSON.stringify(await editor.connection.sendRequest(HoverRequest.type, place))
  }
  const stop = async () => {
    expect(await editor.stop()).toBe(0)
    rmSync(root, { recursive: true })
  }
  return { root, env, editor, lens, hover, stop }
}

/** Starts a server that counts its connections, and ends each or never answers. */
async function listen(hangs: boolean) {
  let count = 0
  const server = createServer((socket) => {
    count++
    socket.on('error', () => undefined)
    if (!hangs) socket.destroy()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `postgres://nobody:${password}@127.0.0.1:${port}/state`
  return { url, count: () => count, close: () => void server.close() }
}

it('reads the state in a database once in a while, and closes its connections', async () => {
  const schema = await TestSchema.make()
  const role = await schema.addRole('superuser')
  const { url } = schema.configure((address) => {
    address.search = ''
    address.username = role.name
    address.password = role.password
  })
  const { root, env, editor, lens, hover, stop } = await start(url, schema.name, ['--connect'])
  const first = await runProgram({ root, env }, 'import', 'payloads.json', '--yes')
  expect(first.code, first.err).toBe(0)
  expect(await lens()).toEqual(['no changes'])
  expect(await hover()).toContain('State: confirmed')
  await schema.query(`drop schema ${schema.name} cascade`)
  await editor.change('domains/shop.yaml', shop.replace('60', '61'))
  expect(await lens()).toEqual(['1 change · 1 write'])
  const left = 'select from pg_stat_activity where usename = $1'
  await vi.waitFor(async () => expect(await schema.query(left, [role.name])).toEqual([]))
  expect(editor.logs).toEqual([])
  await stop()
  await schema.remove()
})

it('connects to nobody without the option', async () => {
  const server = await listen(false)
  const { lens, hover, stop } = await start(server.url, 'edgewise', [])
  expect(await lens()).toEqual([])
  expect(await hover()).not.toContain('State:')
  expect(server.count()).toBe(0)
  await stop()
  server.close()
})

it.each([false, true])('logs a failure once without the password; it hangs: %s', async (hangs) => {
  const server = await listen(hangs)
  const { editor, lens, hover, stop } = await start(server.url, 'edgewise', ['--connect'])
  const asked = lens()
  await editor.change('domains/shop.yaml', shop.replace('timeout', 'timeot'))
  await editor.waitFor((codes) => codes.length > 0, 3000)
  await editor.change('domains/shop.yaml', shop)
  await editor.waitFor((codes) => codes.length === 0, 3000)
  await asked.catch(() => undefined)
  expect(await lens()).toEqual([])
  expect(await hover()).not.toContain('State:')
  expect(await lens()).toEqual([])
  expect(server.count()).toBe(1)
  expect(editor.logs).toHaveLength(1)
  expect(editor.logs.join()).not.toContain(password)
  await stop()
  server.close()
})
