// @module-tag often
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { groupAddress } from '../../src/server/http/limited-server.ts'
import { apiToken, closeHttp, startHttp, type HttpStage } from './http-stage.ts'

const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await closeHttp()
})

const form = `token=${apiToken}`
const headers = ['Host: x', 'Content-Type: application/x-www-form-urlencoded']
const stalled = ['POST /login HTTP/1.1', ...headers, `Content-Length: ${form.length}`, '', ''].join(
  '\r\n',
)
const halfHeaders = 'POST /login HTTP/1.1\r\nHost: x\r\nX-Slow:'

/** Opens connections that send a start and nothing more, and waits until all are open. */
async function stall({ port }: HttpStage, count: number, start: string): Promise<Socket[]> {
  const opened = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  sockets.push(...opened)
  for (const socket of opened) {
    socket.on('error', () => undefined)
    socket.resume()
    socket.write(start)
  }
  await Promise.all(opened.map((socket) => once(socket, 'connect')))
  // The server has accepted all of them after one more turn of its loop.
  await new Promise((resolve) => setTimeout(resolve, 200))
  return opened
}

/** Logs in from an address of this machine; returns the status, or why there is none. */
function logIn({ port }: HttpStage, localAddress: string): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request({
      port,
      host: '127.0.0.1',
      localAddress,
      path: '/login',
      method: 'POST',
      timeout: 900,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
    sent.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', (error) => resolve(error.message))
    sent.end(form)
  })
}

/** Sends a request many times over one connection, reading nothing. */
function flood({ port }: HttpStage, start: string, count: number): Socket {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(start.repeat(count))
  return socket
}

const check = async ({ url }: HttpStage): Promise<number> =>
  (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1000) })).status

/** Loopback addresses besides the first one exist on Linux only. */
const another = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'

describe.each([
  ['bodies that never come', stalled],
  ['unfinished headers', halfHeaders],
  ['connections without a byte', ''],
])('256 %s', (_name, start) => {
  it('keep nobody else from the server', async () => {
    const http = await startHttp()
    await stall(http, 256, start)
    expect(await check(http)).toBe(200)
    expect(await logIn(http, another)).toBe(303)
    expect(await logIn(http, '127.0.0.1')).toBe(303)
  })
})

it('requests without waiting for their answers are not piled up', async () => {
  let asked = 0
  const status = () => new Promise<never>(() => void asked++)
  const http = await startHttp({ status })
  const lines = ['GET /api/status HTTP/1.1', 'Host: x', `Authorization: Bearer ${apiToken}`]
  const flooding = Array.from({ length: 20 }, () =>
    flood(http, `${lines.join('\r\n')}\r\n\r\n`, 500),
  )
  await Promise.all(flooding.map((socket) => once(socket.resume(), 'close')))
  expect(asked).toBeLessThanOrEqual(20)
  expect(await check(http)).toBe(200)
})

it('one request after another is answered on the same connection', async () => {
  const http = await startHttp()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const get = () =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request({ port: http.port, host: '127.0.0.1', path: '/healthz', agent })
      sent.on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)))
      sent.on('error', reject)
      sent.end()
    })
  const statuses = [await get(), await get(), await get()]
  agent.destroy()
  expect(statuses).toEqual([200, 200, 200])
})

it('what trickles in is ended after 5 seconds, a late form with a status', async () => {
  const http = await startHttp()
  const late = connect(http.port, '127.0.0.1')
  sockets.push(late)
  late.write(`${stalled}tok`)
  const answer = text(late)
  const slow = [...(await stall(http, 1, stalled)), ...(await stall(http, 1, halfHeaders))]
  const started = Date.now()
  const ends = slow.map((socket) => once(socket, 'close').then(() => Date.now()))
  const trickle = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write('a')
  }, 500)
  const times = await Promise.all(ends).finally(() => clearInterval(trickle))
  for (const time of times) expect(time - started).toBeLessThan(8500)
  expect(await answer).toMatch(/^HTTP\/1.1 408 /)
})

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::5', '2001:db8:1:2'],
  ['2001:db8::5', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('counts %j as %j', (address, group) => {
  expect(groupAddress(address)).toBe(group)
})

describe('a full server', () => {
  const limits = {
    headersMs: 5000,
    requestMs: 5000,
    idleMs: 5000,
    checkMs: 100,
    closeMs: 50,
    lingerMs: 50,
    connections: 16,
    share: 4,
  }

  it('ends the requests of the address that has the most, however long they take', async () => {
    const http = await startHttp({ status: () => new Promise(() => undefined) }, { limits })
    const lines = ['GET /api/status HTTP/1.1', 'Host: x', `Authorization: Bearer ${apiToken}`]
    await stall(http, 16, `${lines.join('\r\n')}\r\n\r\n`)
    expect(await logIn(http, another)).toBe(303)
  })

  it.runIf(process.platform === 'linux')('spares those of others', async () => {
    const http = await startHttp({}, { limits })
    const own = connect({ port: http.port, host: '127.0.0.1', localAddress: '127.0.0.3' })
    sockets.push(own)
    own.write(stalled)
    await stall(http, 40, stalled)
    own.write(form)
    const [answer] = (await once(own, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 303 /)
  })
})
