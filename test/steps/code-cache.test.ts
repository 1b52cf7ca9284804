import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatCode, parseCode } from '../../src/cli/code-file.ts'
import { Place } from './cli.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

let place: Place
let home: string
beforeEach(() => {
  place = new Place('emulator')
  place.manifest('shop-of-this-test.example.com', { timeout: { time: 60 } })
  home = realpathSync(mkdtempSync(join(tmpdir(), 'edgewise-')))
})
afterEach(() => {
  place.remove()
  rmSync(home, { recursive: true, force: true })
})

interface Options {
  node?: string[]
  cwd?: string
  cache?: string
}

/** Runs the built program in the workspace, or in another folder. */
function run(args: string[], { node = [], cwd = place.root, cache = home }: Options = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...node, program, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], XDG_CACHE_HOME: cache, EDGEWISE_TOKEN: 'the-token-of-it' },
    encoding: 'utf8',
  })
  return { code: status, out: stdout, err: stderr }
}

const folder = (cache = home) => join(cache, 'edgewise')
const listCode = (cache = home) =>
  readdirSync(cache).includes('edgewise')
    ? readdirSync(folder(cache)).filter((name) => name.startsWith('code-'))
    : []
const getFile = () => join(folder(), listCode()[0] ?? '')
/** Identifies the content of a file: a new one has another number. */
const identify = (file: string) => statSync(file).ino

/** Replaces a word of the output in the code that is kept. */
function forge(): void {
  const codes = [...parseCode(readFileSync(getFile()))].map(([name, code]): [string, Buffer] => [
    name,
    Buffer.from(
      code.toString('latin1').replace(/(?<![A-Za-z])Valid(?![A-Za-z])/, 'FORGE'),
      'latin1',
    ),
  ])
  writeFileSync(getFile(), formatCode(new Map(codes)))
}

describe('the compiled code of the program', () => {
  it('is kept for each command, and used by the next run', () => {
    const first = run(['validate'])
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(listCode()).toEqual([expect.stringMatching(/^code-[0-9a-f]{16}-v.*-validate\.bin$/)])
    const before = identify(getFile())
    expect(run(['validate'])).toEqual(first)
    expect(identify(getFile())).toBe(before)
    forge()
    expect(run(['validate']).out).toBe(first.out.replace('Valid', 'FORGE'))
    run(['plan'])
    expect(listCode()).toHaveLength(2)
  })

  it('has no value of the workspace or the environment', () => {
    run(['plan'])
    const code = readFileSync(getFile())
    for (const text of ['the-token-of-it', 'shop-of-this-test', place.root])
      expect(code.includes(text)).toBe(false)
  })

  it('is ignored and replaced when it is damaged', () => {
    const { out } = run(['validate'])
    const whole = readFileSync(getFile())
    const flipped = Buffer.from(whole)
    flipped[whole.length >> 1] = (whole[whole.length >> 1] ?? 0) ^ 0x5a
    const cut = whole.subarray(0, -1000)
    for (const damaged of [flipped, cut, Buffer.from('edgewise.code/1 0\n'), Buffer.alloc(0)]) {
      writeFileSync(getFile(), damaged)
      expect(run(['validate'])).toEqual({ code: 0, out, err: '' })
      expect(readFileSync(getFile()).length).toBeGreaterThan(100_000)
    }
  })

  it('is ignored and replaced when V8 cannot use it', () => {
    const { out } = run(['validate'])
    const before = identify(getFile())
    expect(run(['validate'], { node: ['--no-opt'] }).out).toBe(out)
    expect(identify(getFile())).not.toBe(before)
  })

  it('is neither used nor written with --no-cache, and not written by what fails', () => {
    run(['validate', '--no-cache'])
    run(['valdate'])
    run(['apply', '--yes'])
    expect(listCode()).toEqual([])
    const { out } = run(['validate'])
    forge()
    expect(run(['validate', '--no-cache']).out).toBe(out)
  })

  it('is not used where others can write', () => {
    const { out } = run(['validate'])
    forge()
    for (const [path, mode] of [
      [folder(), 0o777],
      [getFile(), 0o666],
    ] as const) {
      const { mode: before } = statSync(path)
      chmodSync(path, mode)
      expect(run(['validate']).out).toBe(out)
      chmodSync(path, before & 0o777)
      forge()
    }
  })

  it('is never that of a checkout', () => {
    const { out } = run(['validate'])
    forge()
    const checkout = join(place.root, 'cache')
    cpSync(home, checkout, { recursive: true })
    // A run whose first argument is no command has a file of its own.
    const [name = ''] = listCode()
    cpSync(getFile(), join(folder(checkout), name.replace('validate', 'other')))
    expect(run(['validate'], { cache: checkout }).out).toBe(out)
    for (const args of [
      ['-C', place.root, 'validate'],
      [`-C${place.root}`, 'validate'],
      [`--workspace=${place.root}`, 'validate'],
      ['--workspace', join(place.root, 'domains'), 'validate'],
    ]) {
      mkdirSync(join(place.root, '.git'), { recursive: true })
      expect(run(args, { cache: checkout, cwd: home }).out).toBe(out)
    }
    const linked = join(home, 'linked')
    symlinkSync(checkout, linked)
    expect(run(['validate'], { cache: linked }).out).toBe(out)
  })
})

describe('the file of compiled code', () => {
  it('keeps the code of each file', () => {
    const codes = new Map([
      ['a-1.cjs', Buffer.from('first\n,')],
      ['b.cjs', Buffer.alloc(0)],
      ['c.cjs', Buffer.from([0, 10, 255])],
    ])
    expect(parseCode(formatCode(codes))).toEqual(codes)
    expect(parseCode(null)).toEqual(new Map())
  })
})

describe('a command that ends early', () => {
  it('is an internal error, never a success', () => {
    const preload = join(home, 'preload.cjs')
    writeFileSync(
      preload,
      `const { Module } = require('node:module')
       const load = Module._load
       Module._load = (id, ...rest) =>
         /run-process-/.test(id)
           ? { runProcess: () => new Promise(() => undefined) }
           : load(id, ...rest)`,
    )
    expect(run(['validate'], { node: ['-r', preload] })).toEqual({
      code: 13,
      out: '',
      err: expect.stringContaining('edgewise: internal error; please report this bug.') as string,
    })
  })
})
