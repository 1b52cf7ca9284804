import { describe, expect, it } from 'vitest'
import type { EmulatorRequest } from '../../src/emulator/routes/exchange.ts'
import { createWorld } from './world.ts'

type Given = Partial<Omit<EmulatorRequest, 'body'>> & { body?: string }

const write: Given = {
  query: 'token=tok',
  body: JSON.stringify({ domains: 'www.example.com', config: { timeout: { time: '60' } } }),
}
const calls: Given[] = [
  write,
  { method: 'GET', path: '/v2/cache/prefetch', query: 'token=tok&task_id=1' },
  { method: 'GET', path: '/_emulator/state' },
  { path: '/_emulator/reset' },
  { method: 'OPTIONS', path: '/v2/domain/config' },
  { method: 'GET', path: '/elsewhere' },
]

describe('a request that a web page sends', () => {
  it.each<[string, Given]>([
    ['a name that resolves to this machine', { host: 'evil.example:8080' }],
    ['a name that begins like this machine', { host: '127.0.0.1.evil.example' }],
    ['a name below localhost', { host: 'x.localhost' }],
    ['a private address', { host: '192.0.2.1:80' }],
    ['an empty host', { host: '' }],
    ['no host, but a page', { host: undefined, origin: 'http://evil.example' }],
    ['another host that hides behind user info', { host: 'localhost@evil.example' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page of another port', { origin: 'http://127.0.0.1:3000' }],
    ['a sandboxed page', { origin: 'null' }],
    ['a cross-site form', { fetchSite: 'cross-site' }],
    ['another port of this machine', { fetchSite: 'same-site' }],
    ['a kind that is not known', { fetchSite: 'Same-Origin ' }],
  ])('from or to %s is refused everywhere, and has no effect', async (_, given) => {
    const service = createWorld()
    for (const call of calls)
      expect(await service.request({ ...call, ...given })).toMatchObject({
        status: 403,
        body: { code: 403001, message: expect.stringMatching(/\./) as string },
      })
    expect([await service.state(), await service.calls()]).toEqual([{}, []])
  })

  it.each<[string, Given]>([
    ['an address of this machine', { host: '127.0.0.1:8080' }],
    ['another address of this machine', { host: '127.9.9.9' }],
    ['the name of this machine', { host: 'LOCALHOST:8080' }],
    ['the IPv6 address of this machine', { host: '[::1]:8080' }],
    ['no host, which no browser omits', { host: undefined }],
    ['a page of the emulator', { host: 'localhost:1', origin: 'http://localhost:1' }],
    ['an address that was typed', { fetchSite: 'none' }],
    ['the same origin', { fetchSite: 'same-origin' }],
  ])('with %s is accepted', async (_, given) => {
    const service = createWorld()
    expect(await service.request({ ...write, ...given })).toMatchObject({ status: 200 })
    const look = { method: 'GET', path: '/_emulator/state' }
    expect(await service.request({ ...look, ...given })).toMatchObject({ status: 200 })
  })

  it('may name any host if the emulator listens for other machines', async () => {
    const service = createWorld({ onLoopback: false })
    const host = 'cdn.internal.example:8080'
    expect(await service.request({ ...write, host })).toMatchObject({ status: 200 })
    const origin = 'http://evil.example'
    expect(await service.request({ ...write, host, origin })).toMatchObject({ status: 403 })
  })
})

describe('a body for the control surface', () => {
  const body = JSON.stringify({ faults: [] })

  it.each([
    ['no type', undefined],
    ['text, as a page may send it', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['JSON in another charset', 'application/json; charset=latin1'],
  ])('must be JSON by its type: not %s', async (_, contentType) => {
    for (const path of ['faults', 'clock', 'prefetch', 'origins', 'reset'])
      expect(
        await createWorld().request({ path: `/_emulator/${path}`, contentType, body }),
      ).toMatchObject({
        status: 415,
        body: { code: 415001, message: expect.stringContaining('application/json') as string },
      })
  })

  it('must be JSON by its content, also for a reset', async () => {
    for (const path of ['faults', 'reset'])
      expect(
        await createWorld().request({ path: `/_emulator/${path}`, body: 'x=1' }),
      ).toMatchObject({ status: 400, body: { code: 400001 } })
  })

  it('may be missing for a reset only', async () => {
    const service = createWorld()
    for (const contentType of [undefined, 'application/json'])
      expect(await service.request({ path: '/_emulator/reset', contentType })).toMatchObject({
        status: 200,
      })
    expect(
      await service.request({ path: '/_emulator/faults', contentType: undefined }),
    ).toMatchObject({ status: 400 })
  })
})
