import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import type { RealRuns } from '../long/real-runs.ts'

const domain = 'www.example.com'

/** Starts a proxy of the service. While `holds` is set, it keeps the requests in `held`. */
async function startSlowProxy(service: string) {
  const held: (() => void)[] = []
  const proxy = { holds: false, held, url: '', end: () => server.close() }
  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      const { method, headers, url = '/' } = incoming
      const passOn = () => {
        const onward = request(`${service}${url}`, { method, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(outgoing)
        })
        onward.end(Buffer.concat(parts))
      }
      if (proxy.holds) held.push(passOn)
      else passOn()
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}

/** Kills an apply whose call takes effect later: the next apply with reverted manifests waits. */
export async function landLate(real: RealRuns, store: string): Promise<void> {
  const proxy = await startSlowProxy(real.url)
  const setTimeoutTo = (time: string) => real.manifest(domain, { timeout: { time } })
  try {
    // The next apply has to begin before the call is given up, on slow machines too.
    real.workspace(`state: ${store}`, proxy.url, 11)
    setTimeoutTo('10')
    expect((await real.run(['apply', '--yes'])).code).toBe(0)
    proxy.holds = true
    setTimeoutTo('20')
    const killed = real.run(['apply', '--yes'], undefined, (_text, child) => {
      const timer = setInterval(() => {
        if (proxy.held.length === 0) return
        clearInterval(timer)
        child.kill('SIGKILL')
      }, 20)
    })
    // The service has the call of the killed process, and saves it just before it gives it up.
    expect((await killed).signal).toBe('SIGKILL')
    proxy.holds = false
    setTimeout(() => proxy.held.forEach((passOn) => passOn()), 4000)
    setTimeoutTo('10')
    const next = await real.run(['apply', '--yes'])
    expect(next.err).toMatch(
      /waiting (?:[2-9]|1[0-2]) s before write 1 and maybe others, until [\d:]{8}: an earlier/,
    )
    expect(next.code).toBe(0)
    const state = await real.look<{ domains: Record<string, unknown> }>('state')
    expect(state.domains[domain]).toMatchObject({ timeout: { time: '10' } })
    expect((await real.run(['plan'])).out).toContain('No changes')
  } finally {
    proxy.end()
  }
}
