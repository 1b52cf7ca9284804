import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { createWorld } from './world.ts'

let folder = ''
let dataFile = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-data-'))
  dataFile = join(folder, 'data', 'emulator.json')
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true })
})

const good = { timeout: { time: '60' } }
const failed = (message: string) => ({
  status: 500,
  body: { code: 500001, message: expect.stringContaining(message) as string },
})

it('keeps statistics and prefetches unchanged', async () => {
  const first = createWorld({ dataFile })
  await first.postControl('prefetch', { urls: ['https://a.example.com/1'] })
  for (const config of [
    { deny_url: { urls: ['/a'] } },
    good,
    { origin: { default_master: '192.0.2.1' } },
  ] as Json[]) {
    first.clock.now += 600_000
    await first.write(config, 'a.example.com')
  }
  await first.postControl('origins', { dead: ['192.0.2.1'] })
  first.end()
  const now = first.clock.now + 600_000
  const days = { start_time: '2026-11-20', end_time: '2026-11-20', grad: 'minute' }
  const look = async (service: typeof first) => {
    service.clock.now = now
    return [
      (await service.query('/v2/stat/httpcode', { domains: 'a.example.com', ...days })).body,
      (await service.query('/v2/cache/prefetch', { task_id: '1' })).body,
      await service.state(),
    ]
  }
  expect(await look(createWorld({ dataFile }))).toEqual(await look(first))
})

it('is written once for many changes, soon after the first of them', async () => {
  vi.useFakeTimers()
  const service = createWorld({ dataFile })
  for (let n = 10; n < 60; n++) await service.write({ timeout: { time: String(n) } })
  expect(existsSync(dataFile)).toBe(false)
  await vi.advanceTimersByTimeAsync(100)
  const whole = readFileSync(dataFile, 'utf8')
  expect(JSON.parse(whole)).toMatchObject({
    format: 'edgewise.emulator/1',
    domains: { 'www.example.com': { id: '1', items: { timeout: { time: '59' } } } },
  })
  await service.postControl('reset', {})
  expect(readFileSync(dataFile, 'utf8')).toBe(whole)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(readFileSync(dataFile, 'utf8')).not.toContain('www.example.com')
})

it('of another process is not replaced, and nothing changes', async () => {
  const service = createWorld({ dataFile })
  await service.write(good)
  service.end()
  const other = createWorld({ dataFile })
  await other.write({ timeout: { time: '61' } })
  other.end()
  expect(await service.write({ timeout: { time: '62' } })).toMatchObject(failed('another process'))
  expect(await service.state()).toEqual({ 'www.example.com': good })
  rmSync(dataFile)
  expect((await service.write({ timeout: { time: '63' } })).status).toBe(200)
  service.end()
  expect(await createWorld({ dataFile }).state()).toEqual({
    'www.example.com': { timeout: { time: '63' } },
  })
})

it('that can not be written refuses the next writes, until it can be', async () => {
  vi.useFakeTimers()
  const service = createWorld({ dataFile })
  const obstacle = `${dataFile}.${process.pid}.tmp`
  mkdirSync(obstacle, { recursive: true })
  expect((await service.write(good)).status).toBe(200)
  await vi.advanceTimersByTimeAsync(100)
  expect(await service.write(good, 'b.example.com')).toMatchObject(failed('EISDIR'))
  expect(() => service.end()).toThrow('EISDIR')
  rmSync(obstacle, { recursive: true })
  expect((await service.write(good, 'c.example.com')).status).toBe(200)
  service.end()
  expect(await createWorld({ dataFile }).state()).toEqual({
    'www.example.com': good,
    'c.example.com': good,
  })
})

const domain = { id: '1', items: {}, behaviour: [] }
it.each<[string, (data: JsonObject) => string | JsonObject]>([
  ['cut off', (data) => JSON.stringify(data).slice(0, -9)],
  ['empty', () => ''],
  ['no object', () => '[]'],
  ['another format', (data) => ({ ...data, format: 'edgewise.emulator/2' })],
  ['domains missing', (data) => ({ ...data, domains: null })],
  ['an id missing', (data) => ({ ...data, domains: { 'a.example.com': { ...domain, id: 1 } } })],
  [
    'an unknown item',
    (data) => ({ ...data, domains: { 'a.example.com': { ...domain, items: { nothing: 1 } } } }),
  ],
  [
    'no behaviour',
    (data) => ({ ...data, domains: { 'a.example.com': { ...domain, behaviour: 1 } } }),
  ],
  ['no list of prefetches', (data) => ({ ...data, prefetches: {} })],
  ['no next task', (data) => ({ ...data, nextTask: null })],
])('that is damaged (%s) is left unchanged, and its path is reported', async (_, damage) => {
  const service = createWorld({ dataFile })
  await service.write(good)
  service.end()
  const damaged = damage(JSON.parse(readFileSync(dataFile, 'utf8')) as JsonObject)
  const text = typeof damaged === 'string' ? damaged : JSON.stringify(damaged)
  writeFileSync(dataFile, text)
  expect(() => createWorld({ dataFile })).toThrow(
    /emulator\.json is damaged, or of another version/,
  )
  expect(readFileSync(dataFile, 'utf8')).toBe(text)
})

it('says that it can not be written, and why', async () => {
  const service = createWorld({ dataFile })
  await service.write(good)
  symlinkSync(join(folder, 'none'), join(folder, 'data'))
  expect(() => service.end()).toThrow(
    expect.objectContaining({
      name: 'EdgewiseError',
      message: expect.stringContaining(
        `the emulator's data file ${dataFile} can't be written (`,
      ) as string,
    }),
  )
})
