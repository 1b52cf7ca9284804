import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isStream, removeOutput, writeOutput } from '../../src/files/write-output.ts'
import { itLong } from '../runs.ts'

let folder: string
let checkout: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-output-'))
  checkout = join(folder, 'checkout')
  mkdirSync(checkout)
})
afterEach(() => rmSync(folder, { recursive: true }))

const write = (name: string, text = 'new') =>
  writeOutput({ path: join(folder, name), checkout, temporary: 'me' }, text)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const isRoot = process.getuid?.() === 0

describe('a regular file', () => {
  it('is created, and replaced as a whole with its mode', async () => {
    expect(await write('checkout/a')).toBeNull()
    chmodSync(join(checkout, 'a'), 0o640)
    const before = statSync(join(checkout, 'a')).ino
    expect(await write('checkout/a', 'newer')).toBeNull()
    const { ino, mode } = statSync(join(checkout, 'a'))
    expect([read('checkout/a'), mode & 0o777, ino === before]).toEqual(['newer', 0o640, false])
    expect(readdirSync(checkout)).toEqual(['a'])
  })

  it.skipIf(isRoot)('is written in place where its folder allows no other', async () => {
    writeFileSync(join(checkout, 'a'), 'a much longer text')
    chmodSync(checkout, 0o500)
    expect(await write('checkout/a')).toBeNull()
    chmodSync(checkout, 0o700)
    expect(read('checkout/a')).toBe('new')
  })

  it('is not created in a folder that does not exist', async () => {
    expect(await write('no/a')).toEqual({ code: 'ENOENT' })
  })
})

describe('a link', () => {
  it.each(['file', 'nothing'])('in the checkout to %s is refused', async (target) => {
    writeFileSync(join(folder, 'file'), 'old')
    symlinkSync(`../${target}`, join(checkout, 'link'))
    expect(await write('checkout/link')).toEqual({ link: join(checkout, 'link') })
    expect(readdirSync(folder)).toEqual(['checkout', 'file'])
    expect(read('file')).toBe('old')
  })

  it('in the checkout is refused on the way to a file, and behind a link outside', async () => {
    symlinkSync('..', join(checkout, 'up'))
    symlinkSync('checkout/up', join(folder, 'outer'))
    for (const name of ['checkout/up/a', 'outer/a'])
      expect(await write(name)).toEqual({ link: join(checkout, 'up') })
  })

  it('outside of the checkout is followed, also into the checkout', async () => {
    symlinkSync('checkout', join(folder, 'outer'))
    expect(await write('outer/a')).toBeNull()
    symlinkSync('checkout/a', join(folder, 'file'))
    expect(await write('file', 'newer')).toBeNull()
    expect([read('checkout/a'), lstatSync(join(folder, 'file')).isSymbolicLink()]).toEqual([
      'newer',
      true,
    ])
  })

  it('is no end of the search where links form a cycle', async () => {
    symlinkSync('b', join(folder, 'a'))
    symlinkSync('a', join(folder, 'b'))
    expect(await write('a')).toEqual({ code: 'ELOOP' })
  })
})

describe('a pipe', () => {
  beforeEach(() => execFileSync('mkfifo', [join(folder, 'pipe')]))

  itLong('gets a long text at the pace of its reader', async () => {
    const child = spawn('sh', ['-c', 'exec < "$0"; sleep 0.2; wc -c', join(folder, 'pipe')])
    const counted = new Promise((resolve) => child.stdout.once('data', resolve))
    let fault = await write('pipe', 'x'.repeat(1_000_000))
    while (fault !== null && 'code' in fault && fault.code === 'ENXIO')
      fault = await write('pipe', 'x'.repeat(1_000_000))
    expect([fault, String(await counted).trim()]).toEqual([null, '1000000'])
    expect(lstatSync(join(folder, 'pipe')).isFIFO()).toBe(true)
  })

  it('has no reader, or one that has ended', async () => {
    expect(await write('pipe')).toEqual({ code: 'ENXIO' })
    const reader = openSync(join(folder, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
    const writing = write('pipe', 'x'.repeat(1_000_000))
    closeSync(reader)
    expect(await writing).toEqual({ code: 'EPIPE' })
  })

  it('is not removed as the output of an earlier run', () => {
    const output = { path: join(folder, 'pipe'), checkout }
    expect([isStream(output.path), removeOutput(output)]).toEqual([true, null])
    expect(lstatSync(join(folder, 'pipe')).isFIFO()).toBe(true)
  })
})

it('a socket gets the text, also if it never closes its side', async () => {
  let received = ''
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    socket.on('error', () => undefined).on('data', (data) => (received += String(data))),
  )
  await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve))
  expect(await write('socket', 'x'.repeat(1_000_000))).toBeNull()
  expect(lstatSync(join(folder, 'socket')).isSocket()).toBe(true)
  await expect.poll(() => received.length).toBe(1_000_000)
  server.close()
})

itLong('a socket without a listener is reported', async () => {
  const script = `require('net').createServer().listen(process.argv[1], () => process.exit())`
  execFileSync(process.execPath, ['-e', script, join(folder, 'socket')])
  if (!readdirSync(folder).includes('socket')) return
  expect(await write('socket')).toEqual({ code: 'ECONNREFUSED' })
})

it('a device is written to, and stays', async ({ skip }) => {
  const made = () => execFileSync('mknod', [join(folder, 'null'), 'c', '1', '3'])
  if (!isRoot) skip('only root can make a device')
  try {
    made()
  } catch {
    skip('this machine lets nobody make a device')
  }
  expect(await write('null')).toBeNull()
  expect(removeOutput({ path: join(folder, 'null'), checkout })).toBeNull()
  expect(lstatSync(join(folder, 'null')).isCharacterDevice()).toBe(true)
})

it('an open file of this process is written to at its place', async () => {
  const file = openSync(join(folder, 'a'), 'w')
  for (const path of [`/dev/fd/${file}`, `/proc/self/fd/${file}`])
    expect(await writeOutput({ path, checkout, temporary: 'me' }, 'new')).toBeNull()
  closeSync(file)
  expect(read('a')).toBe('newnew')
})

describe('the output of an earlier run', () => {
  it('is removed if it is a file', () => {
    writeFileSync(join(checkout, 'a'), '')
    expect(removeOutput({ path: join(checkout, 'a'), checkout })).toBeNull()
    expect(removeOutput({ path: join(checkout, 'a'), checkout })).toBeNull()
    expect(readdirSync(checkout)).toEqual([])
  })

  it('is not removed behind a link in the checkout', () => {
    writeFileSync(join(folder, 'a'), '')
    symlinkSync('..', join(checkout, 'up'))
    const link = join(checkout, 'up')
    expect(removeOutput({ path: join(link, 'a'), checkout })).toEqual({ link })
    expect(readdirSync(folder)).toEqual(['a', 'checkout'])
  })
})
