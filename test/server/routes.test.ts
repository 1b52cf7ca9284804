import { afterEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { apiToken, closeHttp, startHttp, type HttpStage } from './http-stage.ts'

afterEach(closeHttp)

const authorization = `Bearer ${apiToken}`
const get = (
  { url }: HttpStage,
  path: string,
  headers: Record<string, string> = { authorization },
) => fetch(url + path, { headers })
const post = ({ url }: HttpStage, path: string, headers: Record<string, string> = {}, body = '') =>
  fetch(url + path, { method: 'POST', headers: { authorization, ...headers }, body })

describe('the API', () => {
  it('is off without a token', async () => {
    for (const token of ['', undefined]) {
      const http = await startHttp({}, { token })
      const wrong: Record<string, string>[] = [{}, { authorization }, { authorization: 'Bearer ' }]
      for (const headers of wrong)
        expect((await get(http, '/api/status', headers)).status).toBe(403)
      expect((await post(http, '/api/rollouts/r1/approve')).status).toBe(403)
      expect(http.calls).toEqual([])
    }
  })

  it.each([
    '',
    'Bearer',
    'Bearer wrong',
    apiToken,
    `Basic ${apiToken}`,
    `Bearer ${apiToken.slice(0, -1)}`,
    `Bearer ${apiToken}x`,
    `Bearer ${apiToken} ${apiToken}`,
  ])('refuses "%s"', async (wrong) => {
    const http = await startHttp()
    for (const path of ['/api', '/api/status', '/api/no-such-route', '/api/rollouts/r1/approve']) {
      const answer = await get(http, path, { authorization: wrong })
      expect([path, answer.status]).toEqual([path, 401])
      expect(answer.headers.get('www-authenticate')).toContain('Bearer')
      expect(await answer.text()).not.toContain(apiToken)
    }
    expect((await post(http, '/api/rollouts/r1/abort', { authorization: wrong })).status).toBe(401)
    expect(http.calls).toEqual([])
  })

  it('answers with the token', async () => {
    const http = await startHttp()
    const read = async (path: string) => {
      const answer = await get(http, path)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      return [answer.status, await answer.json()]
    }
    expect(await read('/api/status')).toEqual([200, { role: 'leader' }])
    expect(await read('/api/plan?domain=x')).toEqual([200, { format: 'edgewise.plan/1' }])
    expect(await read('/api/rollouts')).toMatchObject([
      200,
      { format: 'edgewise.rollouts/1', rollouts: [{ id: 'r1', state: 'waiting-for-approval' }] },
    ])
  })

  it('decides about a rollout', async () => {
    const http = await startHttp()
    for (const verb of ['approve', 'abort', 'pause']) {
      const answer = await post(http, `/api/rollouts/r1/${verb}`)
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject({
        id: 'r1',
        decision: 'approved',
        author: 'somebody',
      })
    }
    const same = { Origin: http.url }
    expect((await post(http, '/api/rollouts/r1/pause', same)).status).toBe(200)
    expect(http.calls).toEqual(['approve r1', 'abort r1', 'pause r1', 'pause r1'])
  })

  it('stops all writes, and resumes them', async () => {
    const http = await startHttp()
    const all = '/api/rollouts/all'
    const stopped = await post(http, `${all}/stop`, {}, '{"reason": "5xx"}')
    expect([stopped.status, await stopped.json()]).toEqual([
      200,
      {
        format: 'edgewise.stop-decision/1',
        account: 'main',
        decision: 'stopped',
        lookSeconds: 1.5,
        stop: { author: 'ada', knownBy: 'serve', at: '2026-11-20T12:00:00.000Z' },
      },
    ])
    expect((await post(http, `${all}/stop`)).status).toBe(200)
    expect((await post(http, `${all}/resume`, {}, '{}')).status).toBe(200)
    for (const body of ['{"reason": 7}', '{"why": "x"}', '[]', '{', 'null'])
      expect((await post(http, `${all}/stop`, {}, body)).status).toBe(400)
    expect((await post(http, `${all}/resume`, {}, '{"reason": "x"}')).status).toBe(400)
    expect((await post(http, `${all}/stop`, { Origin: 'https://evil.example.com' })).status).toBe(
      403,
    )
    expect((await post(http, `${all}/abort`)).status).toBe(404)
    expect(http.calls).toEqual(['stop all 5xx', 'stop all', 'resume all'])
  })

  it.each(['https://evil.example.com', 'null', 'http://127.0.0.1', 'file://', '127.0.0.1'])(
    'refuses a decision for a page of %s',
    async (origin) => {
      const http = await startHttp()
      const answer = await post(http, '/api/rollouts/r1/approve', { Origin: origin })
      expect([answer.status, http.calls]).toEqual([403, []])
    },
  )

  it.each([
    'r2',
    'R1',
    'r1%00',
    '%72%31',
    '__proto__',
    'constructor',
    '%2e%2e%2fr1',
    "r1'%20or%201=1--",
    '%3Cscript%3E',
  ])('does not know the rollout %s', async (id) => {
    const http = await startHttp()
    const answer = await post(http, `/api/rollouts/${id}/approve`)
    expect([answer.status, http.calls]).toEqual([404, []])
    expect(await answer.text()).toContain('no such rollout')
  })

  it.each(['{"wave": 2}', '{', 'wave=2', 'null', '[]', '\0', '{}{}'])(
    'refuses a decision with the body %j',
    async (body) => {
      const http = await startHttp()
      const answer = await post(http, '/api/rollouts/r1/approve', {}, body)
      expect([answer.status, http.calls]).toEqual([400, []])
      expect(await answer.json()).toMatchObject({ code: 'usage' })
    },
  )

  it.each(['', '{}', ' { }\r\n'])('decides with the body %j', async (body) => {
    const http = await startHttp()
    expect((await post(http, '/api/rollouts/r1/pause', {}, body)).status).toBe(200)
  })

  it('does not know a rollout of a long name', async () => {
    const http = await startHttp()
    expect((await post(http, `/api/rollouts/${'x'.repeat(8000)}/pause`)).status).toBe(404)
  })

  it.each([
    '/api/rollouts/r1',
    '/api/rollouts/r1/',
    '/api/rollouts//approve',
    '/api/rollouts/r1/approve/',
    '/api/rollouts/r1/approve/now',
    '/api/rollouts/r1/toString',
    '/api/rollouts/r1/APPROVE',
    '/api/r1/approve',
    '/api/',
  ])('has no route %s', async (path) => {
    const http = await startHttp()
    const answer = await post(http, path)
    expect([answer.status, http.calls]).toEqual([404, []])
    expect(await answer.text()).toContain('no such route')
  })

  it('explains errors, and counts them', async () => {
    const fail = (error: Error) => async () => {
      throw error
    }
    const http = await startHttp({
      decide: fail(new EdgewiseError('locked', 'another process has the lock', 'Wait.')),
      plan: fail(new EdgewiseError('unavailable', 'the database is away')),
      status: fail(new TypeError('an inner detail')),
    })
    const locked = await post(http, '/api/rollouts/r1/approve')
    expect([locked.status, await locked.json()]).toMatchObject([
      409,
      { code: 'locked', message: 'another process has the lock', hint: 'Wait.' },
    ])
    expect((await get(http, '/api/plan')).status).toBe(503)
    const defect = await get(http, '/api/status')
    const shown = await defect.text()
    expect(defect.status).toBe(500)
    expect(shown).toContain('defect-1')
    expect(shown).not.toContain('inner detail')
    expect(http.log).toHaveLength(1)
    expect(JSON.parse(http.log[0] ?? '')).toMatchObject({
      id: 'defect-1',
      error: expect.stringContaining('TypeError: an inner detail'),
    })
    for (const code of ['locked', 'unavailable', 'defect'])
      expect(await http.count('errors_total', code)).toBe(1)
  })
})

it('no answer has a secret that the log does not have', async () => {
  const error = new EdgewiseError('locked', 'the s3cret is locked', 'Free the s3cret.')
  const http = await startHttp({ decide: () => Promise.reject(error) })
  http.setHide((text) => text.replaceAll('s3cret', '***'))
  expect(await (await post(http, '/api/rollouts/r1/approve')).json()).toMatchObject({
    message: 'the *** is locked',
    hint: 'Free the ***.',
  })
})

describe('a method that is not allowed', () => {
  it.each([
    ['/healthz', 'POST', 'GET, HEAD'],
    ['/readyz', 'DELETE', 'GET, HEAD'],
    ['/metrics', 'PUT', 'GET, HEAD'],
    ['/webhook', 'GET', 'POST'],
    ['/api/status', 'POST', 'GET, HEAD'],
    ['/api/rollouts', 'POST', 'GET, HEAD'],
    ['/api/rollouts/r1/approve', 'GET', 'POST'],
    ['/api/rollouts/r1/approve', 'HEAD', 'POST'],
    ['/', 'PUT', 'GET, HEAD'],
    ['/plan', 'POST', 'GET, HEAD'],
    ['/rollouts/r1', 'POST', 'GET, HEAD'],
    ['/live', 'DELETE', 'GET, HEAD'],
    ['/login', 'GET', 'POST'],
    ['/logout', 'GET', 'POST'],
  ])('%s %s', async (path, method, allowed) => {
    const http = await startHttp()
    const answer = await fetch(http.url + path, { method, headers: { authorization } })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed])
    expect(http.calls).toEqual([])
  })
})

describe('health and metrics', () => {
  it('healthz and readyz need no token, and give a reason', async () => {
    let [health, ready]: [string | null, string | null] = [null, null]
    const http = await startHttp({
      isHealthy: () => health,
      findUnready: () => Promise.resolve(ready),
    })
    const read = async (path: string) => {
      const answer = await get(http, path, {})
      return [answer.status, await answer.text()]
    }
    expect(await read('/healthz')).toEqual([200, 'ok\n'])
    expect(await read('/readyz')).toEqual([200, 'ready\n'])
    ;[health, ready] = ['the loop stands still', 'the database does not answer']
    expect(await read('/healthz')).toEqual([503, 'the loop stands still\n'])
    expect(await read('/readyz')).toEqual([503, 'the database does not answer\n'])
    const head = await fetch(`${http.url}/readyz`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([503, ''])
    expect((await get(http, '/healthz/')).status).toBe(404)
    expect((await get(http, '//healthz')).status).toBe(404)
  })

  it('metrics come in the format that the client accepts', async () => {
    const http = await startHttp()
    const plain = await get(http, '/metrics', {})
    expect(plain.headers.get('content-type')).toContain('text/plain; version=0.0.4')
    expect(await plain.text()).not.toContain('# EOF')
    const open = await get(http, '/metrics', { accept: 'application/openmetrics-text;q=0.9,*/*' })
    expect(open.headers.get('content-type')).toContain(
      'application/openmetrics-text; version=1.0.0',
    )
    expect(open.headers.get('vary')).toBe('Accept')
    expect(await open.text()).toMatch(/\n# EOF\n$/)
  })
})
