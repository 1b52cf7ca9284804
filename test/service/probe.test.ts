// @module-tag nightly
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { isRefusedAddress, sendProbe, type ProbeRequest } from '../../src/service/probe.ts'
import { itLong } from '../runs.ts'
import { untrusted } from './certificate.ts'
import { closeAfterEach, freePort, listen } from './sockets.ts'

closeAfterEach()
afterEach(() => vi.unstubAllEnvs())

const request: ProbeRequest = {
  protocol: 'http',
  address: '127.0.0.1',
  port: 80,
  host: 'www.example.com',
  path: '/a?b=1',
  method: 'GET',
  headers: {},
  allowsLoopback: true,
  signal: new AbortController().signal,
}

/** Starts a server; its requests are kept. */
async function serve(answer: RequestListener) {
  const requests: IncomingMessage[] = []
  const server = createServer((incoming, outgoing) => {
    requests.push(incoming)
    answer(incoming, outgoing)
  })
  return { port: await listen(server), requests }
}

it.each([
  '169.254.169.254',
  '169.254.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '0.0.0.0',
  '0.1.2.3',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::169.254.169.254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  'fec0::1',
  'fd00:ec2::254',
  'ff02::1',
])('nothing is sent to %s, not even with an emulator', async (address) => {
  expect([isRefusedAddress(address, false), isRefusedAddress(address, true)]).toEqual([true, true])
  expect(await sendProbe({ ...request, address })).toBe(0)
})

it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'])(
  'only an emulator may be at %s',
  (address) => {
    expect(isRefusedAddress(address, false)).toBe(true)
    expect(isRefusedAddress(address, true)).toBe(false)
  },
)

it.each(['192.0.2.1', '10.0.0.1', '192.168.1.1', '203.0.113.9', '2001:db8::1', 'fd12::1'])(
  'an origin may be at %s',
  (address) => expect(isRefusedAddress(address, false)).toBe(false),
)

it.each(['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f.1'])(
  'this machine is not asked under the name %s',
  async (address) => {
    const { port, requests } = await serve((_, answer) => answer.end())
    expect(await sendProbe({ ...request, address, port, allowsLoopback: false })).toBe(0)
    expect(requests).toEqual([])
  },
)

it('a name of this machine is asked where it is an emulator', async () => {
  const { port } = await serve((_, answer) => answer.end())
  expect(await sendProbe({ ...request, address: 'localhost', port })).toBe(200)
})

it.each(['GET', 'HEAD'] as const)('%s has the headers of the sample only', async (method) => {
  const { port, requests } = await serve((_, answer) => answer.writeHead(404).end('gone'))
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9')
  const headers = { 'user-agent': 'x', cookie: 'a=b' }
  expect(await sendProbe({ ...request, port, method, headers })).toBe(404)
  const host = 'www.example.com'
  expect(requests).toMatchObject([{ method, url: '/a?b=1', headers: { ...headers, host } }])
  expect(Object.keys(requests[0]?.headers ?? {}).toSorted()).toEqual([
    'connection',
    'cookie',
    'host',
    'user-agent',
  ])
})

it('a redirect is an answer, and is not followed', async () => {
  const { port, requests } = await serve((_, answer) =>
    answer.writeHead(302, { location: '/elsewhere' }).end(),
  )
  expect(await sendProbe({ ...request, port })).toBe(302)
  expect(requests).toHaveLength(1)
})

it('a body that does not end is not received', async () => {
  let sent = 0
  const { port } = await serve((_, answer) => {
    const write = () => {
      if (answer.destroyed) return
      sent += 16_384
      answer.write(Buffer.alloc(16_384), () => setImmediate(write))
    }
    write()
  })
  expect(await sendProbe({ ...request, port })).toBe(200)
  expect(sent).toBeLessThan(64 * 2 ** 20)
})

it('no answer is status 0', async () => {
  const reset = createTcpServer((socket) => socket.destroy())
  const cut = createTcpServer((socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')
  })
  const ports = [await freePort(), await listen(reset), await listen(cut)]
  expect(await Promise.all(ports.map((port) => sendProbe({ ...request, port })))).toEqual([0, 0, 0])
  expect(await sendProbe({ ...request, address: 'nowhere.invalid' })).toBe(0)
  expect(await sendProbe({ ...request, headers: { a: 'b\r\nc: d' } })).toBe(0)
})

it('a request ends with an interrupt', async () => {
  const { port, requests } = await serve(() => undefined)
  const controller = new AbortController()
  const answer = sendProbe({ ...request, port, signal: controller.signal })
  await vi.waitFor(() => expect(requests).toHaveLength(1))
  controller.abort()
  expect(await answer).toBe(0)
})

itLong('a request ends after ten seconds', async () => {
  const { port } = await serve(() => undefined)
  expect(await sendProbe({ ...request, port })).toBe(0)
})

it('a certificate is verified, whatever the environment says', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  let requests = 0
  const server = createTlsServer(untrusted, (_, answer) => {
    requests++
    answer.end()
  })
  const port = await listen(server)
  expect(await sendProbe({ ...request, protocol: 'https', port })).toBe(0)
  expect(requests).toBe(0)
})
