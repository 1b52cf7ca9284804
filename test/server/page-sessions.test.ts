import { afterEach, describe, expect, it } from 'vitest'
import { createSessions } from '../../src/server/pages/sessions.ts'
import { apiToken, closeHttp, now, startHttp } from './http-stage.ts'
import { logIn, readCookie, visit } from './page-visit.ts'

afterEach(closeHttp)

describe('the login', () => {
  it('is what a browser without a session gets, and has no name of a domain', async () => {
    const http = await startHttp()
    for (const path of [
      '/',
      '/plan',
      '/drift',
      '/rollouts',
      '/rollouts/r1',
      '/rollouts/r1/abort',
    ]) {
      const answer = await fetch(http.url + path)
      const html = await answer.text()
      expect([path, answer.status]).toEqual([path, 401])
      expect(html).toContain(`name="to" value="${path}"`)
      expect(html).not.toMatch(/example\.com|storefront|http-equiv="refresh"/)
    }
    expect(http.calls).toEqual([])
  })

  it('is repeated at once for a link of another site, which sends no strict cookie', async () => {
    const http = await startHttp()
    const headers = { 'sec-fetch-site': 'cross-site' }
    const html = await (await fetch(`${http.url}/rollouts/r1`, { headers })).text()
    expect(html).toContain('<meta http-equiv="refresh" content="0; url=/rollouts/r1">')
  })

  it('sets a cookie that scripts and other sites do not get', async () => {
    const http = await startHttp()
    const answer = await logIn(http)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
    const [cookie = ''] = answer.headers.getSetCookie()
    const rest = 'Path=/; Max-Age=43200; HttpOnly; SameSite=Strict'
    expect(cookie).toMatch(new RegExp(`^edgewise_[\\w-]{8}=\\d{10}\\.\\.[\\w-]{43}; ${rest}$`))
    expect(cookie).not.toContain(apiToken)
  })

  it.each([
    ['https', true],
    ['HTTPS, http', true],
    ['http, https', false],
    ['', false],
  ])('behind a proxy with X-Forwarded-Proto "%s"', async (scheme, isSecure) => {
    const http = await startHttp()
    const answer = await logIn(http, {}, { 'x-forwarded-proto': scheme })
    expect(answer.headers.getSetCookie()[0]?.endsWith('; Secure')).toBe(isSecure)
  })

  it('over https has a cookie of this host alone, and takes no other one', async () => {
    const http = await startHttp()
    const https = { 'x-forwarded-proto': 'https' }
    const read = async (headers: Record<string, string>) =>
      (await logIn(http, {}, headers)).headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const [safe, plain] = [await read(https), await read({})]
    expect(safe).toMatch(/^__Host-edgewise_[\w-]{8}=/)
    expect(plain).toMatch(/^edgewise_/)
    const open = async (cookie: string, headers: Record<string, string>) =>
      (await fetch(http.url, { headers: { ...headers, cookie } })).status
    expect(await open(safe, https)).toBe(200)
    expect(await open(plain, {})).toBe(200)
    expect(await open(plain, https)).toBe(401)
    expect(await open(safe.replace('__Host-', ''), https)).toBe(401)
  })

  it.each(['', 'wrong', apiToken.slice(1), `${apiToken}x`, apiToken.toUpperCase()])(
    'refuses the token "%s" after a wait',
    async (token) => {
      const http = await startHttp()
      const answer = await logIn(http, { token })
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []])
      expect(await answer.text()).toContain('The token is wrong.')
      expect(http.calls).toEqual(['sleep 500'])
    },
  )

  it.each([
    ['/plan', '/plan'],
    ['/history', '/history'],
    ['/rollouts/20261120T120000Z-9692/abort', '/rollouts/20261120T120000Z-9692/abort'],
    ['/drift?from=mail&x=(1*2)', '/drift?from=mail&x=(1*2)'],
    ['/domains/a?url=https://a/b?c="\'!,;$', '/domains/a?url=https://a/b?c="\'!,;$'],
    [`/domains/a?url=${'x'.repeat(1001)}`, '/'],
    ['/plan?a b', '/'],
    ['/plan?\r\nSet-Cookie: a=b', '/'],
    ['/plan\r\n?Set-Cookie: a=b', '/'],
    ['//evil.example.com?/plan', '/'],
    ['//evil.example.com', '/'],
    ['https://evil.example.com', '/'],
    ['/\\evil.example.com', '/'],
    ['/rollouts/x\r\nSet-Cookie: a=b', '/'],
    ['/logout', '/'],
    ['', '/'],
  ])('leads to %j', async (to, led) => {
    const answer = await logIn(await startHttp(), { to })
    expect(answer.headers.get('location')).toBe(led)
  })

  it('understands forms only', async () => {
    const { url } = await startHttp()
    const send = async (body: string, type: string) => {
      const headers = { 'content-type': type }
      return (await fetch(`${url}/login`, { method: 'POST', body, headers })).status
    }
    const form = 'application/x-www-form-urlencoded'
    expect(await send(JSON.stringify({ token: apiToken }), 'application/json')).toBe(400)
    expect(await send(`token=${apiToken}`, 'text/plain')).toBe(400)
    expect(await send(`token=${apiToken}&token=x`, form)).toBe(400)
    expect(await send(`token=${'x'.repeat(20_000)}`, form)).toBe(400)
  })

  it.each([
    ['origin', 'https://evil.example.com'],
    ['origin', 'null'],
    ['sec-fetch-site', 'cross-site'],
    ['sec-fetch-site', 'same-site'],
  ])('refuses a form of another site: %s %s', async (header, value) => {
    const headers = { [header]: value }
    const http = await startHttp()
    const answer = await logIn(http, {}, headers)
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []])
    const { post } = await visit(http)
    expect((await post('/logout', {}, headers)).status).toBe(403)
  })
})

describe('a session', () => {
  it('shows pages to its end, and no longer', async () => {
    let later = 0
    const clock = { now: () => now + later, monotonic: () => 0, sleep: () => Promise.resolve() }
    const http = await startHttp({}, { clock })
    const { get } = await visit(http)
    expect((await get('/')).status).toBe(200)
    later = 12 * 60 * 60_000 - 1000
    expect((await get('/')).status).toBe(200)
    later = 12 * 60 * 60_000
    expect((await get('/')).status).toBe(401)
    expect((await get('/live')).status).toBe(401)
  })

  it('holds at every server with the token, and ends with another token', async () => {
    const cookie = readCookie(await logIn(await startHttp()))
    const read = async (token: string) => {
      const { url } = await startHttp({}, { token })
      return (await fetch(url, { headers: { cookie } })).status
    }
    expect(await read(apiToken)).toBe(200)
    expect(await read('another-long-token')).toBe(401)
  })

  it('is not made by hand', async () => {
    const http = await startHttp()
    const cookie = readCookie(await logIn(http))
    const [name = '', value = ''] = cookie.split('=')
    const [expires = '', , signature = ''] = value.split('.')
    const wrong = [
      '',
      expires,
      `${expires}.${signature}`,
      `${expires}.x.${signature}`,
      `${Number(expires) + 1}..${signature}`,
      `0${expires}..${signature}`,
      `${expires}..${signature.slice(0, -1)}`,
      `${expires}..${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`,
      `${expires}..`,
      `..${signature}`,
      `9999999999..${createSessions('another-long-token', false).begin(0).split('.')[2]}`,
    ]
    for (const each of wrong) {
      const answer = await fetch(http.url, { headers: { cookie: `${name}=${each}` } })
      expect([each, answer.status]).toEqual([each, 401])
    }
    const renamed = await fetch(http.url, { headers: { cookie: `edgewise=${value}` } })
    expect(renamed.status).toBe(401)
    // A host above may have set another one.
    const both = await fetch(http.url, { headers: { cookie: `a=b; ${name}=x; ${cookie}` } })
    expect(both.status).toBe(200)
  })

  it('ends in the browser that logs out', async () => {
    const http = await startHttp()
    const { post, getCookie } = await visit(http)
    const answer = await post('/logout', {})
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
    const [name] = getCookie().split('=')
    expect(answer.headers.getSetCookie()[0]).toMatch(new RegExp(`^${name}=; .*Max-Age=0;`))
  })

  it('is not one of the API', async () => {
    const http = await startHttp()
    const { get, post } = await visit(http)
    expect((await get('/api/status')).status).toBe(401)
    expect((await post('/api/rollouts/r1/approve', {})).status).toBe(401)
    expect(http.calls).toEqual([])
  })
})

it('without a token of the server there are no pages', async () => {
  for (const token of ['', undefined]) {
    const { url } = await startHttp({}, { token })
    for (const path of ['/', '/plan', '/live', '/login', '/rollouts/r1']) {
      const answer = await fetch(url + path, { headers: { authorization: 'Bearer ' } })
      expect([path, answer.status]).toEqual([path, 403])
      expect(await answer.text()).toContain('EDGEWISE_SERVE_TOKEN is not set')
    }
    const body = new URLSearchParams({ token: '' })
    const answer = await fetch(`${url}/login`, { method: 'POST', body })
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []])
  }
})
