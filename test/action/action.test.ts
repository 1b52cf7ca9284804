// @module-tag often
// @module-tag nightly
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findCommands } from '../report/runner.ts'
import { useRealScrypt } from '../scrypt.ts'
import { Place } from '../steps/cli.ts'
import { ActionRunner, type Acted } from './action-runner.ts'

useRealScrypt()
let runner: ActionRunner
let place: Place
beforeAll(() => {
  runner = new ActionRunner()
})
afterAll(() => runner.remove())
beforeEach(() => {
  runner.clear()
  place = new Place('emulator').manifest('www.example.com', { timeout: { time: 60 } })
})
afterEach(() => place.remove())

const act = (given: Record<string, string>, env: Record<string, string> = {}): Promise<Acted> =>
  runner.act(place.root, given, env)
const report = () => readFileSync(join(runner.temp, 'edgewise.md'), 'utf8')
const isIn = (path: string) => existsSync(join(place.root, path))

/** Text that a shell would run. */
const shellCode = 'x"; touch pwned; $(touch pwned) `touch pwned`'

describe('plan, apply and drift', () => {
  it('run in sequence: a plan with report, its apply, no drift afterwards', async () => {
    // A report may have any name that a file can have.
    const planned = await act({ command: 'plan', report: `${shellCode}.md` })
    expect(planned).toMatchObject({ status: 0, outputs: { differs: 'true', 'exit-code': '2' } })
    expect(planned.summary).toMatch(/^### Edgewise plan\n\nPlan: 1 to set/)
    expect(place.read(`${shellCode}.md`)).toBe(planned.summary)
    expect(isIn('pwned')).toBe(false)
    const applied = await act({ command: 'apply' })
    expect(applied).toMatchObject({ status: 0, outputs: { 'exit-code': '0' } })
    expect(applied.summary).toMatch(/^### Edgewise apply\n\nApplied; writes: 1 confirmed\./)
    expect(report()).toBe(applied.summary)
    const drifted = await act({ command: 'drift' })
    expect(drifted).toMatchObject({ status: 0, outputs: { differs: 'false', 'exit-code': '0' } })
    expect(drifted.summary).toMatch(/^### Edgewise drift/)
    const marks = [planned, applied, drifted].map(({ out, err }) => {
      const { lines, mark } = outsideMarks(out)
      expect([err, findCommands(lines)]).toEqual(['', []])
      return mark
    })
    expect(new Set(marks).size).toBe(3)
  })

  it('write each file of the input report, of which Markdown is the summary', async () => {
    const [html, json] = ['page.html', 'all.json'].map((name) => join(runner.temp, name))
    const files = `${html}\n  ${join(runner.temp, 'edgewise.md')}\n\n${json}\n`
    for (const command of ['plan', 'apply', 'drift']) {
      rmSync(html ?? '', { force: true })
      const { status, summary } = await act({ command, report: files })
      expect([command, status, summary]).toEqual([
        command,
        0,
        expect.stringContaining(`### Edgewise ${command}`),
      ])
      expect(readFileSync(html ?? '', 'utf8')).toContain(`Edgewise ${command}: `)
      expect(readFileSync(json ?? '', 'utf8')).toContain('{')
    }
    // A page of an earlier run is no page of a plan that fails.
    place.manifest('www.example.com', { timeout: { time: 9999 } })
    const failed = await act({ command: 'plan', report: files })
    expect([failed.status, failed.outputs, existsSync(html ?? '')]).toEqual([
      1,
      { 'exit-code': '1' },
      false,
    ])
  })

  it.each([
    [
      { command: 'issue', differs: 'true', report: 'page.html' },
      'names no file that ends with .md',
    ],
    [{ command: 'plan', args: '--report=x' }, 'Set the input "report" instead'],
  ])('refuse the inputs %j', async (given, why) => {
    const { status, out, outputs } = await act(given)
    expect([status, out, outputs]).toEqual([1, expect.stringContaining(why), { 'exit-code': '1' }])
  })

  it('a plan with conditional changes only lets the apply run', async () => {
    const settings = place.read('edgewise.yaml')
    place.write('edgewise.yaml', `${settings}secrets: {origin: {env: ORIGIN}}\n`)
    const heads = [{ head_name: 'Authorization', head_value: 'Bearer ${secret:origin}' }]
    place.manifest('www.example.com', { add_back_source_head: heads })
    place.env = { ...place.env, ORIGIN: 'value-of-the-origin' }
    await place.settle()
    const planned = await act({ command: 'plan' })
    expect(planned).toMatchObject({ status: 0, outputs: { differs: 'true', 'exit-code': '0' } })
    expect(planned.summary).toContain('No changes but for 1 secret that is compared at the apply.')
    const applied = await act({ command: 'apply' }, { ORIGIN: 'value-of-the-origin' })
    expect(applied).toMatchObject({
      status: 0,
      out: expect.stringContaining('1 write unchanged, not sent') as string,
    })
  })

  it('drift compares with an observed file', async () => {
    await place.settle()
    place.write('live.json', JSON.stringify({ 'www.example.com': { timeout: { time: 99 } } }))
    const drifted = await act({ command: 'drift', observed: 'live.json' })
    expect(drifted).toMatchObject({ status: 0, outputs: { differs: 'true', 'exit-code': '2' } })
    expect(drifted.summary).toContain('60 → 99')
  })

  it('a plan with errors fails with annotations, and publishes no earlier report', async () => {
    writeFileSync(join(runner.temp, 'edgewise.md'), 'old')
    place.manifest('www.example.com', { timeout: { time: 9999 } })
    const { status, out, outputs, summary } = await act({ command: 'plan' })
    expect([status, out]).toEqual([
      1,
      expect.stringContaining('::error file=domains/www.example.com.yaml'),
    ])
    expect([outputs, summary]).toEqual([{ 'exit-code': '1' }, ''])
    expect(existsSync(join(runner.temp, 'edgewise.md'))).toBe(false)
  })

  it('a failed apply has its report and its exit code', async () => {
    const missing = await act({ command: 'apply' })
    expect(missing).toMatchObject({ status: 1, summary: '', outputs: { 'exit-code': '1' } })
    expect(missing.out).toContain('edgewise-plan.json')
    place.manifest('www.example.com', { https: { cert_id: 0 } })
    const refused = await act({ command: 'apply', plan: '', args: '--yes' })
    expect(refused).toMatchObject({ status: 1, outputs: { 'exit-code': '1' } })
    expect(refused.summary).toMatch(/^### Edgewise apply\n\nNothing was applied\.\n/)
    expect(refused.summary).toContain('--allow https')
    const args = '--yes\n  --allow "https" --target \'www.*\''
    expect(await act({ command: 'apply', plan: '', args })).toMatchObject({ status: 0 })
  })

  it('refuse a saved plan in the checkout, by any path', async () => {
    symlinkSync(place.root, join(runner.temp, 'link'))
    for (const [command, plan] of [
      ['plan', 'plan.json'],
      ['apply', './new/plan.json'],
      ['apply', join(runner.temp, 'link', 'plan.json')],
    ] as const) {
      const { status, out } = await act({ command, plan })
      expect([plan, status, out]).toEqual([
        plan,
        1,
        expect.stringMatching(/^::error::the plan "[^"]+" is in the checkout/),
      ])
    }
  })
})

describe('reports', () => {
  it('are neither removed nor written through a link in the checkout', async () => {
    const outside = join(runner.temp, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'page.html'), 'precious')
    symlinkSync(outside, join(place.root, 'to'))
    const { status, out } = await act({ command: 'plan', report: 'to/page.html' })
    expect([status, out]).toEqual([1, expect.stringContaining('is a symbolic link')])
    expect(readFileSync(join(outside, 'page.html'), 'utf8')).toBe('precious')
  })

  it('are not removed if they are pipes', async () => {
    const pipe = join(runner.temp, 'pipe.md')
    execFileSync('mkfifo', [pipe])
    const { out } = await act({ command: 'plan', report: pipe })
    expect(out.replace(/\s+/g, ' ')).toContain('nothing reads from this pipe')
    expect(lstatSync(pipe).isFIFO()).toBe(true)
  })

  it('are not published through a link out of the checkout', async () => {
    writeFileSync(join(runner.temp, 'secret'), 'precious')
    symlinkSync(join(runner.temp, 'secret'), join(place.root, 'report.md'))
    const { status, out } = await act({ command: 'issue', differs: 'true', report: 'report.md' })
    expect([status, out]).toEqual([1, expect.stringContaining('a link out of the checkout')])
  })
})

describe('other commands', () => {
  it('run with their arguments, and fail with their exit code', async () => {
    await place.settle()
    const listed = await act({ command: 'state', args: 'list --json' })
    expect(listed).toMatchObject({ status: 0, outputs: { 'exit-code': '0' } })
    expect(listed.out).toContain('"domain":"www.example.com"')
    expect(await act({ command: 'no' })).toMatchObject({
      status: 1,
      out: expect.stringContaining("unknown command 'no'") as string,
    })
    place.write('domains/x.yaml', 'config: {}\ndomain: x.example.com\n')
    expect(await act({ command: 'fmt', args: '--check' })).toMatchObject({
      status: 2,
      outputs: { 'exit-code': '2' },
    })
  })

  it('validate prints annotations; in another format it prints no commands', async () => {
    place.manifest('www.example.com', { timeout: { time: 9999 } })
    const { status, out } = await act({ command: 'validate' })
    expect([status, out]).toEqual([1, expect.stringMatching(/^::error file=domains/)])
    const text = await act({ command: 'validate', args: '--format text' })
    expect([text.status, outsideMarks(text.out).lines]).toEqual([1, ''])
  })

  it('test prints failures as annotations', async () => {
    place.manifest('www.example.com', { timeout: { time: 60 } })
    place.write('tests/a.yaml', 'test: a\ndomains: ["*"]\nitems: {timeout/time: 61}\n')
    const { status, out } = await act({ command: 'test' }, { GITHUB_ACTIONS: 'true' })
    expect([status, out]).toEqual([1, expect.stringMatching(/^::error file=tests\/a.yaml,line=3/m)])
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

describe('the log', () => {
  it('has no command of an input', async () => {
    const hostile: Record<string, string>[] = [
      { command: 'x\n::add-mask::y' },
      { command: 'a%0A::add-mask::y' },
      { command: 'plan', plan: 'b\n::add-mask::y' },
    ]
    for (const given of hostile) {
      const { status, out } = await act(given)
      expect([status, findCommands(out).length]).toEqual([1, 1])
      expect(out).toMatch(/^::error::[^\n]*\n$/)
      expect(out).not.toContain('a%0A')
    }
  })
})

describe('the inputs', () => {
  it('are never evaluated by a shell', async () => {
    for (const [input, command] of Object.entries({
      command: 'plan',
      args: 'plan',
      workspace: 'plan',
      plan: 'apply',
      observed: 'drift',
    })) {
      const { status } = await act({ command, [input]: shellCode })
      expect([input, status]).toEqual([input, 1])
      expect([input, isIn('pwned')]).toEqual([input, false])
    }
  })
})

describe('the checkout', () => {
  it('decides nothing by its npm settings, packages, programs, reports and plans', async () => {
    const pwned = join(place.root, 'pwned')
    const file = JSON.stringify(pwned)
    const evil = `require('node:fs').appendFileSync(${file}, process.argv[1] + '\\n')\n`
    const scripts = { preinstall: `touch ${pwned}`, prepare: `touch ${pwned}` }
    const bin = join(place.root, 'node_modules', '.bin')
    place
      .write('package.json', JSON.stringify({ type: 'commonjs', scripts, workspaces: ['*'] }))
      .write('.npmrc', `node-options=--require=./evil.js\nscript-shell=./evil.js\n`)
      .write('tsconfig.json', '{"extends": "./evil.js"}')
      .write('evil.js', evil)
      .write('edgewise-plan.json', '{}')
      .write(
        'domains/x\n::error::y.yaml',
        'domain: other.example.com\nconfig: {timeout: {time: 60}}',
      )
    for (const name of ['highs', 'fs', 'edgewise', 'undici'])
      place.write(`node_modules/${name}/index.js`, evil)
    for (const name of ['git', 'node', 'edgewise', 'npm']) {
      place.write(`node_modules/.bin/${name}`, `#!/bin/sh\necho ${name} >> ${pwned}\n`)
      chmodSync(join(bin, name), 0o755)
    }
    execFileSync('git', ['init', '-q'], { cwd: place.root })
    symlinkSync(join(place.root, 'elsewhere.md'), join(place.root, 'edgewise.md'))
    const env = {
      NODE_PATH: join(place.root, 'node_modules'),
      PATH: ['node_modules/.bin', bin, process.env['PATH']].join(delimiter),
    }
    // The program by itself skips the checkout's git as well.
    execFileSync(process.execPath, [runner.program, 'plan'], {
      cwd: place.root,
      env,
      stdio: 'ignore',
    })
    expect(isIn('pwned')).toBe(false)

    const planned = await act({ command: 'plan' }, env)
    expect(planned).toMatchObject({ status: 0, summary: report(), outputs: { differs: 'true' } })
    expect(planned.out).toContain('(at least 1)')
    expect(await act({ command: 'apply' }, env)).toMatchObject({ status: 0 })
    expect([isIn('pwned'), isIn('elsewhere.md')]).toEqual([false, false])
    expect(place.read('edgewise-plan.json')).toBe('{}')

    // The runner itself obeys NODE_OPTIONS of the job; the program does not.
    const options = { ...env, NODE_OPTIONS: `--require=${join(place.root, 'evil.js')}` }
    expect(await act({ command: 'drift' }, options)).toMatchObject({ status: 0 })
    expect(place.read('pwned')).toMatch(/^\S+action\/main\.js\n$/)
  })

  it('gets no token: a program of --observed sees no input and no file of the runner', async () => {
    await place.settle()
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-query-'))
    try {
      const query = join(folder, 'query')
      const seen = JSON.stringify({ 'www.example.com': { timeout: { time: 60 } } })
      const lines = [`env > ${folder}/env`, `printf '::error::x' >&2`, `echo '${seen}'`]
      writeFileSync(query, `#!/bin/sh\n${lines.join('\n')}\n`)
      chmodSync(query, 0o755)
      const { status } = await act(
        { command: 'drift', observed: query, 'code-host-token': 'canary-token' },
        { ACTIONS_RUNTIME_TOKEN: 'canary-runtime', ORIGIN: 'kept', GITHUB_ENV: '/env' },
      )
      expect(status).toBe(0)
      const env = readFileSync(join(folder, 'env'), 'utf8')
      expect(env).toContain('ORIGIN=kept')
      expect(env).not.toMatch(/canary|^INPUT_|^GITHUB_(ENV|OUTPUT|PATH)=/m)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('may be a folder of its own below the root of a repository', async () => {
    mkdirSync(join(place.root, 'cdn'))
    for (const path of ['edgewise.yaml', 'domains/www.example.com.yaml'])
      place.write(`cdn/${path}`, place.read(path))
    rmSync(join(place.root, 'edgewise.yaml'))
    expect(await act({ command: 'plan', workspace: 'cdn' })).toMatchObject({ status: 0 })
  })
})

describe('comment and issue', () => {
  const asked: { method: string | undefined; url: string | undefined; body: string }[] = []
  let server: Server
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        const { method, url } = request
        if (request.headers.authorization === 'Bearer canary-token')
          asked.push({ method, url, body })
        const pulls = [{ number: 7, merged_at: 'then', merge_commit_sha: null }]
        const list = url?.includes('/pulls') === true ? JSON.stringify(pulls) : '[]'
        response.end(method === 'GET' ? list : '{}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => server.close())

  it('write to the code host', async () => {
    const { port } = server.address() as AddressInfo
    const env = {
      GITHUB_API_URL: `http://127.0.0.1:${port}`,
      GITHUB_REPOSITORY: 'team/cdn',
      GITHUB_SHA: '0123456789abcdef0123456789abcdef01234567',
    }
    const token = { 'code-host-token': 'canary-token' }
    writeFileSync(join(runner.temp, 'edgewise.md'), 'text')
    expect(await act({ command: 'comment', ...token }, env)).toMatchObject({
      status: 0,
      out: 'comment created\n',
      outputs: { 'exit-code': '0' },
    })
    expect(await act({ command: 'issue', differs: 'true', ...token }, env)).toMatchObject({
      status: 0,
      out: 'issue opened\n',
    })
    const mark = (name: string) => `<!-- edgewise:${name} -->\ntext`
    expect(asked.filter(({ method }) => method === 'POST')).toEqual([
      {
        method: 'POST',
        url: '/repos/team/cdn/issues/7/comments',
        body: JSON.stringify({ body: mark('plan') }),
      },
      {
        method: 'POST',
        url: '/repos/team/cdn/issues',
        body: JSON.stringify({ title: 'Configuration drift', body: mark('drift') }),
      },
    ])
  })

  it('report a missing token and an unreachable address; a pull request only warns', async () => {
    const env = { GITHUB_API_URL: 'http://127.0.0.1:9', GITHUB_REPOSITORY: 'team/cdn' }
    const pullRequest = { command: 'comment', 'pull-request': '7' }
    writeFileSync(join(runner.temp, 'edgewise.md'), 'text')
    expect(await act(pullRequest, env)).toMatchObject({
      status: 1,
      out: '::error::the input "code-host-token" is empty\n',
      outputs: { 'exit-code': '1' },
    })
    expect(await act(pullRequest, { ...env, GITHUB_EVENT_NAME: 'pull_request' })).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^::warning::no comment: [^\n]+\n$/) as string,
    })
    const failed = await act({ ...pullRequest, 'code-host-token': 'canary-token' }, env)
    expect([failed.status, failed.out]).toEqual([
      1,
      expect.stringMatching(/^::error::fetch failed \(\S.*\)\n$/),
    ])
    expect(failed.out + failed.err).not.toContain('canary')
  })
})

it('docs/install.md names the inputs and outputs of action.yml', () => {
  const root = new URL('../../', import.meta.url)
  const action = parse(readFileSync(new URL('action.yml', root), 'utf8')) as {
    inputs: Record<string, { description: string }>
    outputs: Record<string, { description: string }>
  }
  const page = readFileSync(new URL('docs/install.md', root), 'utf8')
  for (const [name, { description }] of Object.entries({ ...action.inputs, ...action.outputs })) {
    expect([name, page.includes(`\`${name}\``)]).toEqual([name, true])
    expect([name, description.length > 10]).toEqual([name, true])
  }
})
