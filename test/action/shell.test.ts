import { spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findCommands } from '../report/runner.ts'
import { useRealScrypt } from '../scrypt.ts'
import { Place } from '../steps/cli.ts'

const home = fileURLToPath(new URL('../../.github/actions/edgewise/', import.meta.url))
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const tsx = fileURLToPath(import.meta.resolve('tsx'))

interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>
  runs: { steps: { id?: string; if?: string; run?: string; env?: Record<string, string> }[] }
}
const { inputs, runs } = parse(readFileSync(join(home, 'action.yml'), 'utf8')) as Action

useRealScrypt()
let place: Place
/** Folder of the runner for temporary files, outside the checkout. */
let temp = ''
beforeEach(() => {
  temp = mkdtempSync(join(tmpdir(), 'edgewise-runner-'))
  place = new Place('emulator').write('summary.md', '').write('output', '')
  place.manifest('www.example.com', { timeout: { time: 60 } })
  cpSync(home, join(place.root, 'action'), { recursive: true })
})
afterEach(() => {
  place.remove()
  rmSync(temp, { recursive: true })
})

const text = (path: string) => readFileSync(join(place.root, path), 'utf8')
const report = () => readFileSync(join(temp, 'edgewise.md'), 'utf8')

/**
 * Runs a step of the action as a runner does: inputs become variables, and bash runs the script.
 */
async function act(
  given: Record<string, string>,
  env: Record<string, string> = {},
): Promise<{ status: number | null; out: string; err: string }> {
  const values: Record<string, string> = Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [
      name,
      given[name] ??
        (input.default ?? '').replace('${{ runner.temp }}', temp).replace(/^\$\{\{.*/, ''),
    ]),
  )
  const reporting = ['comment', 'issue'].includes(values['command'] ?? '')
  const step = runs.steps.find(({ id }) => id === (reporting ? 'report' : 'run'))
  const variables = Object.entries(step?.env ?? {}).map(([name, value]) => [
    name,
    value.replace(/\$\{\{ inputs\.([a-z-]+) \}\}/g, (_, input: string) => values[input] ?? ''),
  ])
  const child = spawn(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? 'exit 99'],
    {
      cwd: place.root,
      env: {
        PATH: process.env['PATH'],
        // The runner's Node strips types by itself.
        ...(reporting ? { NODE_OPTIONS: `--import ${tsx}` } : {}),
        GITHUB_STEP_SUMMARY: join(place.root, 'summary.md'),
        GITHUB_OUTPUT: join(place.root, 'output'),
        GITHUB_ACTION_PATH: join(place.root, 'action'),
        GITHUB_WORKSPACE: place.root,
        RUNNER_TEMP: temp,
        ...Object.fromEntries(variables),
        ...env,
      },
    },
  )
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { status, out, err }
}

const program = `${process.execPath} ${main}`

/** Text that a shell would run. */
const shellCode = 'x"; touch pwned; $(touch pwned) `touch pwned`'

describe('plan, apply and drift', { timeout: 90_000 }, () => {
  it('run in sequence: a plan with report, its apply, no drift afterwards', async () => {
    // A report may have any name that a file can have.
    expect(await act({ command: 'plan', program, report: shellCode })).toMatchObject({ status: 0 })
    expect(text('output')).toBe('differs=true\n')
    expect(text('summary.md')).toMatch(/^### Edgewise plan\n\nPlan: 1 to set/)
    expect(text(shellCode)).toBe(text('summary.md'))
    expect(existsSync(join(place.root, 'pwned'))).toBe(false)
    expect(await act({ command: 'apply', program })).toMatchObject({
      status: 0,
      out: expect.stringContaining('1 confirmed') as string,
    })
    expect([text('output'), text('summary.md')]).toEqual(['differs=true\n', text(shellCode)])
    place.write('output', '')
    expect(await act({ command: 'drift', program })).toMatchObject({ status: 0 })
    expect(text('output')).toBe('differs=false\n')
    place.write('output', '')
    expect(await act({ command: 'plan', program })).toMatchObject({ status: 0 })
    expect(text('output')).toBe('differs=false\n')
  })

  it('a plan with conditional changes only lets the apply run', async () => {
    const settings = text('edgewise.yaml')
    place.write('edgewise.yaml', `${settings}secrets: {origin: {env: ORIGIN}}\n`)
    const heads = [{ head_name: 'Authorization', head_value: 'Bearer ${secret:origin}' }]
    place.manifest('www.example.com', { add_back_source_head: heads })
    place.env = { ...place.env, ORIGIN: 'value-of-the-origin' }
    await place.settle()
    expect(await act({ command: 'plan', program })).toMatchObject({ status: 0 })
    expect(text('summary.md')).toContain('1 conditional')
    expect(text('output')).toBe('differs=true\n')
    const applied = await act({ command: 'apply', program }, { ORIGIN: 'value-of-the-origin' })
    expect(applied).toMatchObject({
      status: 0,
      out: expect.stringContaining('1 write unchanged, not sent') as string,
    })
  })

  it('drift compares with an observed file', async () => {
    await place.settle()
    place.write('live.json', JSON.stringify({ 'www.example.com': { timeout: { time: 99 } } }))
    expect(await act({ command: 'drift', program, observed: 'live.json' })).toMatchObject({
      status: 0,
    })
    expect(text('output')).toBe('differs=true\n')
    expect(report()).toContain('60 → 99')
  })

  it('a plan with errors fails with annotations and sets no output', async () => {
    place.manifest('www.example.com', { timeout: { time: 9999 } })
    const { status, out } = await act({ command: 'plan', program })
    expect([status, out]).toEqual([
      1,
      expect.stringContaining('::error file=domains/www.example.com.yaml'),
    ])
    expect([text('output'), text('summary.md')]).toEqual(['', ''])
  })

  it('a failed plan does not publish an old report', async () => {
    writeFileSync(join(temp, 'edgewise.md'), 'old')
    expect((await act({ command: 'plan', program, plan: '/nowhere/plan.json' })).status).toBe(1)
    expect([text('output'), text('summary.md')]).toEqual(['', ''])
  })

  it('an apply fails if Edgewise fails or the plan is missing', async () => {
    const { status, out } = await act({ command: 'apply', program, plan: 'none.json' })
    expect([status, out]).toEqual([1, expect.stringContaining('none.json')])
  })

  it('inputs are never evaluated by the shell', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-program-'))
    const listing = join(folder, 'program')
    // Lists its arguments, and fails after "validate".
    const script = `#!/bin/sh\nprintf '%s\\n' "$@" >> ${folder}/listed\n[ "$1" = validate ]\n`
    writeFileSync(listing, script, { mode: 0o755 })
    const commands = { command: 'plan', workspace: 'plan', plan: 'apply', observed: 'drift' }
    for (const [input, command] of Object.entries({ ...commands, report: 'plan' })) {
      writeFileSync(join(folder, 'listed'), '')
      const { status } = await act({ command, program: listing, [input]: shellCode })
      expect([input, status]).toEqual([input, 1])
      const listed = readFileSync(join(folder, 'listed'), 'utf8').split('\n')
      expect([input, listed.includes(shellCode)]).toEqual([input, input !== 'command'])
      expect([input, existsSync(join(place.root, 'pwned'))]).toEqual([input, false])
    }
    rmSync(folder, { recursive: true })
  })
})

/** Removes what a runner does not execute: all between the marks of a run of Edgewise. */
function outsideMarks(out: string): { lines: string; mark: string } {
  const [, mark = ''] = /^::stop-commands::(.+)$/m.exec(out) ?? []
  const [before = '', inside = '', after = '', ...rest] = out.split(
    new RegExp(`^::(?:stop-commands::)?${mark}(?:::)?\\n`, 'm'),
  )
  expect([rest, inside === '']).toEqual([[], false])
  return { lines: before + after, mark }
}

describe('the log', { timeout: 90_000 }, () => {
  it('has the output of Edgewise between marks that nobody can guess', async () => {
    // Prints what a defect of Edgewise could print.
    const hostile = join(temp, 'hostile.mjs')
    writeFileSync(
      hostile,
      'if (process.argv[2] === "validate") process.exit()\n' +
        'console.log("::error::one")\nconsole.error("##[error]two")\n' +
        'process.exitCode = 1\n',
    )
    const marks = new Set<string>()
    for (const command of ['plan', 'apply', 'drift']) {
      const { status, out, err } = await act({ command, program: `${process.execPath} ${hostile}` })
      const { lines, mark } = outsideMarks(out)
      expect([status, err, lines]).toEqual([1, '', ''])
      expect(mark.length).toBeGreaterThanOrEqual(32)
      marks.add(mark)
    }
    expect(marks.size).toBe(3)
  })

  it('has no command of an input', async () => {
    for (const given of [
      { command: 'x\n::add-mask::y', program },
      { command: 'plan', program: 'npx\n::add-mask::y' },
      { command: 'plan', program: 'a%0A::add-mask::y' },
    ]) {
      const { status, out } = await act(given)
      expect([status, findCommands(out).length]).toEqual([1, 1])
      expect(out).toMatch(/^::error::[^\n]*\n$/)
      expect(out).not.toContain('a%0A')
    }
  })
})

describe('the checkout', { timeout: 90_000 }, () => {
  it('decides nothing by its npm settings, packages, scripts, reports and plans', async () => {
    const pwned = join(place.root, 'pwned')
    const evil = `require('node:fs').writeFileSync(${JSON.stringify(pwned)}, '')\n`
    const scripts = { preinstall: `touch ${pwned}`, prepare: `touch ${pwned}` }
    place
      .write('package.json', JSON.stringify({ type: 'commonjs', scripts, workspaces: ['*'] }))
      .write('.npmrc', `node-options=--require=./evil.js\nscript-shell=./evil.js\n`)
      .write('evil.js', evil)
      .write('node_modules/highs/index.js', evil)
      .write('node_modules/fs/index.js', evil)
      .write('edgewise-plan.json', '{}')
      .write(
        'domains/x\n::error::y.yaml',
        'domain: other.example.com\nconfig: {timeout: {time: 60}}',
      )
    symlinkSync(join(place.root, 'summary.md'), join(place.root, 'edgewise.md'))
    expect(await act({ command: 'plan', program })).toMatchObject({ status: 0 })
    expect([text('output'), text('summary.md')]).toEqual(['differs=true\n', report()])
    const { status, out } = await act({ command: 'comment', 'pull-request': '7' })
    expect([status, out]).toEqual([1, '::error::expected GITHUB_API_URL to be set\n'])
    expect([existsSync(pwned), text('edgewise-plan.json')]).toEqual([false, '{}'])
  })
})

describe('the program', { timeout: 30_000 }, () => {
  it.each(['', '   '])('%j is refused with a hint', async (nothing) => {
    for (const command of ['plan', 'apply', 'drift']) {
      const { status, out } = await act({ command, program: nothing })
      expect([command, status]).toEqual([command, 1])
      expect(out).toBe(
        '::error::the input "program" is empty. ' +
          'Pass a build outside the checkout, such as "node /opt/edgewise/dist/cli/main.js".\n',
      )
    }
  })

  it('is never a file of the checkout, by any path', async () => {
    const pwned = join(place.root, 'pwned')
    place.write('own.js', `require('node:fs').writeFileSync(${JSON.stringify(pwned)}, '')\n`)
    place.write('bin/own', `#!/bin/sh\ntouch ${pwned}\n`)
    chmodSync(join(place.root, 'bin/own'), 0o755)
    const own = [
      'node own.js',
      'node ./own.js',
      `node ${join(place.root, 'own.js')}`,
      './bin/own',
      'bin/own',
      join(place.root, 'bin/own'),
    ]
    for (const each of own) {
      const { status, out } = await act({ command: 'plan', program: each })
      expect([each, status, out]).toEqual([
        each,
        1,
        expect.stringMatching(/^::error::.*is in the checkout/),
      ])
    }
    const { status, out } = await act(
      { command: 'plan', program: 'own' },
      { PATH: `bin:${process.env['PATH'] ?? ''}` },
    )
    expect([status, out]).toEqual([1, expect.stringContaining('is in the checkout')])
    expect(existsSync(pwned)).toBe(false)
  })

  it('is looked up neither in a package registry nor in node_modules of the checkout', async () => {
    place.write('node_modules/.bin/edgewise', `#!/bin/sh\ntouch ${join(place.root, 'pwned')}\n`)
    chmodSync(join(place.root, 'node_modules/.bin/edgewise'), 0o755)
    for (const each of [
      'npx --yes edgewise',
      '/usr/bin/npx edgewise',
      'npm exec edgewise',
      'bunx edgewise',
    ]) {
      const { status, out } = await act({ command: 'plan', program: each })
      expect([each, status, out]).toEqual([
        each,
        1,
        expect.stringMatching(/^::error::"[^"]+" looks up a package by its name/),
      ])
    }
    expect(existsSync(join(place.root, 'pwned'))).toBe(false)
  })

  it('is named in the error if it is not found', async () => {
    const { status, out } = await act({ command: 'plan', program: 'no-such-program plan' })
    expect([status, out]).toEqual([1, expect.stringContaining('"no-such-program" was not found')])
  })
})

describe('comment and issue', { timeout: 90_000 }, () => {
  const asked: {
    method: string | undefined
    url: string | undefined
    token: string | undefined
    body: string
  }[] = []
  let server: Server
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        asked.push({
          method: request.method,
          url: request.url,
          token: request.headers.authorization,
          body,
        })
        response.end(request.method === 'GET' ? '[]' : '{}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => server.close())

  it('write to the code host', async () => {
    const { port } = server.address() as AddressInfo
    const env = { GITHUB_API_URL: `http://127.0.0.1:${port}`, GITHUB_REPOSITORY: 'team/cdn' }
    writeFileSync(join(temp, 'edgewise.md'), 'text')
    expect(
      await act(
        { command: 'comment', 'pull-request': '7', 'code-host-token': 'canary-token' },
        env,
      ),
    ).toMatchObject({
      status: 0,
      out: 'comment created\n',
    })
    expect(
      await act({ command: 'issue', differs: 'true', 'code-host-token': 'canary-token' }, env),
    ).toMatchObject({
      status: 0,
      out: 'issue opened\n',
    })
    const mark = (name: string) => `<!-- edgewise:${name} -->\ntext`
    expect(asked.filter(({ method }) => method === 'POST')).toEqual([
      {
        method: 'POST',
        url: '/repos/team/cdn/issues/7/comments',
        token: 'Bearer canary-token',
        body: JSON.stringify({ body: mark('plan') }),
      },
      {
        method: 'POST',
        url: '/repos/team/cdn/issues',
        token: 'Bearer canary-token',
        body: JSON.stringify({ title: 'Configuration drift', body: mark('drift') }),
      },
    ])
  })

  it('report an unknown command, a missing token and an unreachable address', async () => {
    const env = { GITHUB_API_URL: 'http://127.0.0.1:9', GITHUB_REPOSITORY: 'team/cdn' }
    const token = { 'code-host-token': 'canary-token' }
    expect(await act({ command: 'comment', 'pull-request': '7' }, env)).toMatchObject({
      status: 1,
      out: '::error::expected CODE_HOST_TOKEN to be set\n',
    })
    expect((await act({ command: 'comment', 'pull-request': '7', ...token }, env)).out).toContain(
      '::error::ENOENT',
    )
    writeFileSync(join(temp, 'edgewise.md'), 'text')
    const failed = await act({ command: 'issue', differs: 'true', ...token }, env)
    expect([failed.status, failed.out]).toEqual([
      1,
      expect.stringMatching(/^::error::fetch failed \(\S.*\)\n$/),
    ])
    expect(failed.out + failed.err).not.toContain('canary')
  })
})
