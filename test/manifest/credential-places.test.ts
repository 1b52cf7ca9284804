import { describe, expect, it } from 'vitest'
import { workspaceSchema } from '../../src/manifest/workspace-file/generated/file-schemas.ts'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-file/workspace-config.ts'
import { environmentSections } from '../../src/manifest/workspace-file/workspace-env.ts'
import {
  parsePointer,
  resolvePointer,
  type Json,
  type JsonObject,
} from '../../src/core/model/json.ts'

const env = {
  CDN_TOKEN: 'tok-4f/Ω c41',
  EDGEWISE_TOKEN: 'other-5b7a',
  SIGNING_KEY: 'sig-9d30',
  DATABASE_URL: 'postgres://cdn:db-pass-77@localhost/cdn',
  DATABASE_PASSWORD: 'db-part-612',
  PGPASSWORD: 'pg-pass-3381',
  HOOK: 'https://hooks.example.com/x',
  HOOK_KEY: 'hook-key-8d51',
  CLIENT_SECRET: 'client-9a7f3',
  EDGEWISE_SERVE_TOKEN: 'serve-token-0b21',
  EDGEWISE_WEBHOOK_SECRET: 'webhook-secret-6c14',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=otel-2e93',
  STAGE: 'prod',
}

/** Each credential's variable, its value, and the places where it may be. */
const credentials: [variable: string, value: string, home?: RegExp][] = [
  ['CDN_TOKEN', env.CDN_TOKEN, /^\/service\/token$/],
  ['EDGEWISE_TOKEN', env.EDGEWISE_TOKEN, /^\/service\/token$/],
  ['SIGNING_KEY', env.SIGNING_KEY],
  ['DATABASE_URL', 'db-pass-77', /^\/state\/url$/],
  ['PGPASSWORD', env.PGPASSWORD, /^\/state\/url$/],
  ['HOOK_KEY', env.HOOK_KEY, /^\/notify\/\d+\/secret$/],
  ['CLIENT_SECRET', env.CLIENT_SECRET, /^\/serve\/auth\/clientSecret$/],
  ['EDGEWISE_SERVE_TOKEN', env.EDGEWISE_SERVE_TOKEN],
  ['EDGEWISE_WEBHOOK_SECRET', env.EDGEWISE_WEBHOOK_SECRET],
  ['OTEL_EXPORTER_OTLP_HEADERS', env.OTEL_EXPORTER_OTLP_HEADERS],
]

interface Schema {
  description?: string
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
}

/** Lists the pointers of all values that the schema of a part allows. */
function listPlaces(
  { properties = {}, additionalProperties, items }: Schema,
  at: string,
): string[] {
  const parts: [string, Schema][] = Object.entries(properties)
  if (typeof additionalProperties === 'object') parts.push(['x', additionalProperties])
  if (items !== undefined) parts.push(['0', items])
  return parts.length === 0
    ? [at]
    : parts.flatMap(([key, part]) => listPlaces(part, `${at}/${key}`))
}

const { properties }: Schema = workspaceSchema
const places = environmentSections
  .flatMap((name) => listPlaces(properties?.[name] ?? {}, `/${name}`))
  // No variables are replaced there.
  .filter((place) => !/^\/serve\/(?:drift\/|url$)/.test(place))

/** Builds a workspace file with values at places, beside those of a valid one. */
function build(values: [place: string, value: Json][]): string {
  const content: JsonObject = {
    version: 1,
    service: { token: '${env:CDN_TOKEN}' },
    secrets: { signing: { env: 'SIGNING_KEY' } },
    state: { store: 'postgres', url: '${env:DATABASE_URL}' },
    notify: [{ kind: 'webhook', url: '${env:HOOK}', secret: '${env:HOOK_KEY}', on: ['drift'] }],
    serve: { auth: { issuer: 'https://id', clientId: 'e', clientSecret: '${env:CLIENT_SECRET}' } },
  }
  for (const [place, value] of values) {
    let parent: Json[] | JsonObject = content
    const steps = parsePointer(place)
    for (const [i, step] of steps.slice(0, -1).entries()) {
      const known: Json | undefined = resolvePointer(parent, `/${step}`)
      const next: Json[] | JsonObject =
        typeof known === 'object' && known !== null ? known : steps[i + 1] === '0' ? [] : {}
      Object.assign(parent, { [step]: next })
      parent = next
    }
    Object.assign(parent, { [steps.at(-1) ?? '']: value })
  }
  return JSON.stringify(content)
}

/** Returns the details of the diagnostics, which show no value. */
function check(values: [place: string, value: Json][], more: Record<string, string> = {}) {
  const file = { path: 'edgewise.yaml', text: build(values) }
  const { diagnostics } = parseWorkspaceConfig(file, { ...env, ...more })
  const shown = JSON.stringify(diagnostics)
  for (const [, secret] of credentials) expect(shown).not.toContain(secret)
  return diagnostics.map(({ detail }) => detail)
}

/** Formats a place as messages name it. */
function formatKey(place: string): string {
  return place.slice(1).replaceAll('/0', '[0]').replaceAll('/', '.')
}

it('no variable is replaced in the address of links', () => {
  expect(check([['/serve/url', 'https://${env:STAGE}']])).toEqual([
    expect.stringContaining('is allowed under service, state, secrets, notify and serve.auth only'),
  ])
})

it('lists the places in which variables are replaced', () => {
  expect(places).toEqual(
    expect.arrayContaining([
      '/service/url',
      '/service/timezone',
      '/service/itemKeys/x',
      '/state/url',
      '/state/branch',
      '/secrets/x/env',
      '/secrets/x/command/0',
      '/notify/0/url',
      '/notify/0/on/0',
    ]),
  )
})

describe.each(credentials)('the variable %s', (variable, value, home) => {
  const elsewhere = places.filter(
    (place) => home?.test(place) !== true && place !== '/service/token',
  )
  const named = (place: string): string =>
    expect.stringContaining(`the variable "${variable}" in "${formatKey(place)}" holds`) as string

  it.each([
    [`\${env:${variable}}`, value],
    [`https://x.example.com/a?b=\${env:${variable}}&c=\${env:STAGE}`, value],
    [`\${env:${variable}}`, ''],
  ])('is refused everywhere else: %s', (text, set) => {
    expect(elsewhere.length).toBeGreaterThan(18)
    const all = elsewhere.map((place): [string, string] => [place, text])
    expect(check(all, { [variable]: set })).toEqual(expect.arrayContaining(elsewhere.map(named)))
  })

  it.each([
    ['itself', value],
    ['within a text', `a${value}b`],
    ['in capitals', value.toUpperCase()],
    ['percent-encoded', encodeURIComponent(`-${value}`)],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(value))],
    ['in base64', Buffer.from(`user:${value}`).toString('base64')],
  ])('is refused with its value in another variable: %s', (_, copy) => {
    // What is in the place of the key is a key, too.
    const keys = ['/notify/0/secret', '/serve/auth/clientSecret']
    const others = elsewhere.filter((place) => !keys.includes(place))
    const own = keys.filter((key) => elsewhere.includes(key)).map((key) => [key])
    for (const part of [...own, others]) {
      const all = part.map((place): [string, string] => [place, 'x-${env:COPY}'])
      const held = part.map((place) =>
        expect.stringContaining(`the value of "${formatKey(place)}" (from "COPY") contains`),
      ) as string[]
      expect(check(all, { COPY: copy })).toEqual(expect.arrayContaining(held))
    }
  })
})

it.each(credentials.slice(2))('the variable %s is not that of the token', (variable) => {
  expect(check([['/service/token', `\${env:${variable}}`]])).toContainEqual(
    expect.stringMatching(`^the variable "${variable}" in ".*" holds`),
  )
})

describe('a secret', () => {
  const source = (name: string, more: Record<string, string> = {}) =>
    check([['/secrets/x', { env: name }]], more)

  it.each(credentials.filter(([variable]) => variable !== 'SIGNING_KEY'))(
    'is not %s, nor its value',
    (variable, value) => {
      expect(source(variable)).toContainEqual(
        expect.stringContaining(`the variable "${variable}" in "secrets.x.env" holds`),
      )
      for (const copy of [value, `${value}\n`, `Bearer ${value}`])
        expect(source('COPY', { COPY: copy })).toContainEqual(
          expect.stringMatching(/^the value of "secrets\.x\.env" \(from "COPY"\) contains/),
        )
    },
  )

  it('which is the token is reported once, where it is wrong', () => {
    expect(check([['/state/url', 'postgres://cdn:${env:CDN_TOKEN}@localhost/cdn']])).toEqual([
      expect.stringContaining('the variable "CDN_TOKEN" in "state.url" holds the token'),
    ])
    expect(check([['/notify/0/secret', '${env:COPY}']], { COPY: env.CDN_TOKEN })).toEqual([
      expect.stringContaining('the value of "notify[0].secret" (from "COPY") contains the token'),
    ])
  })

  it('may share a variable or a part with another one', () => {
    expect(source('SIGNING_KEY')).toEqual([])
    expect(source('COPY', { COPY: `${env.SIGNING_KEY}-2` })).toEqual([])
    expect(source('COPY', { COPY: 'my-c41' })).toEqual([])
  })
})

describe('what is not a credential', () => {
  it.each([
    ['/state/url', 'postgres://cdn:${env:DATABASE_PASSWORD}@db.${env:STAGE}/x?sslmode=verify-full'],
    ['/service/url', 'https://${env:STAGE}.example.com'],
    ['/notify/1', { kind: 'slack', url: 'https://${env:STAGE}.example.com', on: ['drift'] }],
    ['/notify/1', { kind: 'slack', url: '${env:HOOK}', on: ['drift'] }],
    ['/notify/0/secret', '${env:HOOK_KEY}'],
    ['/service/account', '${env:STAGE}'],
    ['/secrets/x/file', '/run/${env:STAGE}/key'],
  ])('is allowed at %s: %j', (place, value) => expect(check([[place, value]])).toEqual([]))

  it('is a value of less than four characters, or a short one in a literal address', () => {
    const at = (text: string, more: Record<string, string>) =>
      check([['/notify/0/url', text]], more)
    const url = 'https://hooks.example.com/abc'
    expect(at(url, { SIGNING_KEY: 'abc' })).toEqual([])
    expect(at(url, { SIGNING_KEY: 'hooks' })).toEqual([])
    expect(at('${env:COPY}', { COPY: url, SIGNING_KEY: 'hooks' })).toHaveLength(1)
    expect(at(url, { SIGNING_KEY: 'hooks.ex' })).toHaveLength(1)
  })
})

it.each([
  ['${env:DATABASE_PASSWORD}', 'postgres://cdn:${env:DATABASE_PASSWORD}@localhost/cdn'],
  ['${env:STAGE}', '${env:STAGE}://cdn:${env:DATABASE_PASSWORD}@localhost/cdn'],
])('%s, which holds the password of %s, is refused elsewhere', (reference, url) => {
  const text = JSON.stringify({
    version: 1,
    state: { store: 'postgres', url },
    service: { account: reference },
  })
  const { diagnostics } = parseWorkspaceConfig({ path: 'edgewise.yaml', text }, env)
  expect(diagnostics.map(({ detail }) => detail)).toContainEqual(
    expect.stringContaining('"service.account" holds the password of the database'),
  )
})

it('has the place of the value in the file', () => {
  const text = 'version: 1\nnotify:\n  - kind: slack\n    url: https://x/${env:EDGEWISE_TOKEN}\n'
  expect(parseWorkspaceConfig({ path: 'edgewise.yaml', text }, {}).diagnostics).toMatchObject([
    {
      file: 'edgewise.yaml',
      line: 4,
      column: 10,
      detail:
        'the variable "EDGEWISE_TOKEN" in "notify[0].url" holds the token, which only ' +
        '"service.token" may use. Use another variable here.',
    },
  ])
})
