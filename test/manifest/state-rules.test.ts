import { describe, expect, it } from 'vitest'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-file/workspace-config.ts'

const verified = 'postgres://edgewise:hunter2@db.example.com/cdn?sslmode=verify-full'
const ofEnvironment = '{store: postgres, url: "${env:DATABASE_URL}"}'

function parse(state: string, env: Record<string, string> = {}) {
  return parseWorkspaceConfig({ path: 'edgewise.yaml', text: `version: 1\nstate: ${state}\n` }, env)
}

function faults(state: string, env: Record<string, string> = {}): string[] {
  const { diagnostics } = parse(state, env)
  expect(JSON.stringify(diagnostics)).not.toMatch(/hunter|example\.com/)
  return diagnostics.map(({ column, endColumn, detail }) => `${column}-${endColumn} ${detail}`)
}

/** Finds the fault of an address that comes from the environment as a whole. */
function findFault(url: string): string | undefined {
  const [fault, ...others] = faults(ofEnvironment, { DATABASE_URL: url })
  expect(others).toEqual([])
  return fault?.replace(/^\d+-\d+ /, '')
}

describe('the keys of the stores', () => {
  it.each([
    ['dir', 'branch: x', 'branch', 'git'],
    ['postgres', 'remote: x', 'remote', 'git'],
    ['git', 'path: x', 'path', 'dir'],
    ['postgres', 'path: x', 'path', 'dir'],
    ['git', `url: "${verified}"`, 'url', 'postgres'],
    ['dir', 'schema: x', 'schema', 'postgres'],
  ])('store %s refuses "%s"', (store, line, key, other) => {
    const url = store === 'postgres' ? ', url: "${env:DATABASE_URL}"' : ''
    expect(faults(`{store: ${store}, ${line}${url}}`, { DATABASE_URL: verified })).toEqual([
      expect.stringMatching(
        `^\\d+-\\d+ "${key}" is valid only with "store: ${other}", but the store is ${store}. ` +
          'Remove it.$',
      ),
    ])
  })

  it.each(['{store: git, branch: a, remote: b}', '{store: dir, path: a}'])('%s is valid', (state) =>
    expect(faults(state)).toEqual([]),
  )

  const invalid = ['Edgewise', '1a', 'a-b', 'a"b', '""', 'a'.repeat(64)]
  const reserved =
    'pg_catalog,pg_toast,pg_temp,pg_temp_3,pg_,PG_catalog,information_schema,INFORMATION_SCHEMA'

  it.each([...invalid, ...reserved.split(','), `'"pg_catalog"'`, '"${env:OWN_SCHEMA}"'])(
    'the schema %s is refused',
    (schema) => {
      const state = `{store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema}}`
      expect(faults(state, { DATABASE_URL: verified, OWN_SCHEMA: 'pg_catalog' })).toEqual([
        expect.stringContaining('expected at most 63 lower-case letters, digits and "_"'),
      ])
    },
  )
})

it.each(['public', 'pgedgewise', 'pg', 'information_schemas', '_pg_x'])(
  'the schema %s is valid',
  (schema) => {
    const state = `{store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema}}`
    expect(faults(state, { DATABASE_URL: verified })).toEqual([])
  },
)

describe('the address of a database', () => {
  it('is in the configuration, with the schema', () => {
    expect(parse(ofEnvironment, { DATABASE_URL: verified }).config?.state).toEqual({
      store: 'postgres',
      branch: 'edgewise-state',
      remote: 'origin',
      path: '.edgewise/state',
      allowLocal: false,
      variables: ['DATABASE_URL', 'PGPASSWORD'],
      database: { url: verified, schema: 'edgewise' },
    })
    const named = '{store: postgres, schema: cdn_1, url: "${env:DATABASE_URL}"}'
    expect(parse(named, { DATABASE_URL: verified }).config?.state.database?.schema).toBe('cdn_1')
    expect(parse('{store: dir}').config?.state).not.toHaveProperty('database')
  })

  it.each(['{store: postgres}', '{store: postgres, url: ""}'])('is required: %s', (state) => {
    expect(faults(state)).toEqual([expect.stringContaining('Write "url: ${env:DATABASE_URL}"')])
  })

  it.each([
    ofEnvironment,
    '{store: postgres, url: "postgres://edgewise:${env:DATABASE_URL}@db.example.com/cdn"}',
  ])('may be missing: a state that is not loaded needs none: %s', (state) => {
    for (const env of [{}, { DATABASE_URL: '' }] as Record<string, string>[]) {
      const { config, diagnostics } = parse(state, env)
      expect(diagnostics).toEqual([])
      expect(config?.state).toMatchObject({ variables: ['DATABASE_URL', 'PGPASSWORD'] })
      expect(config?.state).not.toHaveProperty('database')
    }
  })

  it.each([
    verified,
    'postgresql://edgewise@db.example.com:6432/cdn?sslmode=verify-full',
    'postgres://edgewise:hunter2%40%25@db.example.com/cdn?sslmode=verify-full&sslrootcert=/a.pem',
    'postgres://db.example.com/cdn?sslcert=/a&sslkey=/b&sslmode=verify-full',
    'postgres://edgewise:hunter2@localhost/cdn',
    'postgres://edgewise:hunter2@127.0.0.1:5433/cdn?sslmode=disable',
    'postgres://[::1]/cdn',
    'postgres://edgewise@%2Fvar%2Frun%2Fpostgresql/cdn',
  ])('%s is valid', (url) => {
    expect(findFault(url)).toBeUndefined()
    expect(parse(ofEnvironment, { DATABASE_URL: url }).config?.state.database?.url).toBe(url)
  })

  it.each([
    'https://edgewise:hunter2@db.example.com/cdn',
    'db.example.com/cdn',
    'postgres:///cdn?sslmode=verify-full',
    'postgres://edgewise:hunter2@/cdn?sslmode=verify-full',
    'postgres://db.example.com?sslmode=verify-full',
    'postgres://db.example.com/?sslmode=verify-full',
    'postgres://db.example.com/a/b?sslmode=verify-full',
    `${verified} `,
    `${verified}\n`,
    'postgres://edgewise:hunter 2@db.example.com/cdn?sslmode=verify-full',
    'postgres://edgewise:hunter\t2@db.example.com/cdn?sslmode=verify-full',
    'postgres://edgewise:hunter2\u0001@db.example.com/cdn?sslmode=verify-full',
    // Passwords with characters that are not percent-encoded.
    'postgres://edgewise:12/hunter@db.example.com/cdn?sslmode=verify-full',
    'postgres://edgewise:hunter#2@db.example.com/cdn?sslmode=verify-full',
    'postgres://edgewise:12?hunter@db.example.com/cdn?sslmode=verify-full',
    'postgres://edgewise:hunter%@db.example.com/cdn?sslmode=verify-full',
    'postgres://edgewise:hunter%ff@db.example.com/cdn?sslmode=verify-full',
    `${verified}#hunter`,
  ])('%j is refused with the expected form', (url) => {
    expect(findFault(url)).toMatch(/^expected an address such as postgres:\/\//)
  })

  it.each(['host=other', 'password=x', 'options=-c', 'uselibpqcompat=true', 'hunter=1'])(
    'the parameter %s is refused',
    (parameter) => {
      expect(findFault(`${verified}&${parameter}`)).toMatch(/^expected no parameters but sslmode,/)
    },
  )

  it('a repeated parameter is refused', () => {
    expect(findFault(`${verified}&sslmode=disable`)).toContain('each once')
    expect(findFault(`${verified}&%73slmode=disable`)).toContain('each once')
  })

  it.each([
    '',
    '?sslmode=disable',
    '?sslmode=allow',
    '?sslmode=prefer',
    '?sslmode=no-verify',
    '?sslmode=',
    '?sslmode=VERIFY-FULL',
    '?sslrootcert=/a.pem',
  ])('another machine needs TLS: "%s"', (query) => {
    const hosts = ['db.example.com', '10.0.0.1', 'localhost.example.com', 'LOCALHOST', '[::2]']
    for (const host of hosts)
      expect([host, findFault(`postgres://edgewise:hunter2@${host}/cdn${query}`)]).toEqual([
        host,
        expect.stringMatching(/^expected an address that ends with "\?sslmode=verify-full"/),
      ])
  })

  it('this machine needs TLS that is verified, or none', () => {
    expect(findFault('postgres://localhost/cdn?sslmode=no-verify')).toMatch(
      /^expected sslmode=verify-full, or none/,
    )
  })

  it.each(['require', 'verify-ca'])('%s verifies fully', (mode) => {
    const url = `postgres://db.example.com/cdn?sslmode=${mode}&sslrootcert=/a.pem`
    expect(parse(ofEnvironment, { DATABASE_URL: url }).config?.state.database?.url).toBe(
      'postgres://db.example.com/cdn?sslmode=verify-full&sslrootcert=/a.pem',
    )
  })
})

describe('a password of a database', () => {
  const env = {
    DATABASE_URL: 'postgres://edgewise:hunter2@db.example.com/cdn',
    PASSWORD: 'hunter2',
    HOST: 'db.example.com',
    START: 'postgres://edgewise:',
    END: '@db.example.com/cdn?sslmode=verify-full',
  }
  const at = '@db.example.com/cdn?sslmode=verify-full'

  it.each([
    '${env:DATABASE_URL}?sslmode=verify-full',
    'postgres://edgewise:${env:PASSWORD}@${env:HOST}/cdn?sslmode=verify-full',
    `postgres://edgewise${at}`,
  ])('that comes from the environment is accepted: %s', (url) => {
    expect(faults(`{store: postgres, url: "${url}"}`, env)).toEqual([])
  })

  it.each([
    verified,
    `postgres://:hunter2${at}`,
    'postgres://edgewise:hunter2@${env:HOST}/cdn?sslmode=verify-full',
    `postgres://edgewise:hunter\${env:PASSWORD}${at}`,
    `postgres://edgewise:hunter:\${env:PASSWORD}${at}`,
    `postgres://edgewise:$\${env:PASSWORD}${at}`,
    `\${env:START}hunter2${at}`,
    '${env:START}hunter2${env:END}',
  ])('in the file is refused: %s', (url) => {
    expect(faults(`{store: postgres, url: "${url}"}`, env)).toEqual([
      expect.stringMatching(
        /^\d+-\d+ expected a reference to an environment variable, got the password itself/,
      ),
    ])
  })

  it.each([
    `postgres://edgewise:hunter2@db.example.com/cdn`,
    '{store: "postgres://edgewise:hunter2@db.example.com/cdn"}',
    '{store: git, branch: "postgres://edgewise:hunter2@db.example.com/cdn"}',
    '{store: postgres, url: {hunter2: hunter2}}',
    '{store: postgres, url: [hunter2]}',
  ])('at a wrong place is not shown: %s', (state) => {
    expect(faults(state)).toEqual([expect.stringMatching(/got something else|there is no key/)])
  })
})
