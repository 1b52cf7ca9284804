import { createServer, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { EnvHttpProxyAgent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/service/write/client.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { createDispatcher } from '../../src/service/proxy.ts'
import { closeAfterEach, freePort, listen } from './sockets.ts'

closeAfterEach()

/** A proxy that forwards both tunnels and whole requests to one port, and remembers for whom. */
async function proxy(refuse = false, to = 0) {
  const seen: string[] = []
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    const { pathname } = new URL(incoming.url ?? '')
    const options = { port: to, method: incoming.method ?? 'GET', headers: incoming.headers }
    const forwarded = httpRequest(`http://127.0.0.1${pathname}`, options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  })
  server.on('connect', (incoming, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`)
    if (refuse) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const onward = connect(to, '127.0.0.1', () => {
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
  return { url: `http://127.0.0.1:${port}`, port, calls: () => calls }
}

async function write(url: string, env: Record<string, string>) {
  const dispatcher = await createDispatcher(url, env)
  const client = createClient({
    url,
    token: 'tok',
    timeoutMs: 5000,
    itemKeys: {},
    scrub: (text) => text,
    transport: createNetworkTransport(dispatcher),
  })
  return client.write(['a.example.com'], { timeout: { time: '60' } })
}

describe('proxies', () => {
  const far = 'http://service.invalid'

  it('none is named: the connection is direct', async () => {
    for (const url of [far, 'https://service.invalid', 'http://127.0.0.1']) {
      expect(await createDispatcher(url, {})).toBeUndefined()
      expect(
        await createDispatcher(url, { HTTP_PROXY: '', HTTPS_PROXY: '', NO_PROXY: '*' }),
      ).toBeUndefined()
    }
  })

  it.each(['HTTP_PROXY', 'http_proxy'])('%s carries calls to an http address', async (name) => {
    const target = await service()
    const between = await proxy(false, target.port)
    expect(await write(far, { [name]: between.url })).toMatchObject({ kind: 'confirmed' })
    expect(between.seen).toHaveLength(1)
    expect(between.seen[0]).toContain('service.invalid')
    expect(target.calls()).toBe(1)
  })

  it.each(['127.0.0.1', 'localhost', '127.1', 'LOCALHOST'])(
    'http to %s goes through none',
    async (host) => {
      const target = await service()
      const between = await proxy(false, target.port)
      const url = `http://${host}:${target.port}`
      const env = { HTTP_PROXY: between.url, HTTPS_PROXY: between.url, http_proxy: between.url }
      expect(await write(url, env)).toMatchObject({ kind: 'confirmed' })
      expect([between.seen, target.calls()]).toEqual([[], 1])
    },
  )

  it('http to this machine goes through none, also where Node itself heeds the environment', async () => {
    const target = await service()
    const between = await proxy(false, target.port)
    const usual = getGlobalDispatcher()
    setGlobalDispatcher(new EnvHttpProxyAgent({ httpProxy: between.url, noProxy: '' }))
    try {
      expect(await write(target.url, { HTTP_PROXY: between.url })).toMatchObject({
        kind: 'confirmed',
      })
    } finally {
      setGlobalDispatcher(usual)
    }
    expect([between.seen, target.calls()]).toEqual([[], 1])
  })

  it.each(['HTTPS_PROXY', 'https_proxy'])(
    '%s carries calls to an https address, through a tunnel',
    async (name) => {
      const between = await proxy(true)
      await write('https://service.invalid', { [name]: between.url })
      expect(between.seen).toEqual(['CONNECT service.invalid:443'])
    },
  )

  it('HTTPS_PROXY alone leaves calls to an http address direct', async () => {
    const between = await proxy()
    expect(await write(far, { HTTPS_PROXY: between.url })).toMatchObject({ kind: 'not sent' })
    expect(between.seen).toEqual([])
  })

  it.each(['NO_PROXY', 'no_proxy'])('%s takes hosts out', async (name) => {
    const target = await service()
    const between = await proxy(false, target.port)
    for (const list of ['service.invalid', 'localhost,service.invalid', '*']) {
      expect(await write(far, { HTTP_PROXY: between.url, [name]: list })).toMatchObject({
        kind: 'not sent',
      })
    }
    expect(between.seen).toEqual([])
    const other = { HTTP_PROXY: between.url, [name]: 'other.example.com' }
    expect(await write(far, other)).toMatchObject({ kind: 'confirmed' })
    expect(between.seen).toHaveLength(1)
  })

  it('a proxy that is not there, or that opens no tunnel: the write never left', async () => {
    expect(
      await write('https://service.invalid', {
        HTTPS_PROXY: `http://127.0.0.1:${await freePort()}`,
      }),
    ).toMatchObject({
      kind: 'not sent',
    })
    const refusing = await proxy(true)
    expect(await write('https://service.invalid', { HTTPS_PROXY: refusing.url })).toMatchObject({
      kind: 'not sent',
    })
  })
})
