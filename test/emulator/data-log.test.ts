import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Json } from '../../src/model/json.ts'
import { createWorld } from './world.ts'

let folder = ''
let dataFile = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-data-'))
  dataFile = join(folder, 'emulator.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const good = { timeout: { time: '60' } }
const statistics = {
  domains: 'a.example.com',
  start_time: '2026-11-20',
  end_time: '2026-11-20',
  grad: 'minute',
}

it('keeps statistics and prefetches as they were', async () => {
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
  const now = first.clock.now + 600_000
  const look = async (service: typeof first) => {
    service.clock.now = now
    return [
      (await service.query('/v2/stat/httpcode', statistics)).body,
      (await service.query('/v2/cache/prefetch', { task_id: '1' })).body,
      await service.state(),
    ]
  }
  expect(await look(createWorld({ dataFile }))).toEqual(await look(first))
})

it('cut off at any byte, holds every write before the cut', async () => {
  const service = createWorld({ dataFile })
  const ends: number[] = []
  for (let n = 10; n < 18; n++) {
    await service.write({ timeout: { time: String(n) } }, 'a.example.com')
    ends.push(statSync(dataFile).size)
  }
  const whole = readFileSync(dataFile)
  const snapshot = whole.indexOf(10) + 1
  for (let length = whole.length; length >= snapshot; length--) {
    truncateSync(dataFile, length)
    const again = createWorld({ dataFile })
    const kept = ends.filter((end) => end <= length).length
    expect(await again.state()).toEqual(
      kept === 0 ? {} : { 'a.example.com': { timeout: { time: String(9 + kept) } } },
    )
    if (length % 40 === 0) {
      await again.write({ timeout: { time: '99' } }, 'b.example.com')
      expect(await createWorld({ dataFile }).state()).toMatchObject({
        'b.example.com': { timeout: { time: '99' } },
      })
      writeFileSync(dataFile, whole.subarray(0, length))
    }
  }
})

it('names the line that is damaged', async () => {
  const service = createWorld({ dataFile })
  for (let n = 0; n < 3; n++) await service.write(good)
  const lines = readFileSync(dataFile, 'utf8').split('\n')
  for (const bad of [
    '{"at": 1, "domains": {"a.example.com"',
    '{}',
    '{"at": "1"}',
    '[]',
    '{"at": 1, "domains": []}',
    '{"at": 1, "domains": {"a.example.com": {"id": 1, "items": {}}}}',
    '{"at": 1, "domains": {"a.example.com": {"id": "1", "items": []}}}',
    '{"at": 1, "domains": {"a.example.com": {"id": "1", "items": {"no": 1}}}}',
    '{"at": 1, "prefetch": []}',
    '{"at": 1, "prefetch": {"task": "1", "urls": []}}',
    '{"at": 1, "prefetch": {"task": 1, "urls": "http://a.example.com"}}',
    '{"at": 1, "prefetch": {"task": 1, "urls": [1]}}',
    '{"at": 1, "dead": "192.0.2.1"}',
    '{"at": 1, "dead": [1]}',
  ]) {
    writeFileSync(dataFile, [...lines.slice(0, 2), bad, ...lines.slice(3)].join('\n'))
    expect(() => createWorld({ dataFile })).toThrow(/is damaged: line 3: /)
  }
})

it('is made small again, and loses nothing by it', async () => {
  const service = createWorld({ dataFile })
  const squid = 'x'.repeat(50_000)
  let most = 0
  for (let n = 0; n < 60; n++) {
    await service.write({ extend: { squid: `${squid}${n}` } }, 'a.example.com')
    most = Math.max(most, statSync(dataFile).size)
  }
  expect(most).toBeLessThan(1_400_000)
  expect(await createWorld({ dataFile }).state()).toEqual({
    'a.example.com': { extend: { squid: `${squid}59` } },
  })
})

it('that can not be written refuses the write, and nothing has changed', async () => {
  const service = createWorld({ dataFile })
  await service.write(good)
  // A process that writes to the same file is told apart from a file that was taken away.
  appendFileSync(dataFile, '\n')
  const refused = await service.write({ timeout: { time: '61' } })
  expect(refused).toMatchObject({
    status: 500,
    body: { message: expect.stringContaining('another process') as string },
  })
  expect(await service.state()).toEqual({ 'www.example.com': good })
  rmSync(dataFile)
  expect((await service.write({ timeout: { time: '62' } })).status).toBe(200)
  expect(await createWorld({ dataFile }).state()).toEqual({
    'www.example.com': { timeout: { time: '62' } },
  })
})

it('reads the format of before', async () => {
  const whole = {
    format: 'edgewise.emulator/1',
    writeTimes: [],
    domains: { 'a.example.com': { id: '1', items: good } },
  }
  writeFileSync(dataFile, `${JSON.stringify(whole)}\n`)
  const service = createWorld({ dataFile })
  expect(await service.state()).toEqual({ 'a.example.com': good })
  await service.write(good, 'b.example.com')
  expect(await createWorld({ dataFile }).state()).toEqual({
    'a.example.com': good,
    'b.example.com': good,
  })
})
