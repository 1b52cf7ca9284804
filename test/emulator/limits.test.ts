import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createListener, defaultLimits, type Limits } from '../../src/emulator/http/listener.ts'
import {
  JsonText,
  type EmulatorAnswer,
  type EmulatorRequest,
} from '../../src/emulator/routes/exchange.ts'
import { itLong } from '../runs.ts'

const open: Socket[] = []
let server: Server | undefined
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
  server?.closeAllConnections()
  server?.close()
})

const done: EmulatorAnswer = { status: 200, headers: {}, body: { code: 0 } }
/** More than the buffers of a connection. */
const large = { ...done, body: new JsonText('x'.repeat(16 * 1024 * 1024)) }

async function listen(
  limits: Partial<Limits>,
  answer: (request: EmulatorRequest) => Promise<EmulatorAnswer> = () => Promise.resolve(done),
): Promise<void> {
  const started = createListener(answer, () => 0, { ...defaultLimits, ...limits })
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
}

interface Client {
  socket: Socket
  /** All that the server sent, when it has closed the connection. */
  closed: Promise<string>
  /** Resolves with all that the server sent so far when this is part of it. */
  receive(part: string): Promise<string>
}

function call(text: string, allowHalfOpen = false): Client {
  const port = (server?.address() as AddressInfo | undefined)?.port ?? 0
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
  open.push(socket)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString()))
  socket.on('error', () => undefined)
  socket.write(text)
  return {
    socket,
    closed: new Promise((resolve) => socket.on('close', () => resolve(answer))),
    receive: (part) =>
      new Promise((resolve) => {
        const look = () => {
          if (!answer.includes(part)) return
          socket.off('data', look)
          resolve(answer)
        }
        socket.on('data', look)
        look()
      }),
  }
}

function waitForNoConnection(): Promise<void> {
  return new Promise((resolve) => {
    const look = () =>
      server?.getConnections((_, count) => (count === 0 ? resolve() : setImmediate(look)))
    look()
  })
}

const head = (length: number) =>
  `POST /v2/domain/config HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`

it('limits by default: 10 s for the header, 256 connections, 64 MiB', async () => {
  expect(defaultLimits).toMatchObject({
    headersMs: 10_000,
    requestMs: 30_000,
    connections: 256,
    bytes: 64 * 1024 * 1024,
  })
  await listen({})
  expect([server?.headersTimeout, server?.requestTimeout, server?.maxConnections]).toEqual([
    10_000, 30_000, 256,
  ])
})

const soon = { headersMs: 20, requestMs: 20, checkMs: 5 }
it.each([
  ['no byte', ''],
  ['a part of the header', 'POST /v2/domain/config HTTP/1.1\r\nHost: local'],
  ['a part of the body', `${head(10)}{`],
])('closes a connection that sends %s in time', async (_, text) => {
  await listen(soon)
  expect(await call(text).closed).toMatch(/^$|^HTTP\/1\.1 400 /)
})

it('closes a connection after refusing what is not HTTP, also if the client stays', async () => {
  await listen({})
  const client = call('nonsense\r\n\r\n', true)
  expect(await client.receive('}')).toMatch(/^HTTP\/1\.1 400 /)
  await waitForNoConnection()
})

it('closes the connection of a client that does not receive its answer in time', async () => {
  await listen({ answerMs: 20 }, () => Promise.resolve(large))
  call('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n').socket.pause()
  await new Promise((resolve) => server?.once('request', resolve))
  await waitForNoConnection()
})

it('closes connections over the maximum, and accepts others after one has ended', async () => {
  await listen({ connections: 2 })
  const [first] = await Promise.all(
    [1, 2].map(async () => {
      const client = call('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await client.receive('}')
      return client
    }),
  )
  expect(await call('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n').closed).toBe('')
  first?.socket.destroy()
  await first?.closed
  // The server sees the end of the first connection a moment later.
  const again = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  await expect.poll(() => call(again).closed, { interval: 1 }).toContain('"code":0')
})

it('refuses bodies while others hold the memory, also of one connection', async () => {
  const held: (() => void)[] = []
  await listen({ bytes: 1000 }, () => new Promise((resolve) => void held.push(() => resolve(done))))
  const body = 'x'.repeat(400)
  const first = call(`${head(400)}${body}${head(400)}${body}`)
  await expect.poll(() => held.length, { interval: 1 }).toBe(2)
  const refused = await call(`${head(400)}${body}`).closed
  expect(refused).toMatch(/^HTTP\/1\.1 503 [^]*Connection: close[^]*"code":500003/i)
  for (const release of held) release()
  await first.receive('}HTTP')
  call(`${head(400)}${body}`)
  await expect.poll(() => held.length, { interval: 1 }).toBe(3)
})

itLong('closes connections whose answers nobody receives, while they hold the memory', async () => {
  await listen({ bytes: 20 * 1024 * 1024 }, () => Promise.resolve(large))
  const reader = call('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  reader.socket.pause()
  await new Promise((resolve) => reader.socket.once('connect', resolve))
  const others = [1, 2].map(() => call('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'))
  const answers = await Promise.all(
    others.map(({ closed, receive }) => Promise.race([closed, receive('}')])),
  )
  expect(answers.filter((answer) => answer === '').length).toBeGreaterThan(0)
})
