import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { buildCommandLine } from '../../src/cli/action/command-line.ts'
import { readInputs } from '../../src/cli/action/inputs.ts'
import { runGuarded, buildProgramEnvironment } from '../../src/cli/action/run-program.ts'
import { splitWords } from '../../src/core/model/text/split-words.ts'
import { itLong } from '../runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'edgewise-program-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function run(code: string): Promise<{ status: number; out: string }> {
  const program = join(folder, 'program.mjs')
  writeFileSync(program, code)
  let out = ''
  const status = await runGuarded(['word'], {
    program,
    cwd: folder,
    env: {},
    out: (chunk) => (out += Buffer.from(chunk).toString()),
  })
  return { status, out }
}

describe('the output of the program', () => {
  itLong('is between the marks as a whole, also without a line end at its end', async () => {
    // Prints what a defect of Edgewise could print; a program that it started prints last.
    const { status, out } = await run(
      `import { spawn } from 'node:child_process'
       console.log('::error::one')
       console.error('##[error]two')
       const late = "process.on('disconnect', () => process.stdout.write('::error::three'))"
       const stdio = ['ignore', 'inherit', 'inherit', 'ipc']
       spawn(process.execPath, ['-e', late], { stdio }).on('spawn', () => process.exit(3))`,
    )
    const lines = out.split('\n')
    const mark = /^::stop-commands::([0-9a-f]{64})$/.exec(lines[0] ?? '')?.[1]
    expect([status, lines.slice(1, -1).toSorted()]).toEqual([
      3,
      ['##[error]two', '::error::one', '::error::three', `::${mark}::`].toSorted(),
    ])
    expect(lines.slice(-3)).toEqual(['::error::three', `::${mark}::`, ''])
  })

  it('has its annotations after the marks', async () => {
    const { out } = await run(
      `console.log('a\\n::warning file=a.yaml,line=1::x\\n::error::b')
       process.stdout.write('::error file=b.yaml::y')
       console.error('::error file=c.yaml::z')`,
    )
    const [start = '', ...lines] = out.split('\n')
    const mark = start.replace('::stop-commands::', '')
    const end = lines.indexOf(`::${mark}::`)
    expect(lines.slice(0, end).toSorted()).toEqual(['::error file=c.yaml::z', '::error::b', 'a'])
    expect(lines.slice(end + 1)).toEqual([
      '::warning file=a.yaml,line=1::x',
      '::error file=b.yaml::y',
      '',
    ])
  })

  it('ends with the code of a signal', async () => {
    expect((await run("process.kill(process.pid, 'SIGKILL')")).status).toBe(137)
  })
})

describe('splitWords', () => {
  it.each<[string, string[]]>([
    ['', []],
    [' a  b\n\tc\r\nd ', ['a', 'b', 'c', 'd']],
    [`--target '*.shop.example.com' "x y"z`, ['--target', '*.shop.example.com', 'x yz']],
    [`'' a''b`, ['', 'ab']],
    [`it's $(x) \\ "`, ["it's", '$(x)', '\\', '"']],
    [`'line\nend'`, ['line\nend']],
  ])('of %j', (text, words) => {
    expect(splitWords(text)).toEqual(words)
  })
})

describe('the command line', () => {
  const inputs = (given: Record<string, string>) =>
    readInputs({ INPUT_WORKSPACE: '.', INPUT_REPORT: 'r.md', INPUT_PLAN: 'p.json', ...given })
  const build = (command: string, more: Record<string, string> = {}) =>
    buildCommandLine(inputs({ INPUT_COMMAND: command, ...more })).join(' ')

  it('has the files of the inputs after the arguments, so that no argument takes one', () => {
    const args = { INPUT_ARGS: '--target x' }
    expect([
      build('plan', args),
      build('apply', args),
      build('apply', { INPUT_PLAN: '' }),
      build('drift', { ...args, INPUT_OBSERVED: './query --all' }),
      build('validate', args),
      build('validate', { INPUT_ARGS: '--json' }),
      build('state', { INPUT_ARGS: 'list', INPUT_WORKSPACE: '' }),
    ]).toEqual([
      '-C . plan --target x --out p.json --report r.md --detailed-exitcode',
      '-C . apply --target x --verbose --report r.md -- p.json',
      '-C . apply --verbose --report r.md',
      '-C . drift --target x --report r.md --observed ./query --all',
      '-C . validate --target x --format github',
      '-C . validate --json',
      'state list',
    ])
  })

  it('has one place for each file: an option of an input is refused in args', () => {
    const options = { workspace: ['-C x', '-Cx', '--workspace=x'], plan: ['--out x'] }
    const all = { ...options, report: ['--report x'], observed: ['a --observed x'] }
    for (const [input, args] of Object.entries(all))
      for (const each of args)
        expect(() => build('drift', { INPUT_ARGS: each })).toThrow(`Set the input "${input}"`)
  })

  it('needs the files that the command writes', () => {
    expect(() => build('plan', { INPUT_PLAN: '' })).toThrow('the input "plan" is empty')
    for (const command of ['plan', 'apply', 'drift'])
      expect(() => build(command, { INPUT_REPORT: '' })).toThrow('the input "report" is empty')
    for (const command of ['', '--help', 'a b', 'A'])
      expect(() => build(command)).toThrow(`got "${command}"`)
  })
})

it('the program gets neither inputs nor settings of Node, nor folders of the checkout', () => {
  const env = {
    PATH: 'bin:/checkout/bin:/usr/bin::.',
    'INPUT_CODE-HOST-TOKEN': 'x',
    NODE_OPTIONS: '--require=x',
    NODE_PATH: 'x',
    GITHUB_ENV: 'x',
    ACTIONS_RUNTIME_TOKEN: 'x',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    HTTPS_PROXY: 'http://proxy',
    CI: 'true',
    GITHUB_ACTOR: 'ann',
    EDGEWISE_TOKEN: 'token',
  }
  expect(buildProgramEnvironment(env, (path) => path.startsWith('/checkout'))).toEqual({
    PATH: '/usr/bin',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    HTTPS_PROXY: 'http://proxy',
    CI: 'true',
    GITHUB_ACTOR: 'ann',
    EDGEWISE_TOKEN: 'token',
  })
})
