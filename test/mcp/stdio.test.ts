// @module-tag often
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, it } from 'vitest'
import { findProgram } from '../program.ts'
import { place, setStage } from '../steps/stage.ts'
import { callTool } from './agent.ts'

setStage()

const www = 'www.example.com'
const buildEnv = () => ({ PATH: process.env['PATH'] ?? '', ...place.env }) as Record<string, string>

it('a client of the SDK drives the built program', async () => {
  place.manifest(www, { timeout: { time: 60 } })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...findProgram(), 'mcp', '-C', place.root],
    env: buildEnv(),
    stderr: 'pipe',
  })
  let err = ''
  transport.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const client = new Client({ name: 'test', version: '0' })
  await client.connect(transport)
  try {
    expect(client.getServerVersion()).toMatchObject({ name: 'edgewise' })
    expect(client.getInstructions()).toMatch(/only read/)
    expect((await client.listTools()).tools).toHaveLength(10)
    const { data } = await callTool(client, 'plan', {})
    expect(data).toMatchObject({ format: 'edgewise.plan/1', summary: { set: 1 } })
    const several = await Promise.all(
      ['validate', 'drift', 'stats', 'test'].map((name) => callTool(client, name, {})),
    )
    expect(several.map(({ isError }) => isError)).toEqual([false, false, false, false])
    const { contents } = await client.readResource({ uri: 'edgewise://guides/trace' })
    expect(contents).toHaveLength(1)
    expect(err).toBe('')
  } finally {
    await client.close()
  }
})

/** Starts the program with pipes, and collects what it prints. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [...findProgram(), 'mcp', ...args], {
    cwd: place.root,
    env: buildEnv(),
  })
  const printed = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (printed.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (printed.err += chunk.toString()))
  return { child, printed }
}

const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'x', version: '0' },
  },
})

it('has the protocol alone on stdout, and answers all before it ends', async () => {
  place.manifest(www, { timeout: { time: 60 } })
  const { child, printed } = start()
  child.stdin.write(`${hello}\nno JSON\n{"jsonrpc":"2.0","id":2,"method":"nothing"}\n`)
  child.stdin.write('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plan"}}\n')
  child.stdin.end()
  const [code] = (await once(child, 'close')) as [number]
  const lines = printed.out.trimEnd().split('\n')
  const ids = lines.map((line) => (JSON.parse(line) as { id: number }).id)
  expect([ids.length, new Set(ids)]).toEqual([3, new Set([1, 2, 3])])
  expect([code, printed.err]).toEqual([0, ''])
})

it('ends by a signal', async () => {
  const { child, printed } = start()
  child.stdin.write(`${hello}\n`)
  while (!printed.out.includes('"id":1')) await once(child.stdout, 'data')
  child.kill('SIGTERM')
  const [code] = (await once(child, 'exit')) as [number]
  expect(code).toBe(143)
})

it('does not start outside of a workspace', async () => {
  const { child, printed } = start('-C', '/')
  child.stdin.end()
  const [code] = (await once(child, 'exit')) as [number]
  expect([code, printed.out]).toEqual([1, ''])
  expect(printed.err).toMatch(/edgewise\.yaml/)
})

it('does not start on a terminal', async () => {
  const { code, err } = await place.cli('mcp')
  expect(code).toBe(1)
  expect(err).toMatch(/stdin is a terminal.*configuration of your assistant/s)
})
