import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createStandardOutput } from '../../src/files/standard-output.ts'

it('what a pipe that does not wait has no room for goes to the stream', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'edgewise-output-')), 'pipe')
  execFileSync('mkfifo', [path])
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const stream = new PassThrough()
  const output = createStandardOutput(pipe, () => stream)
  const text = 'ä'.repeat(150_000)
  output.write(text)
  output.write('end')
  const bytes = Buffer.alloc(1_000_000)
  const length = readSync(pipe, bytes)
  closeSync(pipe)
  expect(length).toBeGreaterThan(0)
  expect(length).toBeLessThan(300_000)
  const whole = Buffer.concat([bytes.subarray(0, length), stream.read() as Buffer])
  expect(whole.toString()).toBe(`${text}end`)
  expect(output.fault()).toBeNull()
})

it.runIf(process.platform === 'linux')('a full disk is kept as a fault, and throws nothing', () => {
  const full = openSync('/dev/full', 'w')
  const output = createStandardOutput(full, () => new PassThrough())
  output.write('text')
  output.write('text')
  closeSync(full)
  expect(output.fault()).toBe('ENOSPC')
})

it('the stream that is opened tells its faults, and is finished when it has all', async () => {
  const stream = new PassThrough()
  const output = createStandardOutput(1, () => stream)
  expect(output.open()).toBe(stream)
  expect(output.open()).toBe(stream)
  output.write('text')
  const finished = output.finish()
  expect(String(stream.read())).toBe('text')
  await finished
  stream.emit('error', Object.assign(new Error('broken'), { code: 'EPIPE' }))
  expect(output.fault()).toBe('EPIPE')
  await output.finish()
})
