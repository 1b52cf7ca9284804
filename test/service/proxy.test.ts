import { createServer, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/service/client.ts'
import { overNetwork } from '../../src/service/transport.ts'
import { proxyDispatcher } from '../../src/service/proxy.ts'
import { closeAfterEach, freePort, listen } from './sockets.ts'

closeAfterEach()

/** A proxy that forwards both tunnels and whole requests, and remembers for whom. */
async function proxy(refuse = false) {
  const seen: string[] = []
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    const forwarded = httpRequest(incoming.url ?? '', { method: incoming.method ?? 'GET', headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  })
  server.on('connect', (incoming, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`)
    if (refuse) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const [host, port] = (incoming.url ?? '').split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => socket.destroy())
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, seen }
}

async function service() {
  let calls = 0
  const server = createServer((_request, response) => {
    calls++
    response.end('{"code":0}')
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, calls: () => calls }
}

async function write(url: string, env: Record<string, string>) {
  const dispatcher = await proxyDispatcher(env)
  const client = createClient({
    url,
    token: 'tok',
    timeoutMs: 5000,
    itemKeys: {},
    scrub: (text) => text,
    transport: overNetwork(dispatcher),
  })
  return client.write(['a.example.com'], { timeout: { time: '60' } })
}

describe('proxies', () => {
  it('none is named: the connection is direct', async () => {
    expect(await proxyDispatcher({})).toBeUndefined()
    expect(await proxyDispatcher({ HTTP_PROXY: '', HTTPS_PROXY: '', NO_PROXY: '*' })).toBeUndefined()
  })

  it.each(['HTTP_PROXY', 'http_proxy'])('%s carries calls to an http address', async (name) => {
    const [between, target] = [await proxy(), await service()]
    expect(await write(target.url, { [name]: between.url })).toMatchObject({ kind: 'confirmed' })
    expect(between.seen).toHaveLength(1)
    expect(between.seen[0]).toContain(target.host)
    expect(target.calls()).toBe(1)
  })

  it.each(['HTTPS_PROXY', 'https_proxy'])('%s carries calls to an https address, through a tunnel', async (name) => {
    const between = await proxy(true)
    await write('https://service.invalid', { [name]: between.url })
    expect(between.seen).toEqual(['CONNECT service.invalid:443'])
  })

  it('HTTPS_PROXY alone leaves calls to an http address direct', async () => {
    const [between, target] = [await proxy(), await service()]
    expect(await write(target.url, { HTTPS_PROXY: between.url })).toMatchObject({ kind: 'confirmed' })
    expect(between.seen).toEqual([])
  })

  it.each(['NO_PROXY', 'no_proxy'])('%s takes hosts out', async (name) => {
    const [between, target] = [await proxy(), await service()]
    for (const list of ['127.0.0.1', 'localhost,127.0.0.1', '*']) {
      expect(await write(target.url, { HTTP_PROXY: between.url, [name]: list })).toMatchObject({ kind: 'confirmed' })
    }
    expect(between.seen).toEqual([])
    expect(await write(target.url, { HTTP_PROXY: between.url, [name]: 'other.example.com' })).toMatchObject({ kind: 'confirmed' })
    expect(between.seen).toHaveLength(1)
  })

  it('a proxy that is not there, or that opens no tunnel: the write never left', async () => {
    expect(await write('https://service.invalid', { HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` })).toMatchObject({
      kind: 'not sent',
    })
    const refusing = await proxy(true)
    expect(await write('https://service.invalid', { HTTPS_PROXY: refusing.url })).toMatchObject({ kind: 'not sent' })
  })
})
