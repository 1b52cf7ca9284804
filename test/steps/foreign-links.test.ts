// @module-tag often
// @module-tag nightly
import { execFile, execFileSync, spawn } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Place } from './cli.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
let place: Place
/** A folder outside of the workspace, with a file. */
let outside: string
beforeEach(() => {
  place = new Place('emulator').manifest('www.example.com', { timeout: { time: 60 } })
  outside = mkdtempSync(join(tmpdir(), 'edgewise-outside-'))
  writeFileSync(join(outside, 'precious.yaml'), 'domain: precious.example.com\nconfig: {}\n')
})
afterEach(() => {
  place.remove()
  rmSync(outside, { recursive: true })
})

const path = (name: string) => join(place.root, name)
/** Runs the built program in the workspace; messages have their lines joined. */
const run = (...args: string[]) =>
  new Promise<{ code: number | null; out: string; text: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { cwd: place.root, env: { ...process.env, NO_COLOR: '1' }, timeout: 60_000 },
      (_error, out, err) =>
        resolve({ code: child.exitCode, out, text: `${out}${err}`.replace(/\s+/g, ' ') }),
    )
  })
const untouched = () => expect(readdirSync(outside)).toEqual(['precious.yaml'])

describe('the base folder of a glob that is a link to outside', () => {
  it.each([
    ['the default globs', '', 'domains', '/'],
    ['a folder within the base', 'manifests: [sub/all/eu/**/*.yaml]\n', 'sub/all', '/'],
    ['another kind of glob', 'manifests: ["domains/*.{yaml,yml}"]\n', 'domains', '/usr'],
  ])('is one diagnostic, and nothing is listed: %s', async (_what, config, link, target) => {
    rmSync(path('domains'), { recursive: true })
    place.write('edgewise.yaml', `version: 1\n${config}`)
    mkdirSync(path('sub'))
    symlinkSync(target, path(link))
    const { code, out } = await run('validate', '--json')
    const { diagnostics } = JSON.parse(out) as { diagnostics: { file: string; summary: string }[] }
    expect(code).toBe(1)
    const links = diagnostics.filter(({ file }) => file === link)
    expect(links).toMatchObject([{ summary: 'Link to outside the workspace' }])
    expect(diagnostics.every(({ file }) => [link, 'edgewise.yaml'].includes(file))).toBe(true)
  })

  it.each(['domains/../../*/*.yaml', 'a/../..', '{a,..}/**/*.yaml', '[.][.]/**/*.yaml'])(
    'is not left by the glob %s',
    async (glob) => {
      place.write('edgewise.yaml', `version: 1\nmanifests: ["${glob}"]\n`)
      const { code, text } = await run('validate')
      expect([code, text]).toEqual([1, expect.not.stringContaining('precious')])
      expect(text).toMatch(/expected a glob within the workspace|no file that matches/)
    },
  )
})

describe('import --write-manifests', () => {
  const live = { 'api.example.com': { timeout: { time: 60 } } }

  it.each(['domains', 'profiles'])('writes nothing through a linked %s', async (folder) => {
    rmSync(path(folder), { recursive: true, force: true })
    symlinkSync(outside, path(folder))
    place.write('live.json', JSON.stringify(live))
    const { code, text } = await run('import', 'live.json', '--write-manifests', '--yes')
    expect(code).toBe(1)
    expect(text).toContain('Link to outside the workspace')
    untouched()
  })

  it('writes through a link within the workspace', async () => {
    rmSync(path('domains'), { recursive: true })
    mkdirSync(path('all'))
    symlinkSync('all', path('domains'))
    place.write('live.json', JSON.stringify(live))
    expect((await run('import', 'live.json', '--write-manifests', '--yes')).code).toBe(0)
    expect(readdirSync(path('all'))).toEqual(['api.example.com.yaml'])
  })
})

it('init writes nothing through a linked folder or .gitignore', async () => {
  mkdirSync(path('new'))
  symlinkSync(outside, path('new/domains'))
  expect((await run('init', 'new')).text).toContain('leads out of')
  expect(readdirSync(path('new'))).toEqual(['domains'])
  rmSync(path('new'), { recursive: true })
  mkdirSync(path('new'))
  symlinkSync(join(outside, 'precious.yaml'), path('new/.gitignore'))
  expect((await run('init', 'new')).text).toContain('leads out of')
  expect(readFileSync(join(outside, 'precious.yaml'), 'utf8')).not.toContain('.edgewise')
  untouched()
})

it('the data of the built-in emulator are not written through a link', async () => {
  symlinkSync(outside, path('.edgewise'))
  place.write('edgewise.yaml', 'version: 1\nstate: {store: dir, path: state}\n')
  const { code, text } = await run('apply', '--yes')
  expect([code, text]).toEqual([1, expect.stringContaining('is a symbolic link in the checkout')])
  untouched()
})

describe.each([
  ['--report', '.md'],
  ['--report', '.html'],
  ['--out', ''],
])('plan %s FILE%s', (option, ending) => {
  it.each(['a link', 'a broken link', 'a linked folder'])('refuses %s', async (kind) => {
    const name = `plan${ending}`
    const [link, file] = kind === 'a linked folder' ? ['to', `to/${name}`] : [name, name]
    const target = { 'a link': 'precious.yaml', 'a broken link': 'new' }[kind] ?? ''
    symlinkSync(join(outside, target), path(link))
    const { code, text } = await run('plan', option, file)
    expect(code).toBe(1)
    expect(text).toContain(`${path(link)} is a symbolic link in the checkout`)
    expect(readFileSync(join(outside, 'precious.yaml'), 'utf8')).toContain('precious.example.com')
    untouched()
  })

  it('follows a link outside of the checkout, and replaces its target', async () => {
    const link = join(outside, `link${ending}`)
    symlinkSync('precious.yaml', link)
    expect((await run('plan', option, link)).code).toBe(0)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(outside, 'precious.yaml'), 'utf8')).toContain('www.example.com')
  })

  const pipe = `pipe${ending}`

  it('writes into a pipe, and keeps it', async () => {
    execFileSync('mkfifo', [path(pipe)])
    const reader = spawn('cat', [path(pipe)])
    let read = ''
    reader.stdout.on('data', (data: Buffer) => (read += data.toString()))
    const ended = new Promise((resolve) => reader.once('close', resolve))
    const { code } = await run('plan', option, pipe)
    if (code !== 0) reader.kill()
    await ended
    expect([code, read]).toEqual([0, expect.stringContaining('www.example.com')])
    expect(lstatSync(path(pipe)).isFIFO()).toBe(true)
  })

  it('reports a pipe without a reader', async () => {
    execFileSync('mkfifo', [path(pipe)])
    const { code, text } = await run('plan', option, pipe)
    expect([code, text]).toEqual([1, expect.stringContaining('nothing reads from this pipe')])
    expect(lstatSync(path(pipe)).isFIFO()).toBe(true)
  })

  it('reports a folder', async () => {
    mkdirSync(path(`folder${ending}`))
    const { code, text } = await run('plan', option, `folder${ending}`)
    expect([code, text]).toEqual([1, expect.stringContaining("can't be written (EISDIR)")])
  })
})

it.each(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])('plan writes to %s', async (file) => {
  const { code, out } = await run('plan', '--out', file)
  expect([code, out]).toEqual([0, expect.stringContaining('1 to set')])
  expect(out.split('www.example.com').length).toBeGreaterThan(2)
})

it('apply writes its last reports into a socket and a pipe, and keeps them', async () => {
  let [received, read] = ['', '']
  const server = createServer((socket) => socket.on('data', (data) => (received += String(data))))
  await new Promise<void>((resolve) => server.listen(path('socket.html'), resolve))
  execFileSync('mkfifo', [path('pipe')])
  const reader = spawn('cat', [path('pipe')])
  reader.stdout.on('data', (data: Buffer) => (read += data.toString()))
  const ended = new Promise((resolve) => reader.once('close', resolve))
  const { code } = await run('apply', '--yes', '--report', 'socket.html', '--metrics-file', 'pipe')
  await ended
  expect([lstatSync(path('socket.html')).isSocket(), lstatSync(path('pipe')).isFIFO()]).toEqual([
    true,
    true,
  ])
  await new Promise((resolve) => server.close(resolve))
  expect(code).toBe(0)
  expect(received.split('<!doctype html>')).toHaveLength(2)
  expect(read.match(/^edgewise_apply_state\{state="done".*\} 1$/gm)).toHaveLength(1)
})
