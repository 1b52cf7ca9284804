// @module-tag often
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { AuthConfig } from '../../src/core/model/config.ts'
import { identifyToken } from '../../src/server/people/identify-token.ts'
import { createBoundedFetch } from '../../src/server/people/bounded-fetch.ts'
import { createIssuer } from '../../src/server/people/issuers.ts'
import { openPeople, type People } from '../../src/server/people/people.ts'
import { createKey } from './provider-stage.ts'

let server: Server
let issuer = ''
let key: CryptoKey
let published: JWK[] = []
let fetches = 0
let answer: ((path: string) => string | null) | null = null
const faults: string[] = []
let people: People
let now = Date.UTC(2026, 10, 27, 12)
const audience = 'https://edgewise.example.com'
const claims = { repository: 'team/cdn', ref: 'refs/heads/main' }

beforeAll(async () => {
  const made = await createKey('k1')
  key = made.key
  published = [publish(made.jwk)]
  server = createServer((incoming, outgoing) => {
    fetches++
    const path = incoming.url ?? ''
    const own = answer?.(path) ?? null
    const document = path.includes('openid-configuration')
      ? { issuer, jwks_uri: `${issuer}/keys`, response_types_supported: ['id_token'] }
      : { keys: published }
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end(own ?? JSON.stringify(document))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(async () => {
  answer = null
  faults.length = 0
  people = await open([{ issuer, audience, claims }])
})

function open(ci: AuthConfig['ci']): Promise<People> {
  return openPeople(
    { provider: null, proxy: null, ci, variables: [] },
    {
      clock: { now: () => now, monotonic: () => now },
      env: {},
      onFault: (_what, _issuer, error) =>
        faults.push(error instanceof Error ? error.message : String(error)),
    },
  )
}

/** Returns the public part of a key. */
function publish({ kty = '', kid = '', alg = '', n = '', e = '' }: JWK): JWK {
  return { kty, kid, alg, n, e, use: 'sig' }
}

/** Signs a token of a job; claims that are undefined are left out. */
async function sign(own: Record<string, unknown> = {}, header = {}, by = key): Promise<string> {
  const seconds = Math.floor(now / 1000)
  const times = { iat: seconds, nbf: seconds, exp: seconds + 600 }
  const all = { iss: issuer, aud: audience, sub: 'repo:team/cdn:ref', ...claims, ...times, ...own }
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return new SignJWT(given).setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header }).sign(by)
}

it('a job is known by its subject', async () => {
  expect(await people.identifyJob(await sign())).toEqual({
    name: 'ci:repo:team/cdn:ref',
    knownBy: 'ci',
    issuer,
    sub: 'repo:team/cdn:ref',
    groups: [],
    email: null,
  })
  expect(await people.identifyJob(await sign({ aud: ['other', audience] }))).not.toBeNull()
  expect(faults).toEqual([])
})

it.each([
  ['another audience', { aud: 'https://other.example.com' }],
  ['no audience', { aud: undefined }],
  ['another repository', { repository: 'team/other' }],
  ['another branch', { ref: 'refs/heads/evil' }],
  ['a claim that is a list', { ref: ['refs/heads/main'] }],
  ['a claim that is missing', { ref: undefined }],
  ['no subject', { sub: undefined }],
  ['no end', { exp: undefined }],
  ['no begin', { iat: undefined }],
  ['another client', { azp: 'other' }],
  ['a client that is no text', { azp: [audience] }],
  ['a login in the future', { auth_time: Math.floor(now / 1000) + 40 }],
  ['a login at no time', { auth_time: 'now' }],
])('a token with %s is refused', async (_, own) => {
  expect(await people.identifyJob(await sign(own))).toBeNull()
  expect(faults).toHaveLength(1)
})

it('times count, with 30 seconds for other clocks, and tokens of an hour at most', async () => {
  const seconds = Math.floor(now / 1000)
  const identify = async (own: Record<string, unknown>) =>
    (await people.identifyJob(await sign(own)))?.name ?? null
  expect(await identify({ exp: seconds - 20 })).toBe('ci:repo:team/cdn:ref')
  expect(await identify({ exp: seconds - 40 })).toBeNull()
  expect(await identify({ nbf: seconds + 20, iat: seconds + 20 })).toBe('ci:repo:team/cdn:ref')
  expect(await identify({ nbf: seconds + 40 })).toBeNull()
  expect(await identify({ iat: seconds + 40 })).toBeNull()
  const old = { iat: seconds - 3700, nbf: seconds - 3700, exp: seconds + 86_400 }
  expect(await identify(old)).toBeNull()
})

it('the client of a token counts as the audience, or as the entry lists it', async () => {
  const identify = async (azp: string, listed?: string) => {
    const own = listed === undefined ? claims : { ...claims, azp: listed }
    const found = await (
      await open([{ issuer, audience, claims: own }])
    ).identifyJob(await sign({ azp }))
    return found !== null
  }
  expect(await identify(audience)).toBe(true)
  expect(await identify('117')).toBe(false)
  expect(await identify('117', '117')).toBe(true)
  expect(await identify(audience, '117')).toBe(false)
})

it.each([
  ['as it should be', {}, true],
  ['begun now by another clock', { iat: 20, auth_time: 20 }, true],
  ['begun in the future', { iat: 40 }, false],
  ['of a login in the future', { auth_time: 40 }, false],
  ['of its own client', { azp: 'edgewise' }, true],
  ['of another client', { azp: 'other' }, false],
])('an ID token %s', async (_, own: Record<string, string | number>, isBelieved) => {
  const clock = { now: () => now, monotonic: () => now }
  const ports = { clock, fetch: createBoundedFetch({}) }
  const login = createIssuer(issuer, { id: 'edgewise', secret: null }, ports)
  const seconds = Math.floor(now / 1000)
  const times = Object.entries(own).map(([name, value]) => [
    name,
    typeof value === 'number' ? seconds + value : value,
  ])
  const token = await sign({ aud: 'edgewise', ...Object.fromEntries(times) })
  const found = await login.verify(token, { audience: 'edgewise' }).catch((error: unknown) => error)
  expect(found instanceof Error).toBe(!isBelieved)
})

it('a token of another key, unsigned, or signed with the public key is refused', async () => {
  const other = await createKey('k1')
  expect(await people.identifyJob(await sign({}, {}, other.key))).toBeNull()
  const payload = { iss: issuer, aud: audience, sub: 's', ...claims }
  const unsigned = new UnsecuredJWT(payload).setIssuedAt(now / 1000).setExpirationTime('5m')
  expect(await people.identifyJob(unsigned.encode())).toBeNull()
  const secret = new TextEncoder().encode(JSON.stringify(published[0]))
  const symmetric = await new SignJWT({ ...payload, iat: now / 1000, exp: now / 1000 + 60 })
    .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
    .sign(secret)
  expect(await people.identifyJob(symmetric)).toBeNull()
  expect(faults).toHaveLength(3)
})

it('a token of an issuer that is not listed fetches nothing', async () => {
  const before = fetches
  for (const token of [await sign({ iss: 'http://127.0.0.1:1' }), 'a.b.c', '..', 'x', 'a.bnVsbA.c'])
    expect(await people.identifyJob(token)).toBeNull()
  expect(fetches).toBe(before)
  expect(faults).toEqual([])
})

it('keys are fetched once, and again for a new one after 30 seconds', async () => {
  await people.identifyJob(await sign())
  const before = fetches
  const next = await createKey('k2')
  const publicPart = publish(next.jwk)
  const rotated = () => sign({}, { kid: 'k2' }, next.key)
  for (let i = 0; i < 5; i++) expect(await people.identifyJob(await rotated())).toBeNull()
  expect(fetches).toBe(before)
  const first = published
  published = [publicPart]
  const later = await open([{ issuer, audience, claims }])
  expect((await later.identifyJob(await rotated()))?.knownBy).toBe('ci')
  expect(await later.identifyJob(await sign())).toBeNull()
  published = first
})

it('an issuer that lies about its name, or answers without end, lets nobody in', async () => {
  for (const text of ['{}', 'x'.repeat(600_000), JSON.stringify({ issuer: 'https://evil' })]) {
    answer = () => text
    const strict = await open([{ issuer, audience, claims }])
    expect(await strict.identifyJob(await sign())).toBeNull()
  }
  answer = (path) =>
    path === '/keys'
      ? null
      : JSON.stringify({ issuer, jwks_uri: 'http://keys.example.com/keys', x: 1 })
  const elsewhere = await open([{ issuer, audience, claims }])
  expect(await elsewhere.identifyJob(await sign())).toBeNull()
  expect(faults.at(-1)).toContain('https://')
})

it('a command knows who has a token, or why it does not', async () => {
  const auth = { provider: null, proxy: null, ci: [{ issuer, audience, claims }], variables: [] }
  const clock = { now: () => now, monotonic: () => now, sleep: async () => undefined }
  const identify = (token: string) => identifyToken(auth, token, { clock, env: {} })
  expect(await identify(await sign())).toMatchObject({ name: 'ci:repo:team/cdn:ref' })
  const fault = async (token: string) => JSON.stringify(await identify(token))
  expect(await fault(await sign({ ref: 'refs/heads/other' }))).toContain('another value than')
  expect(await fault(await sign({ iss: 'https://other.example.com' }))).toContain('is not listed')
  expect(await fault('not a token')).toContain('is not listed')
  const foreign = await createKey('k1')
  expect(await fault(await sign({}, {}, foreign.key))).toContain('signature')
})
