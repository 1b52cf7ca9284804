// @module-tag often
import { execFileSync } from 'node:child_process'
import { getPriority } from 'node:os'
import { expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { checkCommit } from '../../src/cli/own/own-check.ts'
import { createOwnPages, measureUse } from '../../src/cli/own/own-page.ts'
import { createOwnProcesses } from '../../src/cli/own/own-process.ts'
import { itLong } from '../runs.ts'

const outside = { env: { PATH: process.env['PATH'] }, signal: new AbortController().signal }
const limits = { seconds: 20, megabytes: 200 }
const run = (code: string, own = limits, measure = measureUse) =>
  createOwnProcesses(measure, own, ['-e', code, '--'])

it('a process that never ends is ended, and the one that it blocks is not', async () => {
  const end = await run('for (;;);', { ...limits, seconds: 0.5 })([], outside)
  const excess = expect.stringMatching(/^more than (?:0\.5|5) seconds/) as string
  expect(end).toEqual({ code: null, out: '', error: null, excess })
})

it('a process that waits for others is not ended for it, unless it waits for long', async () => {
  const idle = () => ({ seconds: 0.1, megabytes: 1 })
  const few = { ...limits, seconds: 0.5 }
  const { code, excess } = await run('setTimeout(() => {}, 1500)', few, idle)([], outside)
  expect({ code, excess }).toEqual({ code: 0, excess: null })
  const hung = await run('setInterval(() => {}, 99)', { ...few, seconds: 0.1 }, idle)([], outside)
  expect(hung.excess).toBe('more than 1 seconds')
})

it.runIf(process.platform === 'linux')('what a process takes counts its ended children', () => {
  const measure = () => measureUse(process.pid)?.seconds ?? NaN
  const before = measure()
  const burn = 'while (process.cpuUsage().user < 600e3);'
  execFileSync(process.execPath, ['-e', burn])
  expect(measure() - before).toBeGreaterThan(0.5)
})

const memory = { code: null, out: '', error: null, excess: 'more than 100 MB of memory' }
const small = { seconds: 20, megabytes: 100 }

itLong('a process with too many objects is ended', async () => {
  const code = 'const all = []; for (;;) all.push({ a: [all.length] })'
  expect(await run(code, small, () => null)([], outside)).toEqual(memory)
})

it.runIf(process.platform === 'linux')('a process with too many buffers is ended', async () => {
  const code = 'setInterval(() => (globalThis.all ??= []).push(Buffer.alloc(2e7, 1)), 20)'
  expect(await run(code, small)([], outside)).toEqual(memory)
})

it('a process that is interrupted is ended, whatever it does', async () => {
  const interrupt = new AbortController()
  const ended = run('for (;;);')([], { ...outside, signal: interrupt.signal })
  interrupt.abort()
  await expect(ended).rejects.toMatchObject({
    code: 'unavailable',
    message: 'edgewise was interrupted',
  })
})

it.each<[string, string, RegExp]>([
  ['kills it for its memory, perhaps', 'process.kill(process.pid, "SIGKILL")', /SIGKILL, perhaps/],
  ['aborts it, perhaps for a full heap', 'process.abort()', /SIGABRT, perhaps/],
])('the system %s: that is all that is said', async (_what, code, expected) => {
  const { excess } = await run(code)([], outside)
  expect(excess).toMatch(expected)
  expect(excess).not.toContain(' MB')
})

it.each(['process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 9)', 'process.exit(143)'])(
  'a process that is interrupted with its server says nothing about its commit: %s',
  async (code) => {
    const check = checkCommit(run(code), '/root', outside)
    await expect(check).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('was interrupted') as string,
    })
  },
)

it('a process has no secret of the server, and a lower priority', async () => {
  const code =
    'setTimeout(() => console.log(JSON.stringify({ ' +
    'env: Object.keys(process.env), priority: os.getPriority() })), 200)'
  const env = { EDGEWISE_SERVE_TOKEN: 'a', EDGEWISE_WEBHOOK_SECRET: 'b', OTEL_X: 'c', OTHER: 'd' }
  const { out } = await run(code)([], { ...outside, env })
  const found = JSON.parse(out) as { env: string[]; priority: number }
  expect(found.env).toContain('OTHER')
  expect(found.env.join(' ')).not.toMatch(/SERVE|WEBHOOK|OTEL/)
  expect(found.priority).toBeGreaterThanOrEqual(Math.min(10, getPriority() + 1))
})

itLong(
  'a check distinguishes a commit that is too heavy from one with errors, and from failures',
  async () => {
    const rules = { roles: [{ role: 'viewer', named: ['a'] }], needs: { by: 2, notAuthor: true } }
    const text = JSON.stringify(JSON.stringify(rules))
    const save = `require("fs").writeFileSync(process.argv.at(-1), ${text});`
    const end = (code: string) =>
      `console.log(JSON.stringify({format: "edgewise.error/1", code: "${code}", message: "x", ` +
      'hint: "y", diagnostics: []})); process.exit(1)'
    const check = (code: string, own = limits) => checkCommit(run(code, own), '/root', outside)
    const known = { roles: [{ role: 'viewer', named: ['a'] }], needs: rules.needs }
    expect(await check(save)).toEqual({ rules: known, isPartial: false })
    expect(await check(save + end('invalid'))).toEqual({ rules: known, isPartial: false })
    expect(await check(save + end('record-unreachable'))).toEqual({ rules: known, isPartial: true })
    // What it did not load, nobody loads.
    expect(await check(end('invalid'))).toMatchObject({ fault: { code: 'invalid', message: 'x' } })
    expect(await check(end('access'))).toMatchObject({ fault: { code: 'access', hint: 'y' } })
    const late = { ...limits, seconds: 0.3 }
    expect(await check(`${save} for (;;);`, late)).toEqual({
      // A busy machine gives it no processor, for ten times as long.
      excess: expect.stringMatching(/^more than (?:0\.)?3 seconds/) as string,
    })
    const survives = { excess: 'more than the process survives (exit 1, no reason)' }
    expect(await check(`${save} throw new Error("defect")`)).toEqual(survives)
    const large = 'require("fs").writeFileSync(process.argv.at(-1), " ".repeat(2 ** 24 + 1))'
    expect(await check(large)).toEqual({ excess: 'more than 16 MB of owners' })
  },
)

it('pages are made one at a time, and not of a commit that was refused', async () => {
  let [running, most] = [0, 0]
  const pages = createOwnPages(
    async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 20))
      running--
      return { code: 1, out: '', error: null, excess: 'more than 60 seconds' }
    },
    { findFault: (root) => (root === '/bad' ? new Error('refused') : null) as null },
  )
  const made = await Promise.allSettled([
    pages('plan', '/good', outside),
    pages('json', '/good', outside),
    pages('history', '/bad', outside),
  ])
  const reasons = made.map((each) => (each.status === 'rejected' ? String(each.reason) : ''))
  expect(reasons).toEqual([
    "EdgewiseError: the plan can't be made: it takes more than 60 seconds",
    "EdgewiseError: the plan can't be made: it takes more than 60 seconds",
    'Error: refused',
  ])
  expect(most).toBe(1)
})

it('a request is traced in one process, which writes its panel', async () => {
  const ran: string[][] = []
  const ends = [
    { code: 0, out: 'Served.\n', error: null, excess: null },
    { code: 1, out: '{}', error: new EdgewiseError('usage', 'no URL'), excess: null },
  ]
  const pages = createOwnPages(
    async (args) => {
      ran.push(args)
      return ends[ran.length - 1] ?? { code: null, out: '', error: null, excess: 'more' }
    },
    { findFault: () => null },
  )
  const asked = { url: 'https://a.example.com/', ip: '192.0.2.1', of: 'recorded' } as const
  expect(await pages(asked, '/root', outside)).toBe('Served.\n')
  await expect(pages(asked, '/root', outside)).rejects.toMatchObject({
    code: 'usage',
    message: "the trace can't be made: no URL",
  })
  const words = '--served --ip=192.0.2.1 --of recorded -- https://a.example.com/'
  expect(ran[0]?.join(' ')).toBe(`-C /root --json trace ${words}`)
})
