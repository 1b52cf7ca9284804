import { Agent, request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpServer } from '../../src/server/http/http-server.ts'
import { apiToken, closeHttp, createOptions, startHttp, type HttpStage } from './http-stage.ts'
import { itLong } from '../runs.ts'

afterEach(closeHttp)

const authorization = `Bearer ${apiToken}`
const get = (
  { url }: HttpStage,
  path: string,
  headers: Record<string, string> = { authorization },
) => fetch(url + path, { headers })
const limits = {
  headersMs: 5000,
  requestMs: 5000,
  idleMs: 5000,
  checkMs: 100,
  closeMs: 5000,
  lingerMs: 50,
  connections: 16,
  share: 4,
}

/** Sends bytes on a socket; returns all that arrives until the server ends it. */
async function exchange({ port }: HttpStage, ...lines: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(lines.join('\r\n'))
  return text(socket)
}

describe('a connection', () => {
  it('is used again after a GET, and after a body that was read', async () => {
    const http = await startHttp()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = async (method: string, path: string, body = '') => {
      const sent = request(http.url + path, { method, agent, headers: { 'X-Gitlab-Token': body } })
      sent.end(body)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      await text(answer)
      return [answer.statusCode, sent.reusedSocket]
    }
    expect(await send('GET', '/healthz')).toEqual([200, false])
    expect(await send('GET', '/healthz')).toEqual([200, true])
    expect(await send('POST', '/webhook', 'the-secret')).toEqual([202, true])
    expect(await send('POST', '/webhook', 'another')).toEqual([401, true])
    expect(await send('GET', '/readyz')).toEqual([200, true])
    agent.destroy()
  })

  it('shows a refusal to a client that sends its whole body first', async () => {
    const { port } = await startHttp()
    const socket = connect(port, '127.0.0.1')
    const size = 100_000
    const start = ['POST /webhook HTTP/1.1', 'Host: x', `Content-Length: ${10 * size}`, '', '']
    socket.write(start.join('\r\n'))
    await once(socket, 'readable')
    for (let i = 0; i < 10; i++)
      await new Promise<void>((resolve, reject) => {
        socket.write('x'.repeat(size), (error) => (error ? reject(error) : setTimeout(resolve, 5)))
      })
    expect(await text(socket)).toMatch(/^HTTP\/1.1 401 [^]*signature is missing/)
  })

  it('ends after a refusal if the rest of the body never comes', async () => {
    const http = await startHttp({}, { limits })
    const start = 'POST /webhook HTTP/1.1'
    const own = ['Host: x', 'Content-Length: 1000', '', 'the start']
    const answer = await exchange(http, start, ...own)
    expect(answer).toMatch(/^HTTP\/1.1 401 [^]*Connection: close[^]*signature is missing/)
  })

  itLong('ends if its client reads no answer', async () => {
    const large = 'x'.repeat(1_000_000)
    const plan = () => Promise.resolve(large)
    const http = await startHttp({ plan }, { limits: { ...limits, idleMs: 200 } })
    const socket = connect(http.port, '127.0.0.1')
    const ended = once(socket, 'close')
    socket.on('error', () => undefined)
    socket.pause()
    const lines = ['GET /api/plan HTTP/1.1', 'Host: x', `Authorization: ${authorization}`, '', '']
    socket.write(lines.join('\r\n').repeat(60))
    // Meanwhile, the connection is full, and nobody takes a byte of it.
    await new Promise((resolve) => setTimeout(resolve, 5000))
    socket.resume()
    await ended
    expect(socket.bytesRead).toBeLessThan(59 * large.length)
    expect((await get(http, '/healthz')).status).toBe(200)
  })

  itLong('is refused a body that is too large, announced or not', async () => {
    const http = await startHttp({}, { limits })
    const token = 'X-Gitlab-Token: the-secret'
    const large = 'Content-Length: 26214401'
    const webhook = await exchange(http, 'POST /webhook HTTP/1.1', 'Host: x', token, large, '', '')
    expect(webhook).toMatch(/^HTTP\/1.1 413 /)
    const stop = [
      'POST /api/rollouts/all/stop HTTP/1.1',
      'Host: x',
      `Authorization: ${authorization}`,
    ]
    expect(await exchange(http, ...stop, 'Content-Length: 65537', '', '')).toMatch(
      /^HTTP\/1.1 413 /,
    )
    expect(await http.count('webhooks_total', 'refused')).toBe(1)
    const lines = ['Host: x', `Authorization: ${authorization}`, 'Transfer-Encoding: chunked', '']
    const chunk = ['10001', 'x'.repeat(0x10001), '']
    const path = 'POST /api/rollouts/r1/approve HTTP/1.1'
    expect(await exchange(http, path, ...lines, ...chunk)).toMatch(/^HTTP\/1.1 413 /)
    expect(http.calls).toEqual([])
  })
})

describe('closing', () => {
  it('waits for a running request, and closes its connection', async () => {
    const running = hold<null>()
    const held = hold<{ role: string }>()
    const status = () => {
      running.resolve(null)
      return held.promise
    }
    const http = await startHttp({ status })
    const answering = get(http, '/api/status')
    await running.promise
    const closed = http.close()
    await expect(get(http, '/healthz')).rejects.toThrow()
    held.resolve({ role: 'standby' })
    const answer = await answering
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    await closed
  })

  it('cuts a request off that does not end', async () => {
    const running = hold<null>()
    const status = () => {
      running.resolve(null)
      return new Promise<never>(() => undefined)
    }
    const http = await startHttp({ status }, { limits: { ...limits, closeMs: 50 } })
    const answering = expect(get(http, '/api/status')).rejects.toThrow()
    await running.promise
    await http.close()
    await answering
  })

  it('is not needed for a port that is taken, which is an error of its own', async () => {
    const { port } = await startHttp()
    const { options } = createOptions()
    await expect(createHttpServer(options).listen(port, '127.0.0.1')).rejects.toMatchObject({
      code: 'usage',
      message: `the server can't listen on 127.0.0.1, port ${port} (EADDRINUSE)`,
    })
  })
})

function hold<T>() {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
