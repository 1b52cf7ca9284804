// @module-tag often
// @module-tag nightly
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { afterEach, expect, it } from 'vitest'
import { createLeadership } from '../../src/state/postgres/leadership.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { createNodeOutside } from '../../src/operations/runtime/node-outside.ts'
import type { PulseTerm } from '../../src/server/leader/pulse.ts'
import { TestSchema } from '../state/test-schema.ts'

const program = fileURLToPath(new URL('pulse-process.ts', import.meta.url))
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

async function start(term: PulseTerm | null = null) {
  const args = ['--import', import.meta.resolve('tsx'), program, JSON.stringify(term)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const lines: Interface = createInterface({ input: child.stdout })
  const [port] = (await once(lines, 'line')) as [string]
  const get = async (path: string) => {
    const signal = AbortSignal.timeout(1000)
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal })
    return [answer.status, (await answer.text()).trim()]
  }
  /** Blocks the thread of the process; resolves to the end of that. */
  const block = async (ms: number): Promise<{ freed: Promise<unknown> }> => {
    const freed = once(lines, 'line')
    child.stdin.write(String(ms))
    await pause(200)
    return { freed }
  }
  return { child, port, get, block }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

it('probes are answered while the process is busy, and as its own otherwise', async () => {
  const { child, get, block } = await start()
  expect(await get('/healthz')).toEqual([200, 'ok'])
  expect(await get('/metrics?x')).toEqual([200, '/metrics?x'])
  const { freed } = await block(1200)
  expect(await get('/healthz')).toEqual([200, 'ok'])
  expect(await get('/readyz')).toEqual([503, 'the process is busy'])
  await freed
  expect(await get('/readyz')).toEqual([200, '/readyz'])
  child.stdin.end()
  expect((await once(child, 'exit'))[0]).toBe(0)
})

it('a process that is silent for too long is not healthy, until it answers again', async () => {
  const { get, block } = await start()
  const { freed } = await block(3500)
  await pause(2200)
  expect(await get('/healthz')).toEqual([
    503,
    expect.stringMatching(/has not answered for [23] seconds$/),
  ])
  await freed
  await pause(200)
  expect(await get('/healthz')).toEqual([200, 'ok'])
})

it('a busy leader keeps its term, a silent one does not', async () => {
  const schema = await TestSchema.make()
  try {
    const config = schema.configure((to) => to.searchParams.delete('application_name'))
    const { clock, machine, signal } = createNodeOutside(new AbortController().signal)
    const path = 'the/path'
    const leadership = createLeadership(openDatabase(config, { clock, signal }), path)
    const term = await leadership.campaign('one', machine)
    if (term === null) throw new Error('expected a term')
    const measureAge = async () => {
      const age = 'extract(epoch from clock_timestamp() - seen_at) as age'
      const [row] = await schema.query(`select ${age} from ${config.schema}.leaders`)
      return Number((row as { age: string }).age)
    }
    const { block } = await start({ database: config, path, number: term.number })
    // Meanwhile the thread connects.
    await pause(2500)
    // The process itself gives signs while it is not busy: here, nobody does.
    const idle = await measureAge()
    expect(idle).toBeGreaterThan(2.4)
    const { freed } = await block(5000)
    await pause(1200)
    expect(await measureAge()).toBeLessThan(0.6)
    await pause(3000)
    expect(await measureAge()).toBeGreaterThan(1.5)
    await freed
  } finally {
    await schema.remove()
  }
})

it('an address in use is an error with its option', async () => {
  const { port } = await start()
  const args = ['--import', import.meta.resolve('tsx'), program, 'null', port]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  expect(await text(child.stderr)).toMatch(/code: 'usage'[^]*another --host or --health-port/)
})
