import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createShares } from '../../src/server/http/shares.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { openPeople } from '../../src/server/people/people.ts'
import { apiToken, closeHttp, startHttp } from './http-stage.ts'
import { createPages } from './page-stage.ts'
import { visit } from './page-visit.ts'

afterEach(closeHttp)

const trial = '/domains/a.example.com?url=https://a.example.com/'
const bearer = { headers: { authorization: `Bearer ${apiToken}` } }

/** Starts a server whose traces last until they are released, with the users of a proxy. */
async function startSlow(own: Parameters<typeof startHttp>[0] = {}) {
  const proxy = { from: ['127.0.0.0/8'], user: 'X-User', groups: null }
  const ports = { clock: { now: () => 0, monotonic: () => 0 }, env: {}, onFault: () => undefined }
  const opened = await openPeople({ provider: null, ci: [], variables: [], proxy }, ports)
  const world = { begun: 0, ended: 0, nowMs: 0, release: [] as (() => void)[], arrived: 0 }
  const people = {
    ...opened,
    identifyByProxy: (incoming: Parameters<typeof opened.identifyByProxy>[0]) => {
      world.arrived++
      return opened.identifyByProxy(incoming)
    },
  }
  const trace = (_request: unknown, signal: AbortSignal) =>
    new Promise<{ recorded: string; desired: string }>((resolve, reject) => {
      world.begun++
      world.release.push(() => resolve({ recorded: 'a\nb', desired: 'a\nb' }))
      signal.addEventListener('abort', () => {
        world.ended++
        reject(new EdgewiseError('unavailable', 'nobody waits any more'))
      })
    })
  const clock = {
    now: () => 0,
    monotonic: () => world.nowMs,
    sleep: () => new Promise<never>(() => undefined),
  }
  const http = await startHttp({ pages: createPages({ trace }), ...own }, { people, clock })
  const get = (user: string, path = trial, init: RequestInit = {}) =>
    fetch(http.url + path, { headers: { 'x-user': user }, ...init })
  return { http, world, get }
}

/** Waits until a number is reached. */
async function until(find: () => number, wanted: number): Promise<void> {
  for (let i = 0; i < 500 && find() < wanted; i++) await new Promise((r) => setTimeout(r, 5))
  expect(find()).toBe(wanted)
}

it('120 slow requests of one viewer keep nobody else waiting', async () => {
  const { http, world, get } = await startSlow()
  const order: string[] = []
  const statuses = new Map<number, number>()
  const begin = performance.now()
  const looks = Array.from({ length: 120 }, async () => {
    const answer = await get('eve@example.com')
    await answer.text()
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    if (answer.status === 200) order.push('look')
    else expect(answer.headers.get('retry-after')).toBe('1')
  })
  await until(() => statuses.get(429) ?? 0, 108)
  expect([world.begun, order]).toEqual([2, []])
  const asked = performance.now()
  expect((await fetch(`${http.url}/api/plan`, bearer)).status).toBe(200)
  order.push('plan')
  const other = get('ada@example.com')
  await until(() => world.begun, 3)
  world.release.at(-1)?.()
  expect(await (await other).text()).toContain('Try a request')
  order.push('ada')
  const waits = [asked - begin, performance.now() - asked].map((ms) => ms.toFixed(0))
  console.log(`120 requests: ${waits[0]} ms; /api/plan and a page of others: ${waits[1]} ms`)
  // What is posted does not wait for what its own sender looks at.
  const headers = { 'x-user': 'eve@example.com', 'content-type': 'text/plain' }
  const posted = await fetch(`${http.url}/rollouts/r1/pause`, { method: 'POST', headers })
  expect(posted.status).toBe(400)
  const timer = setInterval(() => world.release.splice(0).forEach((each) => each()), 5)
  await Promise.all(looks)
  clearInterval(timer)
  expect(order.slice(0, 2)).toEqual(['plan', 'ada'])
  expect([...statuses]).toEqual(
    expect.arrayContaining([
      [200, 12],
      [429, 108],
    ]),
  )
  expect(world.begun).toBe(13)
})

it('work ends with its connection, and what waits is not begun', async () => {
  const { http, world, get } = await startSlow()
  const looks = Array.from({ length: 8 }, () => {
    const socket = connect(http.port, '127.0.0.1')
    socket.write(`GET ${trial} HTTP/1.1\r\nhost: a\r\nx-user: eve@example.com\r\n\r\n`)
    return socket
  })
  await until(() => world.arrived, 8)
  await until(() => world.begun, 2)
  for (const socket of looks) socket.destroy()
  // One that waits may begin before its end arrives.
  await until(() => Number(world.ended >= 2 && world.ended === world.begun), 1)
  const { begun } = world
  expect(begun).toBeLessThan(8)
  const next = get('eve@example.com')
  await until(() => world.begun, begun + 1)
  expect(world.ended).toBe(begun)
  world.release.at(-1)?.()
  expect(await (await next).text()).toContain('Try a request')
  expect(world.begun).toBe(begun + 1)
})

it('whoever is refused all the time is not answered for a minute, and counted', async () => {
  const { http, world, get } = await startSlow()
  const wrong = { headers: { authorization: 'Bearer wrong' } }
  for (let i = 0; i < 60; i++)
    expect((await fetch(`${http.url}/api/status`, wrong)).status).toBe(401)
  const barred = await fetch(`${http.url}/api/status`, wrong)
  expect([barred.status, barred.headers.get('retry-after')]).toEqual([429, '60'])
  expect(await barred.json()).toMatchObject({ format: 'edgewise.error/1', code: 'unavailable' })
  expect((await fetch(`${http.url}/login`, { method: 'POST' })).status).toBe(429)
  // Somebody else of that address may still log in with an account.
  expect((await fetch(`${http.url}/login/provider`)).status).toBe(404)
  // Those whose name is known, and probes, come from the same address.
  expect((await fetch(`${http.url}/api/status`, bearer)).status).toBe(200)
  expect((await get('ada@example.com', '/plan')).status).toBe(200)
  expect((await fetch(`${http.url}/healthz`)).status).toBe(200)
  expect((await fetch(`${http.url}/webhook`, { method: 'POST' })).status).toBe(401)
  expect(http.log.filter((line) => line.includes('that many refusals'))).toHaveLength(1)
  expect(await http.count('denied_total', 'unidentified')).toBe(1)
  world.nowMs = 60_000
  expect((await fetch(`${http.url}/api/status`, wrong)).status).toBe(401)
})

it('a program with the token does not keep the sessions of its holders waiting', async () => {
  let asked = 0
  const plan = () => {
    asked++
    return new Promise<never>(() => undefined)
  }
  const { http } = await startSlow({ plan })
  const calls = Array.from({ length: 5 }, () => {
    const socket = connect(http.port, '127.0.0.1')
    const own = `authorization: ${bearer.headers.authorization}`
    socket.write(`GET /api/plan HTTP/1.1\r\nhost: a\r\n${own}\r\n\r\n`)
    return socket
  })
  await until(() => asked, 2)
  const { get } = await visit(http)
  expect(await (await get('/plan')).text()).toContain('Waves')
  for (const socket of calls) socket.destroy()
})

it('a session that has ended is no attempt', async () => {
  const { http } = await startSlow()
  for (let i = 0; i < 70; i++) expect((await fetch(`${http.url}/live`)).status).toBe(401)
})

it.each([
  ['/api/rollouts/r1/pause', 'authorization: Bearer job'],
  ['/api/rollouts/all/stop', 'authorization: Bearer job'],
  ['/rollouts/r1/abort', 'x-user: eve@example.com'],
  ['/rollouts/all/resume', 'x-user: eve@example.com'],
])('rights are checked before the body of %s is read', async (path, header) => {
  const { http } = await startSlow({
    refuse: async (identity, action) => {
      if (action !== 'view') throw new EdgewiseError('not-allowed', `${identity.name} may not`)
    },
  })
  const own = header.replace('job', apiToken)
  const socket = connect(http.port, '127.0.0.1')
  const type = 'content-type: application/x-www-form-urlencoded'
  socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\n${own}\r\n${type}\r\ncontent-length: 9\r\n\r\n`)
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(first.toString()).toMatch(/^HTTP\/1.1 403 /)
  socket.destroy()
})

it('a share forgets who has no work, and counts refusals of so many only', async () => {
  let nowMs = 0
  const shares = createShares({ monotonic: () => nowMs })
  const { signal } = new AbortController()
  const done = Array.from({ length: 13 }, (_, i) => shares.run('a', signal, async () => i))
  expect(await Promise.all(done)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, null])
  expect(await shares.run('a', AbortSignal.abort(), async () => 1)).toBeNull()
  const gone = new AbortController()
  const never = () => new Promise<never>(() => undefined)
  const hung = [shares.run('b', gone.signal, never), shares.run('b', gone.signal, never)]
  const next = shares.run('b', signal, async () => 'next')
  gone.abort()
  expect(await Promise.all([...hung, next])).toEqual([null, null, 'next'])
  await expect(shares.run('a', signal, () => Promise.reject(new Error('defect')))).rejects.toThrow(
    'defect',
  )
  const last = Array.from({ length: 60 }, () => shares.countRefusal('a')).indexOf(true)
  expect([last, shares.isBarred('a'), shares.isBarred('b')]).toEqual([59, true, false])
  for (let i = 0; i < 10_000; i++) shares.countRefusal(`x${i}`)
  expect(shares.isBarred('a')).toBe(false)
  for (let i = 0; i < 59; i++) shares.countRefusal('c')
  nowMs = 60_000
  expect([shares.countRefusal('c'), shares.isBarred('c')]).toEqual([false, false])
})
