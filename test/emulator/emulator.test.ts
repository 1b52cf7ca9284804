import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/emulator.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { itLong } from '../runs.ts'

const running: Emulator[] = []
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-emulator-'))
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()))
  rmSync(folder, { recursive: true })
})

async function start(
  options: Partial<EmulatorOptions> = {},
  host = '127.0.0.1',
  port = 0,
): Promise<Emulator> {
  const defaults: EmulatorOptions = {
    token: 'tok',
    domains: null,
    callsPerMinute: 30,
    itemKeys: {},
    control: true,
    lenient: false,
    limitStyle: 'status',
    seed: 'test',
    timezone: 'UTC',
    deadOrigins: [],
    faults: [],
    dataFile: null,
    now: Date.now,
    requestId: () => 'id',
  }
  const emulator = await startEmulator({ ...defaults, ...options }, { host, port })
  running.push(emulator)
  return emulator
}

async function stop(emulator: Emulator): Promise<void> {
  running.splice(running.indexOf(emulator), 1)
  await emulator.close()
}

function write(emulator: Emulator, config: Json, domains = 'www.example.com'): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${emulator.url}/v2/domain/config`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ token: 'tok', domains, config }),
  })
}

async function state(emulator: Emulator): Promise<Json> {
  return (
    ((await (await fetch(`${emulator.url}/_emulator/state`)).json()) as JsonObject)['domains'] ??
    null
  )
}

/** Returns everything that the server answers to these bytes until it closes the connection. */
function raw(emulator: Emulator, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(emulator.port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

const good = { timeout: { time: '60' } }

describe('over HTTP', () => {
  it('answers JSON with the headers of the service', async () => {
    const emulator = await start()
    const response = await write(emulator, good)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'api-id': 'id',
      'x-ratelimit-grad': 'minute',
      'x-ratelimit-limit': '30',
      'x-ratelimit-remaining': '29',
      'x-retry-after': '60',
    })
    expect(await response.json()).toMatchObject({ code: 0, data: { config: good } })
    expect(await state(emulator)).toEqual({ 'www.example.com': good })
  })

  it('dates every answer by its own clock', async () => {
    const emulator = await start({ faults: [{ kind: 'not-json', on: [2] }] })
    const post = (path: string, body: Json) =>
      fetch(`${emulator.url}/_emulator/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await post('clock', { now: Date.UTC(2031, 0, 2, 3, 4, 5, 678) })
    const dates = [
      await write(emulator, good),
      await write(emulator, good),
      await fetch(`${emulator.url}/v2/cache/prefetch`),
      await fetch(`${emulator.url}/elsewhere`),
      await post('reset', {}),
      await post('faults', { faults: 1 }),
    ].map(({ headers }) => headers.get('date'))
    expect(new Set(dates)).toEqual(new Set(['Thu, 02 Jan 2031 03:04:05 GMT']))
    expect(await raw(emulator, 'nonsense\r\n\r\n')).toContain('Date: Thu, 02 Jan 2031 03:04:05 GMT')
    expect((await post('clock', { advanceMs: 60_000 })).headers.get('date')).toBe(
      'Thu, 02 Jan 2031 03:05:05 GMT',
    )
  })

  it('accepts forms', async () => {
    const emulator = await start()
    for (const form of [new URLSearchParams(), new FormData()]) {
      form.append('domains', 'www.example.com')
      form.append('config[timeout][time]', '60')
      expect(
        (await fetch(`${emulator.url}/v2/domain/config?token=tok`, { method: 'POST', body: form }))
          .status,
      ).toBe(200)
    }
  })

  itLong('accepts a body of 1 MiB, and answers 413 over it, however it is sent', async () => {
    const emulator = await start()
    const send = (body: string | ReadableStream) =>
      fetch(`${emulator.url}/v2/domain/config`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        duplex: 'half',
      })
    const filled = (size: number) => {
      const text = JSON.stringify({ token: 'tok', domains: 'www.example.com', config: good })
      return text + ' '.repeat(size - text.length)
    }
    expect((await send(filled(1024 * 1024))).status).toBe(200)
    for (const body of [
      filled(1024 * 1024 + 1),
      filled(12 * 1024 * 1024),
      new Blob([filled(3 * 1024 * 1024)]).stream(),
    ]) {
      const response = await send(body)
      expect([response.status, await response.json()]).toEqual([
        413,
        { code: 413001, message: expect.any(String) as string },
      ])
    }
    expect((await write(emulator, good)).status).toBe(200)
  })

  it('survives closed connections and requests that are not HTTP', async () => {
    const emulator = await start()
    const head =
      'POST /v2/domain/config HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      'Content-Length: 100\r\n\r\n{"token"'
    await new Promise<void>((resolve) => {
      const socket = connect(emulator.port, '127.0.0.1', () =>
        socket.write(head, () => socket.destroy()),
      )
      socket.on('close', () => resolve())
    })
    const answer = await raw(emulator, 'this is no HTTP\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ code: 400001 })
    expect((await write(emulator, good)).status).toBe(200)
  })

  it.each(['requestId', 'now'] as const)(
    'answers 500 with the envelope if the emulator itself fails (%s), and survives',
    async (part) => {
      let broken = true
      const emulator = await start({
        [part]: () => {
          if (broken) throw new Error('out of order')
          return part === 'now' ? 0 : 'id'
        },
      })
      const response = await write(emulator, good)
      expect([response.status, await response.json()]).toEqual([
        500,
        { code: 500001, message: 'the emulator failed: out of order' },
      ])
      broken = false
      expect((await write(emulator, good)).status).toBe(200)
    },
  )

  it('closes immediately: idle connections, and those in the middle of a request', async () => {
    const emulator = await start()
    const agent = new Agent({ keepAlive: true })
    await new Promise<void>((resolve, reject) => {
      httpRequest(`${emulator.url}/_emulator/state`, { agent }, (response) =>
        response.resume().on('end', resolve),
      )
        .on('error', reject)
        .end()
    })
    const half = connect(emulator.port, '127.0.0.1', () =>
      half.write('POST /v2/domain/config HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'),
    )
    const cut = new Promise<void>((resolve) =>
      half.on('error', () => {}).on('close', () => resolve()),
    )
    await new Promise<void>((resolve) => half.once('connect', () => resolve()))
    await state(emulator)
    await stop(emulator)
    await cut
    await expect(write(emulator, good)).rejects.toThrow()
    agent.destroy()
  })

  it('simulates the faulty delivery of answers', async () => {
    const kinds = ['reset-before', 'reset-after', 'truncated', 'not-json'] as const
    const emulator = await start({ faults: kinds.map((kind, i) => ({ kind, on: [i + 1] })) })
    await expect(write(emulator, { timeout: { time: '11' } })).rejects.toThrow()
    expect(await state(emulator)).toEqual({})
    await expect(write(emulator, { timeout: { time: '12' } })).rejects.toThrow()
    expect(await state(emulator)).toEqual({ 'www.example.com': { timeout: { time: '12' } } })
    await expect(
      write(emulator, { timeout: { time: '13' } }).then((response) => response.text()),
    ).rejects.toThrow()
    expect(await state(emulator)).toEqual({ 'www.example.com': { timeout: { time: '13' } } })
    const page = await write(emulator, good)
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ])
    await expect(page.json()).rejects.toThrow()
    expect((await write(emulator, good)).status).toBe(200)
  })

  it('reports an unknown time zone', async () => {
    await expect(start({ timezone: 'Mars/Olympus' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('Mars/Olympus') as string,
    })
  })

  it('reports a port in use', async () => {
    const { port } = await start()
    await expect(start({}, '127.0.0.1', port)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(String(port)) as string,
    })
  })

  it('reports an address for this machine, and has no control surface there', async () => {
    const emulator = await start({}, '0.0.0.0')
    expect(emulator.url).toBe(`http://127.0.0.1:${emulator.port}`)
    expect((await write(emulator, good)).status).toBe(200)
    expect((await fetch(`${emulator.url}/_emulator/state`)).status).toBe(404)
  })
})

describe('the data file', () => {
  it('keeps state, ids and the call rate, for its owner only', async () => {
    const dataFile = join(folder, 'new', 'emulator.json')
    const first = await start({ dataFile, callsPerMinute: 3 })
    const configs = { ...good, https: { cert_id: 1, http2: 'on' } }
    const written = await write(first, configs, 'b.example.com,a.example.com')
    const { data } = (await written.json()) as { data: JsonObject }
    await write(first, { nothing: 1 })
    const before = await state(first)
    await stop(first)
    expect(statSync(dataFile).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(folder, 'new'))).toEqual(['emulator.json'])

    const second = await start({ dataFile, callsPerMinute: 3 })
    expect(await state(second)).toEqual(before)
    const again = await write(second, { https: { cert_id: 2 } }, 'b.example.com,a.example.com')
    expect(((await again.json()) as { data: JsonObject }).data['domains']).toEqual(data['domains'])
    expect(await state(second)).toMatchObject({
      'a.example.com': { https: { cert_id: 2, http2: 'on' } },
    })
    expect((await write(second, good)).status).toBe(429)
  })
})
