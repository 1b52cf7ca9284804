import { spawn } from 'node:child_process'
import {
  chmodSync,
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
import { Place } from '../steps/cli.ts'

const home = fileURLToPath(new URL('../../.github/actions/edgewise/', import.meta.url))
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const tsx = fileURLToPath(import.meta.resolve('tsx'))

interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>
  runs: { steps: { id?: string; if?: string; run?: string; env?: Record<string, string> }[] }
}
const { inputs, runs } = parse(readFileSync(join(home, 'action.yml'), 'utf8')) as Action

let place: Place
beforeEach(() => {
  place = new Place('emulator').write('summary.md', '').write('output', '')
  place.manifest('www.example.com', { timeout: { time: 60 } })
  symlinkSync(home, join(place.root, 'action'))
})
afterEach(() => place.remove())

const text = (path: string) => readFileSync(join(place.root, path), 'utf8')

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
      given[name] ?? (input.default?.startsWith('${{') === true ? '' : (input.default ?? '')),
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

describe('plan, apply and drift', { timeout: 90_000 }, () => {
  it('run in sequence: a plan with report, its apply, no drift afterwards', async () => {
    expect(await act({ command: 'plan', program })).toMatchObject({ status: 0 })
    expect(text('output')).toBe('differs=true\n')
    expect(text('summary.md')).toMatch(/^### Edgewise plan\n\nPlan: 1 to set/)
    expect(text('edgewise.md')).toBe(text('summary.md'))
    expect(await act({ command: 'apply', program })).toMatchObject({
      status: 0,
      out: expect.stringContaining('1 confirmed') as string,
    })
    expect([text('output'), text('summary.md')]).toEqual(['differs=true\n', text('edgewise.md')])
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
    expect(text('edgewise.md')).toContain('60 → 99')
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
    place.write('edgewise.md', 'old')
    expect((await act({ command: 'plan', program, plan: '/nowhere/plan.json' })).status).toBe(1)
    expect([text('output'), text('summary.md')]).toEqual(['', ''])
  })

  it('an apply fails if Edgewise fails or the plan is missing', async () => {
    const { status, err } = await act({ command: 'apply', program, plan: 'none.json' })
    expect([status, err]).toEqual([1, expect.stringContaining('none.json')])
  })

  it('inputs are never evaluated by the shell', async () => {
    const hostile = 'x"; touch pwned; $(touch pwned) `touch pwned`'
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-program-'))
    const listing = join(folder, 'program')
    // Lists its arguments, and fails after "validate".
    const script = `#!/bin/sh\nprintf '%s\\n' "$@" >> ${folder}/listed\n[ "$1" = validate ]\n`
    writeFileSync(listing, script, { mode: 0o755 })
    const commands = { command: 'plan', workspace: 'plan', plan: 'apply', observed: 'drift' }
    for (const [input, command] of Object.entries({ ...commands, report: 'plan' })) {
      writeFileSync(join(folder, 'listed'), '')
      const { status } = await act({ command, program: listing, [input]: hostile })
      expect([input, status]).toEqual([input, 1])
      const listed = readFileSync(join(folder, 'listed'), 'utf8').split('\n')
      expect([input, listed.includes(hostile)]).toEqual([input, input !== 'command'])
      expect([input, existsSync(join(place.root, 'pwned'))]).toEqual([input, false])
    }
    rmSync(folder, { recursive: true })
    // A report may have any name that a file can have.
    expect((await act({ command: 'plan', program, report: hostile })).status).toBe(0)
    expect(existsSync(join(place.root, 'pwned'))).toBe(false)
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
      const { status, out } = await act(
        { command: 'plan', program: each },
        { GITHUB_WORKSPACE: place.root },
      )
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
    place.write('edgewise.md', 'text')
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
    place.write('edgewise.md', 'text')
    const failed = await act({ command: 'issue', differs: 'true', ...token }, env)
    expect([failed.status, failed.out]).toEqual([
      1,
      expect.stringMatching(/^::error::fetch failed \(\S.*\)\n$/),
    ])
    expect(failed.out + failed.err).not.toContain('canary')
  })
})
