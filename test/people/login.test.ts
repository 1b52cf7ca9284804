// @module-tag often
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AuthConfig } from '../../src/core/model/config.ts'
import type { RoleRule } from '../../src/core/model/people/roles.ts'
import { explainDecision } from '../../src/operations/people/decide.ts'
import { openPeople } from '../../src/server/people/people.ts'
import {
  apiToken,
  closeHttp,
  createOptions,
  startHttp,
  type HttpStage,
} from '../server/http-stage.ts'
import { Browser } from './browser.ts'
import { clientSecret, startProvider, type ProviderStage } from './provider-stage.ts'

let provider: ProviderStage
let http: HttpStage
let host = ''
let nowMs = 0
let roles: RoleRule[] = []
const minute = 60_000
const faults: string[] = []

beforeEach(async () => {
  // The provider advises what to change for production.
  for (const method of ['info', 'warn'] as const)
    vi.spyOn(console, method).mockReturnValue(undefined)
  vi.useFakeTimers({ toFake: ['Date'] })
  nowMs = 0
  let redirect = 'http://127.0.0.1:1/login/callback'
  provider = await startProvider(() => redirect)
  provider.accounts.set('u1', { email: 'Ada@Example.com', groups: ['ops', 'chess'] })
  provider.user = 'u1'
  roles = [{ role: 'viewer', users: [], groups: ['ops'], domains: ['*'] }]
  await serve()
  redirect = `${http.url}/login/callback`
  await provider.rotate()
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await closeHttp()
  await provider.close()
})

/** Starts the server, whose clock and whose libraries' clock are those of the test. */
async function serve(auth: Partial<AuthConfig> = {}): Promise<void> {
  const config: AuthConfig = {
    provider: {
      issuer: provider.issuer,
      clientId: 'edgewise',
      clientSecret,
      groupsClaim: 'groups',
    },
    proxy: null,
    ci: [],
    variables: [],
    ...auth,
  }
  const clock = { now: () => Date.now(), monotonic: () => nowMs, sleep: async () => undefined }
  const people = await openPeople(config, { clock, env: {}, onFault: (what) => faults.push(what) })
  const rules = () => ({
    sets: [{ roles, needs: { by: 1, notAuthor: false } }],
    authors: 'nobody knows them',
  })
  http = await startHttp(
    {
      rights: {
        findRules: async () => rules(),
        findRulesFor: async () => rules(),
        explain: async (identity, action, rollout) =>
          explainDecision(identity, action, rollout, rules()),
      },
    },
    { people, clock: { ...createOptions().options.clock, ...clock } },
  )
  host = new URL(http.url).host
}

/** Lets the time of all clocks pass. */
function pass(ms: number): void {
  nowMs += ms
  vi.setSystemTime(Date.now() + ms)
}

/** Logs in up to the address that the provider sends the browser back to. */
function approach(browser: Browser, to = '/'): Promise<string> {
  const start = `${http.url}/login/provider?to=${encodeURIComponent(to)}`
  return browser.follow(start, `${http.url}/login/callback`)
}

async function logIn(browser = new Browser(), to = '/'): Promise<Browser> {
  const answer = await browser.send(await approach(browser, to))
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain(`content="0; url=${to}"`)
  return browser
}

describe('a login', () => {
  it('begins a session of the verified address, with the groups that roles name', async () => {
    const browser = new Browser()
    const first = await browser.send(`${http.url}/plan`)
    expect(first.status).toBe(401)
    expect(await first.text()).toContain('href="/login/provider?to=%2Fplan"')
    const body = new URLSearchParams({ token: 'wrong', to: '/plan' })
    const wrong = await fetch(`${http.url}/login`, { method: 'POST', body })
    expect(await wrong.text()).toContain('href="/login/provider?to=%2Fplan"')
    const answer = await browser.send(await approach(browser, '/plan'))
    expect(await answer.text()).toContain('Logged in as ada@example.com')
    const [session = '', login = ''] = answer.headers.getSetCookie()
    expect(session).toMatch(/; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
    expect(login).toMatch(/=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/)
    expect(JSON.parse(Buffer.from(session.split('.')[1] ?? '', 'base64url').toString())).toEqual({
      name: 'ada@example.com',
      knownBy: 'oidc',
      issuer: provider.issuer,
      sub: 'u1',
      email: 'ada@example.com',
      groups: ['ops'],
    })
    expect((await browser.send(`${http.url}/`)).status).toBe(200)
    expect(http.log.join('\n')).toContain('login accepted')
  })

  it('sends the code flow with PKCE, state and nonce, and keeps them in a lax cookie', async () => {
    const answer = await new Browser().send(`${http.url}/login/provider`)
    const to = new URL(answer.headers.get('location') ?? '')
    const query = Object.fromEntries(to.searchParams)
    expect(query).toMatchObject({ response_type: 'code', code_challenge_method: 'S256' })
    expect(query).toMatchObject({ scope: 'openid email profile groups', max_age: '43200' })
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(query[name]?.length).toBeGreaterThanOrEqual(43)
    expect(answer.headers.getSetCookie()[0]).toMatch(/Max-Age=600; HttpOnly; SameSite=Lax$/)
  })

  it('names somebody without a verified address by the subject', async () => {
    provider.accounts.set('u2', { email: 'ada@example.com', isVerified: false, groups: ['ops'] })
    provider.user = 'u2'
    const browser = new Browser()
    const answer = await browser.send(await approach(browser))
    expect(await answer.text()).toContain('Logged in as subject:u2')
  })

  it.each([
    ['a subject that looks like an address', 'ada@example.com', false, ''],
    ['a subject that is written as another one', 'subject:u1', false, ''],
    ['an address with a letter that is none of ASCII', 'u3', true, 'mar\u212Aus@example.com'],
  ])('of %s is that of nobody whom roles name', async (_, user, isVerified, email) => {
    const users = ['ada@example.com', 'markus@example.com', 'u1', 'subject:u1']
    roles = [{ role: 'viewer', users, groups: [], domains: ['*'] }]
    provider.accounts.set(user, { email, isVerified, groups: [] })
    provider.user = user
    const browser = await logIn()
    expect((await browser.send(`${http.url}/`)).status).toBe(403)
    // Who has the subject has the role, also under an address.
    provider.user = 'u1'
    expect((await (await logIn()).send(`${http.url}/`)).status).toBe(200)
  })

  it('of a name that can not be shown is refused', async () => {
    provider.accounts.set('a\u202Eb', { email: '', isVerified: false, groups: ['ops'] })
    provider.user = 'a\u202Eb'
    const browser = new Browser()
    const answer = await browser.send(await approach(browser))
    expect([answer.status, await answer.text()]).toEqual([
      401,
      expect.stringContaining('gives no usable name'),
    ])
  })

  it('leads to no other site', async () => {
    for (const to of ['//evil.example.com', 'https://evil.example.com', '/\\evil', '/x'])
      await logIn(new Browser(), '/').then(async (browser) => {
        const answer = await browser.send(await approach(browser, to))
        expect(await answer.text()).toContain('content="0; url=/"')
      })
  })

  it('is not finished with the answer to another browser, a second time, or too late', async () => {
    const [ada, eve] = [new Browser(), new Browser()]
    const url = await approach(ada)
    // The code of somebody else, in a browser that began no login, and in one that began its own.
    expect((await eve.send(url)).status).toBe(401)
    await approach(eve)
    expect((await eve.send(url)).status).toBe(401)
    expect(eve.cookies(host)).not.toMatch(/_login=/)
    const cookies = ada.cookies(host)
    expect((await ada.send(url)).status).toBe(200)
    ada.set(host, cookies)
    expect((await ada.send(url)).status).toBe(401)
    const late = await approach(ada)
    pass(11 * minute)
    expect((await ada.send(late)).status).toBe(401)
    expect(http.log.join('\n')).not.toContain(new URL(url).searchParams.get('code'))
  })

  it('is refused if state, nonce or verifier are not those of its beginning', async () => {
    const browser = new Browser()
    const url = new URL(await approach(browser))
    url.searchParams.set('state', 'x'.repeat(43))
    expect((await browser.send(url.href)).status).toBe(401)
    const other = new Browser()
    const address = await approach(other)
    const cookies = other.cookies(host)
    const forged = cookies.replace(/\.([\w-]{20})/, (_, text: string) => `.${text.slice(0, 19)}A`)
    expect(forged).not.toBe(cookies)
    other.set(host, forged)
    expect((await other.send(address)).status).toBe(401)
  })

  it('says what the provider refuses, without its words', async () => {
    const browser = new Browser()
    const state = new URL(await approach(browser)).searchParams.get('state') ?? ''
    const query = new URLSearchParams({ error: 'access_denied', error_description: '<b>x', state })
    const iss = `&iss=${encodeURIComponent(provider.issuer)}`
    const answer = await browser.send(`${http.url}/login/callback?${query.toString()}${iss}`)
    expect(answer.status).toBe(401)
    expect(await answer.text()).not.toContain('access_denied')
    expect(http.log.join('\n')).toContain('login failed')
  })
})

describe('a session', () => {
  it('ends after a quarter of an hour, and takes new groups from the provider', async () => {
    const browser = await logIn()
    roles = [{ role: 'viewer', users: [], groups: ['admins'], domains: ['*'] }]
    expect((await browser.send(`${http.url}/`)).status).toBe(403)
    provider.accounts.set('u1', { email: 'ada@example.com', groups: ['admins'] })
    expect((await browser.send(`${http.url}/`)).status).toBe(403)
    pass(15 * minute + 1000)
    const answer = await browser.send(`${http.url}/plan`)
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/login/provider?to=%2Fplan',
    ])
    expect((await browser.send(`${http.url}/live`)).status).toBe(401)
    await logIn(browser, '/plan')
    expect((await browser.send(`${http.url}/`)).status).toBe(200)
    expect(await http.count('denied_total', 'view')).toBe(2)
  })

  it('loses its rights once the account is not in the groups any more', async () => {
    const browser = await logIn()
    provider.accounts.set('u1', { email: 'ada@example.com', groups: [] })
    pass(15 * minute + 1000)
    await logIn(browser)
    expect((await browser.send(`${http.url}/`)).status).toBe(403)
  })

  it('is not one that somebody made up, changed, or had before the login', async () => {
    const browser = await logIn()
    const cookies = browser.cookies(host)
    const [name = ''] = cookies.split('=')
    const [, expires = '', payload = '', signature = ''] = /=(\d+)\.([\w-]+)\.([\w-]+)/.exec(
      cookies,
    ) as unknown as string[]
    const forged = Buffer.from('{"name":"ada@example.com","knownBy":"token"}').toString('base64url')
    const values = [
      `${expires}.${forged}.${signature}`,
      `${Number(expires) + 999}.${payload}.${signature}`,
      `${expires}.${signature}`,
      `${expires}.${payload}.`,
    ]
    for (const value of values) {
      browser.set(host, `${name}=${value}`)
      expect((await browser.send(`${http.url}/`)).status).toBe(401)
    }
    // A cookie that was set before does not become a session: a login always gives a new one.
    browser.set(host, `${name}=fixed`)
    await logIn(browser)
    expect(browser.cookies(host)).not.toContain('fixed')
  })

  it('ends with the logout, which no other site can ask for', async () => {
    const browser = await logIn()
    const foreign = { origin: 'https://evil.example.com' }
    const refused = await browser.send(`${http.url}/logout`, { method: 'POST', headers: foreign })
    expect(refused.status).toBe(403)
    expect((await browser.send(`${http.url}/`)).status).toBe(200)
    const answer = await browser.send(`${http.url}/logout`, { method: 'POST' })
    const html = await answer.text()
    expect([answer.status, html]).toEqual([200, expect.stringContaining('Logged out')])
    // It does not log in again by itself.
    expect((await browser.send(`${http.url}/`)).status).toBe(401)
    const [, place = ''] = /href="([^"]+)">Log out of the provider/.exec(html) ?? []
    const there = await browser.send(place.replaceAll('&amp;', '&'))
    expect([there.status, place]).toEqual([200, expect.stringContaining('client_id=edgewise')])
  })

  it('leads to no logout of the provider for who has the token', async () => {
    const other = new Browser()
    const body = new URLSearchParams({ token: apiToken, to: '/' })
    await other.send(`${http.url}/login`, { method: 'POST', body })
    expect((await other.send(`${http.url}/logout`, { method: 'POST' })).status).toBe(303)
  })

  it('of the token works beside, also while the provider is away', async () => {
    await provider.leave()
    const browser = new Browser()
    const away = await browser.send(`${http.url}/login/provider`)
    expect([away.status, await away.text()]).toEqual([
      503,
      expect.stringContaining('can not be reached'),
    ])
    const body = new URLSearchParams({ token: apiToken, to: '/' })
    const answer = await browser.send(`${http.url}/login`, { method: 'POST', body })
    expect(answer.status).toBe(303)
    expect((await browser.send(`${http.url}/`)).status).toBe(200)
    await provider.comeBack()
    pass(6000)
    await logIn()
  })

  it('goes on to be given after the provider has changed its key', async () => {
    await logIn()
    await provider.rotate()
    // Keys are not fetched more often than each 30 seconds, whatever tokens name.
    pass(31_000)
    await logIn()
  })
})

it('without the value of a variable nobody logs in with an account', async () => {
  await closeHttp()
  const lacking = { issuer: provider.issuer, clientId: 'edgewise', groupsClaim: 'groups' }
  await serve({ provider: { ...lacking, clientSecret: '' } })
  expect(faults).toEqual(['login not possible'])
  const answer = await fetch(`${http.url}/login/provider`)
  expect(answer.status).toBe(404)
  expect(await (await fetch(http.url)).text()).not.toContain('/login/provider')
})

it('the login goes over https only, except on this machine', async () => {
  const { url } = http
  const login = (headers: Record<string, string>) =>
    fetch(`${url}/login/provider`, { headers, redirect: 'manual' })
  const secure = await login({ 'x-forwarded-proto': 'https' })
  const to = new URL(secure.headers.get('location') ?? '')
  expect(to.searchParams.get('redirect_uri')).toBe(`https://${host}/login/callback`)
  expect(secure.headers.getSetCookie()[0]).toMatch(/SameSite=Lax; Secure$/)
})
