import { createServer as createHttp, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createNet, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/service/write/client.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { closeAfterEach, freePort, listen } from './sockets.ts'
import { itLong } from '../runs.ts'

closeAfterEach()

async function write(to: string, timeoutMs = 5000) {
  const client = createClient({
    url: to,
    token: 'tok-5ecret',
    timeoutMs,
    itemKeys: {},
    scrub: (text) => text,
  })
  const outcome = await client.write(['a.example.com'], { timeout: { time: '60' } })
  expect(JSON.stringify(outcome)).not.toContain('tok-5ecret')
  return outcome
}

const http = async (listener: RequestListener) =>
  `http://127.0.0.1:${await listen(createHttp(listener))}`
const raw = async (answer: (socket: Socket, received: Buffer) => void) => {
  const server = createNet((socket) => socket.on('data', (data) => answer(socket, data)))
  return `http://127.0.0.1:${await listen(server)}`
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

describe('over real connections', () => {
  it('an answer is parsed, and only the body contains the token', async () => {
    let [address, body] = ['', '']
    const to = await http((request, response) => {
      void readBody(request).then((text) => {
        address = `${request.url} ${JSON.stringify(request.headers)}`
        body = text
        response
          .setHeader('X-Ratelimit-Remaining', '29')
          .setHeader('X-Retry-After', '60')
          .end('{"code":0,"data":{"config":{}}}')
      })
    })
    expect(await write(to)).toMatchObject({
      kind: 'confirmed',
      limits: { remaining: 29, resetMs: 60_000 },
    })
    expect(address).not.toContain('tok-5ecret')
    expect(body).toContain('tok-5ecret')
  })

  it('a closed port: not sent', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    expect(await write(url)).toMatchObject({
      kind: 'not sent',
      message:
        `${url} was not reached: the connection was refused; ` +
        'check service.url in edgewise.yaml',
    })
  })

  it('an unknown host name: not sent', async () => {
    expect(await write('http://nowhere.invalid')).toMatchObject({ kind: 'not sent' })
  })

  it('a port that fetch refuses: not sent', async () => {
    expect(await write('http://127.0.0.1:6667')).toMatchObject({ kind: 'not sent' })
  })

  it('TLS to a server without TLS: not sent', async () => {
    const port = await listen(createHttp((_request, response) => response.end('{"code":0}')))
    expect(await write(`https://127.0.0.1:${port}`)).toMatchObject({ kind: 'not sent' })
  })

  it('reset after the first bytes: in-doubt', async () => {
    expect(await write(await raw((socket) => socket.resetAndDestroy()))).toMatchObject({
      kind: 'in-doubt',
    })
  })

  it('closed without an answer: in-doubt', async () => {
    expect(await write(await raw((socket) => socket.destroy()))).toMatchObject({ kind: 'in-doubt' })
  })

  it('reset after the write was received: in-doubt', async () => {
    const to = await http(
      (request, response) => void readBody(request).then(() => response.socket?.resetAndDestroy()),
    )
    expect(await write(to)).toMatchObject({ kind: 'in-doubt' })
  })

  it('reset in the middle of the answer: in-doubt', async () => {
    const to = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"code": 0')
      setTimeout(() => socket.resetAndDestroy(), 20)
    })
    expect(await write(to)).toMatchObject({ kind: 'in-doubt' })
  })

  it('an answer shorter than its length: in-doubt, even if the part is valid', async () => {
    const to = await raw((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"code": 0}'),
    )
    expect(await write(to)).toMatchObject({ kind: 'in-doubt' })
  })

  it('an answer that is not HTTP: in-doubt', async () => {
    expect(await write(await raw((socket) => socket.end('SSH-2.0-OpenSSH\r\n')))).toMatchObject({
      kind: 'in-doubt',
    })
  })

  it('no answer in time, before or within the body: in-doubt', async () => {
    const silent = await http(() => {})
    expect(await write(silent, 50)).toMatchObject({
      kind: 'in-doubt',
      message: 'no answer came in time',
    })
    const slow = await http((_request, response) => response.writeHead(200).write('{"code":'))
    expect(await write(slow, 50)).toMatchObject({ kind: 'in-doubt' })
  })

  itLong('answers that cannot be decompressed: in-doubt, in time', async () => {
    // The answer comes in two pieces, as from most servers.
    const to = await http((request, response) => {
      void readBody(request).then(() => {
        response
          .writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': '7' })
          .flushHeaders()
        setTimeout(() => response.end('no gzip'), 1)
      })
    })
    const several = async () => {
      for (let i = 0; i < 3; i++) expect(await write(to, 300)).toMatchObject({ kind: 'in-doubt' })
    }
    await Promise.all(Array.from({ length: 12 }, several))
  })

  it.each([301, 302, 303, 307, 308])(
    'a redirect (%i) to another host sends nothing there',
    async (status) => {
      const seen: string[] = []
      const elsewhere = await http((request, response) => {
        void readBody(request).then((text) => seen.push(`${request.url}${text}`))
        response.end('{"code":0}')
      })
      const to = await http((_request, response) => {
        response.writeHead(status, { Location: `${elsewhere}/v2/domain/config` }).end()
      })
      expect(await write(to)).toMatchObject({ kind: 'in-doubt' })
      const answer = await createNetworkTransport()({
        url: `${to}/v2/stat?token=tok-5ecret`,
        timeoutMs: 5000,
      })
      expect([answer.status, seen]).toEqual([status, []])
    },
  )

  it('an endless answer is cut off', async () => {
    const chunk = 'x'.repeat(1024 * 1024)
    const to = await http((_request, response) => {
      const more = () => {
        while (response.writable && response.write(chunk));
        response.once('drain', more)
      }
      more()
    })
    expect(await write(to)).toMatchObject({ kind: 'in-doubt' })
  })
})
