import { describe, expect, it } from 'vitest'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-file/workspace-config.ts'

function parse(text: string, env: Record<string, string> = {}) {
  return parseWorkspaceConfig({ path: 'edgewise.yaml', text }, env)
}

function faults(text: string, env: Record<string, string> = {}): string[] {
  return parse(text, env).diagnostics.map(
    ({ line, column, endColumn, detail }) => `${line}:${column}-${endColumn} ${detail}`,
  )
}

describe('parseWorkspaceConfig', () => {
  it('fills in every default', () => {
    expect(parse('version: 1\n').config).toEqual({
      version: 1,
      id: 'default',
      trace: { assume: {} },
      service: {
        url: 'emulator',
        writtenUrl: 'emulator',
        account: 'default',
        token: '',
        timezone: 'UTC',
        itemKeys: {},
        timeoutSeconds: 30,
        settleSeconds: 10,
        allowHttp: false,
        readBack: false,
        unset: false,
      },
      limits: {
        callsPerMinute: 100_000,
        domainsPerWrite: 10,
        maxWaitSeconds: 300,
        readsPerMinute: 100_000,
        burst: null,
      },
      drift: { ignore: [] },
      manifests: ['domains/**/*.{yaml,yml}'],
      profiles: ['profiles/**/*.{yaml,yml}'],
      policies: ['policies/**/*.{yaml,yml}'],
      requests: [],
      tests: ['tests/**/*.{yaml,yml}'],
      defaults: {},
      secrets: {},
      sign: {},
      roles: [],
      serve: {
        url: null,
        drift: { schedule: null, observed: null, repair: false },
        auth: { provider: null, proxy: null, ci: [], variables: [] },
      },
      allowLiteralSecrets: false,
      state: { store: null, branch: 'edgewise-state', remote: 'origin', path: '.edgewise/state' },
      grouping: { groups: 'all', together: [] },
      written: { service: { timezone: 'UTC' } },
      guards: {
        maxDomains: { percent: 100 },
        maxChanges: { percent: 100 },
        maxTraffic: 100,
        protect: [],
        freeze: [],
        order: 'ask',
        reason: [],
      },
      rollout: {
        waves: [{ percent: 100 }],
        first: [],
        pause: 600,
        approval: [],
        approvers: { by: 1, notAuthor: false },
        by: 'domains',
        revert: 'waves',
        health: null,
      },
      checks: {},
      moved: [],
      notify: [],
      texts: [],
    })
  })

  it('parses a share of traffic above which a wave needs approval', () => {
    const parseRollout = (approval: string) =>
      parse(`version: 1\nguards: {maxTraffic: 12.5%}\nrollout: {approval: ${approval}}\n`).config
    expect(parseRollout('{wave: 1, above: 7.5%}')?.rollout).toMatchObject({
      approval: [1],
      approvalAbove: 7.5,
    })
    const { rollout, guards } = parseRollout('{above: 10%}') ?? {}
    expect([rollout?.approval, rollout?.approvalAbove, guards?.maxTraffic]).toEqual([[], 10, 12.5])
    expect(parseRollout('{}')).toBeNull()
  })

  it('parses numbers, shares, times and the health check', () => {
    const { config } = parse(
      'version: 1\nguards: {maxDomains: 20, maxChanges: 12.5%}\n' +
        'rollout: {waves: [1, 5%, 100%], pause: 90s, ' +
        'health: {statuses: [5xx, 404], margin: 0.5%}}\n',
    )
    expect(
      parse(
        'version: 1\nservice: {timezone: Asia/Shanghai}\n' +
          'guards: {freeze: [{from: Fri 16:00, to: Mon 08:00}]}\n',
      ).config?.guards.freeze,
    ).toEqual([{ from: 'Fri 16:00', to: 'Mon 08:00', timezone: 'Asia/Shanghai', reason: '' }])
    expect(config?.guards).toMatchObject({
      maxDomains: { count: 20 },
      maxChanges: { percent: 12.5 },
    })
    expect(config?.rollout).toEqual({
      waves: [{ count: 1 }, { percent: 5 }, { percent: 100 }],
      first: [],
      pause: 90,
      approval: [],
      approvers: { by: 1, notAuthor: false },
      by: 'domains',
      revert: 'waves',
      health: {
        area: 'all',
        settle: 300,
        lag: 600,
        window: 900,
        grain: 'minute5',
        statuses: ['5xx', '404'],
        minRequests: 500,
        margin: 0.5,
        onLittleData: 'wait',
        after: 3600,
        onFailure: 'stop',
      },
    })
  })

  it('accepts both stores, groups and keys without a value', () => {
    expect(
      parse(
        'version: 1\nid:\nstate: {store: dir, path: /srv/state}\n' +
          'grouping: {groups: [[origin, origin_host]]}\n',
      ).config,
    ).toMatchObject({
      id: 'default',
      state: { store: 'dir', path: '/srv/state' },
      grouping: { groups: [['origin', 'origin_host']] },
    })
    expect(parse('version: 1\nstate: {store: git, branch: x/y}\n').config?.state).toMatchObject({
      store: 'git',
      branch: 'x/y',
      remote: 'origin',
    })
  })

  it('parses a burst limit', () => {
    expect(parse('version: 1\nlimits: {burst: 24 per 2s}\n').config?.limits).toMatchObject({
      burst: { calls: 24, seconds: 2 },
    })
  })

  it.each([
    ['https://api.example.net', '', 30],
    ['https://api.example.net', 'limits: {callsPerMinute: 7}', 7],
    ['emulator', '', 100_000],
    ['emulator', 'limits: {}', 100_000],
    ['emulator', 'limits: {callsPerMinute: 30}', 30],
    ['${env:SERVICE}', '', 100_000],
  ])('the call rate of %s with "%s" is %d', (url, limits, rate) => {
    const text = `version: 1\nservice: {url: "${url}"}\n${limits}\n`
    expect(parse(text, { SERVICE: 'emulator' }).config?.limits.callsPerMinute).toBe(rate)
  })

  it('drops the trailing slash of the address', () => {
    expect(
      parse('version: 1\nservice: {url: "https://api.example.net/cdn/"}\n').config?.service.url,
    ).toBe('https://api.example.net/cdn')
  })

  it('replaces the environment in five sections; a token may be unset', () => {
    expect(
      parse('version: 1\nservice: {account: "${env:A}"}\n', { A: 'team', EDGEWISE_TOKEN: 't' })
        .config?.service,
    ).toMatchObject({
      account: 'team',
      token: 't',
    })
    expect(parse('version: 1\nservice: {token: "${env:NONE}"}\n').config?.service.token).toBe('')
    const literal = 'version: 1\nallowLiteralSecrets: true\nservice: {token: "a$${b"}\n'
    expect(parse(literal).config?.service.token).toBe('a${b')
    expect(faults('version: 1\nservice: {account: "${env:NONE}"}\n')).toEqual([
      '2:20-33 the environment variable "NONE" is not set. Set it before running edgewise.',
    ])
    expect(faults('version: 1\nservice: {account: "${env:toString}"}\n')[0]).toContain('is not set')
    expect(faults('version: 1\nid: ${env:A}\n', { A: 'x' })[0]).toContain(
      'is allowed under service, state, secrets, notify and serve.auth only',
    )
    expect(
      faults('version: 1\ndefaults: {extend: {squid: "${env:A}"}}\n', { A: 'x' })[0],
    ).toContain('is allowed under service, state, secrets, notify and serve.auth only')
    expect(faults('version: 1\nsecrets: {s: {command: [sh, "echo ${HOME}"]}}\n')[0]).toContain(
      'Write "$${" for a literal "${".',
    )
  })

  it('shows neither values from the environment nor the token', () => {
    const env = { SECRET: 'hunter2 hunter2' }
    for (const key of ['account', 'url', 'timezone']) {
      expect(
        JSON.stringify(parse(`version: 1\nservice: {${key}: "\${env:SECRET}"}\n`, env)),
      ).toContain('workspace-invalid')
      expect(
        JSON.stringify(parse(`version: 1\nservice: {${key}: "\${env:SECRET}"}\n`, env).diagnostics),
      ).not.toContain('hunter2')
    }
    const twice = 'itemKeys: {origin: "${env:NAME}", https: "${env:NAME}"}'
    expect(faults(`version: 1\nservice: {${twice}}\n`, { NAME: 'hunter2' })).toEqual([
      expect.stringContaining('the name "${env:NAME}" is already used for "origin"'),
    ])
    expect(
      JSON.stringify(parse('version: 1\nservice: {token: 424242}\n').diagnostics),
    ).not.toContain('424242')
    expect(
      JSON.stringify(
        parse('version: 1\nservice: {url: "https://user:hunter2@x.example.com"}\n').diagnostics,
      ),
    ).not.toContain('hunter2')
  })

  describe('plain http', () => {
    const plain = /^2:16-\d+ expected an address that begins with https:\/\/: .*"allowHttp: true"/
    const found = (url: string, more = '') =>
      faults(`version: 1\nservice: {url: ${JSON.stringify(url)}${more}}\n`)

    it.each([
      'http://127.0.0.1:8080',
      'http://127.1.2.3',
      'http://127.1',
      'http://0x7f.1',
      'http://2130706433',
      'http://127.0.0.1.',
      'http://[::1]:8080',
      'http://[0:0:0:0:0:0:0:1]',
      'http://localhost',
      'HTTP://LocalHost:80/cdn',
      'https://api.example.net',
      'HTTPS://127.0.0.1.example.com',
    ])('accepts %s', (url) => {
      expect(found(url)).toEqual([])
    })

    it.each([
      'http://api.example.net',
      'HTTP://API.example.net',
      'http://127.0.0.1.example.com',
      'http://localhost.example.com',
      'http://example.com/localhost',
      'http://localhost.',
      'http://api.localhost',
      'http://127.example.com',
      'http://0.0.0.0',
      'http://0',
      'http://126.255.255.255',
      'http://128.0.0.1',
      'http://10.0.0.1',
      'http://[::]',
      'http://[::2]',
      'http://[::ffff:10.0.0.1]',
      'http://[fe80::1]',
      'http://ｌｏｃａｌｈｏｓｔ.example.com',
    ])('refuses %s unless allowHttp is true', (url) => {
      expect(found(url)).toEqual([expect.stringMatching(plain)])
      expect(found(url, ', allowHttp: false')).toEqual([expect.stringMatching(plain)])
      expect(found(url, ', allowHttp: true')).toEqual([])
    })

    it('refuses an address from the environment without showing it', () => {
      const env = { ADDRESS: 'http://api.example.net' }
      const fromEnv = faults('version: 1\nservice: {url: "${env:ADDRESS}"}\n', env)
      expect(fromEnv).toEqual([expect.stringMatching(plain)])
      expect(fromEnv[0]).not.toContain('api.example')
    })

    it('accepts true only for allowHttp', () => {
      expect(found('http://api.example.net', ', allowHttp: "yes"')).toEqual([
        '2:53-58 expected true or false, got "yes". Did you mean "true"?',
      ])
    })
  })

  it.each([
    '"https://api.example.net "',
    '"http://127.0.0.1\\t.example.com"',
    '"https://api.example.net\\n"',
  ])('refuses an address with blanks: %s', (url) => {
    expect(faults(`version: 1\nservice: {url: ${url}}\n`)).toEqual([
      expect.stringContaining(
        'expected "emulator", or an address that begins with http:// or https:// and names a host',
      ),
    ])
  })

  it('never shows an invalid address', () => {
    const urls = [
      '"https://user:hunter2@a.example.com"',
      '"https://hunter2@a.example.com"',
      '"https://a.example.com/?token=hunter2"',
      '"https://a.example.com/#hunter2"',
      '"https://a.example.com/hunter2/v2"',
      '"http://hunter2.example.com"',
      '"https://hunter2.example.com:99999"',
      '"hunter2"',
      '["https://user:hunter2@a.example.com"]',
      '{hunter2: hunter2}',
    ]
    for (const url of urls) {
      const { diagnostics } = parse(`version: 1\nservice: {url: ${url}}\n`)
      expect([url, diagnostics.length]).toEqual([url, 1])
      expect([url, JSON.stringify(diagnostics).includes('hunter2')]).toEqual([url, false])
    }
  })

  it('refuses an address with the token in any spelling, without showing it', () => {
    const EDGEWISE_TOKEN = 'Tok-5ecret/key'
    const hex = [...Buffer.from('5ecret')].map((byte) => `%${byte.toString(16)}`).join('')
    const urls = [
      'https://Tok-5ecret/key',
      'https://api.example.net/tok-5ecret/key',
      'https://api.example.net/Tok-5ecret%2Fkey',
      'https://api.example.net/Tok-5ecret%2fkey/x',
      `https://api.example.net/Tok-${hex}%2Fkey`,
      'https://api.example.net/Tok-5ecret%252Fkey',
      `https://api.example.net/${Buffer.from(EDGEWISE_TOKEN).toString('base64')}`,
      'https://api.example.net/${env:EDGEWISE_TOKEN}',
    ]
    for (const url of urls) {
      const found = faults(`version: 1\nservice: {url: "${url}"}\n`, { EDGEWISE_TOKEN })
      expect([url, found]).toEqual([
        url,
        [
          expect.stringMatching(
            /^2:16-\d+ the (?:value|variable) .*"service\.url".* the token, which/,
          ),
        ],
      ])
      expect(found[0]?.toLowerCase()).not.toContain('5ecret')
    }
    const inHost = { EDGEWISE_TOKEN: 'AbC123' }
    expect(
      faults('version: 1\nservice: {url: "https://abc123.example.net"}\n', inHost),
    ).toHaveLength(1)
    expect(
      faults('version: 1\nservice: {url: "https://%61bc123.example.net"}\n', inHost),
    ).toHaveLength(1)
    // A short word may be a part of anything.
    for (const token of ['api', 'http']) {
      const service = `{url: "https://api.example.net", token: ${token}}`
      const inFile = `version: 1\nallowLiteralSecrets: true\nservice: ${service}\n`
      expect(parse(inFile).config).not.toBeNull()
    }
    const emulator = '{url: emulator, token: emulator}'
    const inFile = `version: 1\nallowLiteralSecrets: true\nservice: ${emulator}\n`
    expect(parse(inFile).config).not.toBeNull()
  })

  it.each([
    ['token: abc5ecret', '3:10-19'],
    ['token: "a$${env:X}5ecret"', '3:10-28'],
    ['"token":\n    abc5ecret', '4:5-14'],
    ['token: |\n    abc5ecret', '3:10-11'],
  ])('refuses a token that is written out, unless literals are allowed: %j', (line, place) => {
    const file = `version: 1\nservice:\n  ${line}\n`
    const allowed = parse(`${file}allowLiteralSecrets: true\n`)
    expect(allowed.config?.service.token).toContain('5ecret')
    expect(allowed.diagnostics).toMatchObject([{ code: 'token-literal', severity: 'warning' }])
    const { config, diagnostics } = parse(file)
    expect(config).toBeNull()
    expect(diagnostics).toEqual([
      expect.objectContaining({
        severity: 'error',
        code: 'token-literal',
        pointer: '/service/token',
        detail: expect.stringContaining('"token: ${env:EDGEWISE_TOKEN}"') as unknown,
      }),
    ])
    const [first] = diagnostics
    expect(`${first?.line}:${first?.column}-${first?.endColumn}`).toBe(place)
    expect(JSON.stringify(diagnostics)).not.toContain('5ecret')
  })

  it.each(['${env:EDGEWISE_TOKEN}', 'Bearer ${env:T}', ''])(
    'does not warn of the token "%s"',
    (token) => {
      const text = `version: 1\nservice: {token: "${token}"}\n`
      expect(parse(text, { T: 'abc5ecret' }).diagnostics).toEqual([])
    },
  )

  it.each([
    ['', '1:1-1 expected at least "version: 1", got an empty file'],
    [
      'version: 1\n---\nversion: 1\n',
      '1:1-1 expected one document, got several. Remove the "---".',
    ],
    ['- 1', '1:1-1 expected a mapping that begins with "version: 1"'],
    ['id: x', '1:1-6 the key "version" is required here'],
    ['version: 2', '1:10-11 expected 1, the only supported version, got 2'],
    [
      'version: 1\nsign: {pubilc: x}',
      '2:8-14 there is no key "pubilc" here. Did you mean "public"?',
    ],
    [
      'version: 1\nsign: {irreversible: off}',
      '2:8-20 there is no key "irreversible" here. Known keys: key, public.',
    ],
    [
      'version: 1\nchecks: {item-conflict: false}',
      '2:25-30 expected "error" or "warning" or "note" or "off", got false. Did you mean "off"?',
    ],
    [
      'version: 1\nservice:\naccount: a\n',
      '3:1-8 there is no key "account" here. It belongs under "service:". Indent it below that ' +
        'key.',
    ],
    [
      'version: 1\nservice:\nurl: emulator\n',
      '3:1-4 there is no key "url" here. It belongs under "service:" or "state:" or "serve:". ' +
        'Indent it below that key.',
    ],
    ['version: "1"\n', '1:10-13 expected 1, the only supported version, got "1"'],
    [
      'version: 1\nmanifests: cdn/*.yaml\n',
      '2:12-22 expected a list, got "cdn/*.yaml". Write "[cdn/*.yaml]".',
    ],
    [
      'version: 1\nstate: git\n',
      '2:8-11 expected a mapping (store, branch, remote, path, allowLocal, url, …), got "git"',
    ],
    ['version: 1\nservise: {}', '2:1-8 there is no key "servise" here. Did you mean "service"?'],
    [
      'version: 1\nid: "a b"',
      '2:5-10 expected 1 to 64 letters, digits, ".", "_" and "-", got "a b"',
    ],
    ['version: 1\nid: ..', '2:5-7 expected 1 to 64 letters, digits, ".", "_" and "-", got ".."'],
    ...['!(a).*', '!!a', '!'].map((glob): [string, string] => [
      `version: 1\nguards:\n  protect:\n    - "*"\n    - "${glob}"`,
      `5:7-${9 + glob.length} expected "!" and then a glob without "!" or "(" at its start, ` +
        `got "${glob}"`,
    ]),
    [
      'version: 1\nstate: {store: got}',
      '2:16-19 expected "git" or "dir" or "postgres", got "got". Did you mean "git"?',
    ],
    [
      'version: 1\nstate: {store: git, branch: --upload-pack=x}',
      '2:29-44 expected the name of a branch, got "--upload-pack=x"',
    ],
    [
      'version: 1\nstate: {store: git, branch: a.lock/b}',
      '2:29-37 expected the name of a branch, got "a.lock/b"',
    ],
    [
      'version: 1\nstate: {store: git, branch: a/.b}',
      '2:29-33 expected the name of a branch, got "a/.b"',
    ],
    [
      'version: 1\nservice: {timeoutSeconds: 61}',
      '2:27-29 expected a whole number from 1 to 60, got 61',
    ],
    [
      'version: 1\ngrouping: {rewriteUnchanged: true}',
      '2:12-28 "rewriteUnchanged" is reserved for a later version. Remove it.',
    ],
    [
      'version: 1\ngrouping: {together: [[origin, orign]]}',
      '2:32-37 there is no item "orign". Did you mean "origin"?',
    ],
    [
      'version: 1\nlimits: {domainsPerWrite: 11}',
      '2:27-29 expected a whole number from 1 to 10, got 11',
    ],
    [
      'version: 1\nmanifests: [../x]',
      '2:13-17 expected a glob within the workspace, got "../x". Remove ".." and a leading "/".',
    ],
    [
      'version: 1\nprofiles: [/etc/*]',
      '2:12-18 expected a glob within the workspace, got "/etc/*". Remove ".." and a leading "/".',
    ],
    [
      'version: 1\nsecrets: {a: {env: X, file: y}}',
      '2:11-12 expected one of env, file and command, got several',
    ],
    [
      'version: 1\nsecrets: {a: its-value}',
      '2:14-23 expected one of env, file and command, got something else',
    ],
    ['version: 1\nsecrets: its-value', '2:10-19 expected a mapping, got something else'],
    [
      'version: 1\nsecrets: {"a b": {env: X}}',
      '2:11-16 expected a name of letters, digits, "_", "." and "-", got "a b"',
    ],
    [
      'version: 1\nservice: {timezone: +02:00}',
      '2:21-27 expected an IANA time zone such as UTC or Asia/Shanghai, got "+02:00".',
    ],
    [
      'version: 1\nservice: {url: "https://a.example.com/v2/"}',
      '2:16-43 expected the address without "/v2", which is appended. Remove "/v2".',
    ],
    [
      'version: 1\nservice: {url: "https://a.example.com?x=1"}',
      '2:16-43 expected an address without "?" and "#"',
    ],
    [
      'version: 1\nservice: {url: "ftp://a.example.com"}',
      '2:16-37 expected "emulator", or an address that begins with http:// or https:// and ' +
        'names a host',
    ],
    [
      'version: 1\nservice: {itemKeys: {error_bcache: https}}',
      '2:36-41 "https" is the name of another item. Give each item its own name.',
    ],
    [
      'version: 1\nservice: {itemKeys: {error_bcache: a, deny_protocol: a}}',
      '2:54-55 the name "a" is already used for "error_bcache". Give each item its own name.',
    ],
    ...['token', 'domains', 'config'].map((name) => [
      `version: 1\nservice: {itemKeys: {error_bcache: ${name}}}`,
      `2:36-${36 + name.length} the name "${name}" is reserved: a call has other data under it. ` +
        'Use another name.',
    ]),
    ...['__proto__', 'constructor', 'toString', 'prototype'].map((name) => [
      `version: 1\nservice: {itemKeys: {error_bcache: ${name}}}`,
      `2:36-${36 + name.length} the name "${name}" is reserved: it is a built-in property of ` +
        'JavaScript objects. Use another name.',
    ]),
    ...['24', '24/2s', '24 per 2', '0 per 2s', '24 per 0s', '24 per 61s', '24 per 2m'].map(
      (burst) => [
        `version: 1\nlimits:\n  burst: ${burst}`,
        `3:10-${10 + burst.length} expected a number of calls and a time of 1 to 60 seconds, ` +
          `such as "24 per 2s", got ${burst === '24' ? burst : `"${burst}"`}`,
      ],
    ),
    [
      'version: 1\nrollout:\n  waves: [1, 100%]\n  approval: [0]',
      '4:14-15 expected the number of a wave, from 1, got 0',
    ],
    [
      'version: 1\nrollout:\n  waves: [1, 100%]\n  approval: [2, 3]',
      '4:17-18 expected the number of one of the 2 waves, got 3',
    ],
    [
      'version: 1\nrollout:\n  waves: [1, 100%]\n  approval: {above: 10%, wave: 3}',
      '4:32-33 expected the number of one of the 2 waves, got 3',
    ],
    [
      'version: 1\nrollout:\n  approval: {above: 10}',
      '3:21-23 expected a share such as "10%", got 10',
    ],
    ['version: 1\nguards: {maxTraffic: 20}', '2:22-24 expected a share such as "20%", got 20'],
    [
      'version: 1\nrollout:\n  approval: [1, 1]',
      '3:17-18 the wave 1 is listed twice. Remove one of the two.',
    ],
    [
      'version: 1\nrollout: {waves: [50%]}',
      '2:19-22 expected "100%" as the last wave, so that everything is applied in the end',
    ],
    [
      'version: 1\ntrace: {assume: {R4: both, R99: search, unmanaged: [refrer], R15: referer}}',
      '2:22-26 R4 is search, whole; got "both".',
      '2:33-39 there is no reading "R99"; edgewise explain readings lists all.',
      '2:41-50 unmanaged must be absent, unknown, or a list of items that are unknown; got ' +
        '"refrer".',
      '2:67-74 R15 is listed, or a list of all ten checks of access, the one that answers ' +
        'first at the start; got "referer".',
    ],
    [
      'version: 1\nguards: {freeze: [{from: 2026-02-30, to: Mon 24:00}]}',
      '2:26-36 expected a weekly time such as "Fri 16:00", a date such as 2026-12-20, or a ' +
        'date and time such as 2026-12-20T18:00, got "2026-02-30"',
      '2:42-51 expected a weekly time such as "Fri 16:00", a date such as 2026-12-20, or a ' +
        'date and time such as 2026-12-20T18:00, got "Mon 24:00"',
    ],
    [
      'version: 1\nguards: {freeze: [{from: Fri 16:00, to: 2026-12-24}]}',
      '2:41-51 expected "to" in the same form as "from" (Fri 16:00): both weekly, both ' +
        'dates, or both with an offset, got "2026-12-24"',
    ],
    [
      'version: 1\nguards: {freeze: [{from: Fri 16:00, to: fri 16:00}]}',
      '2:41-50 expected "to" to be later than "from" (Fri 16:00), got "fri 16:00"',
    ],
    [
      'version: 1\nguards: {freeze: [{from: Fri 16:00, to: Mon 08:00, timezone: Europe/Berln}]}',
      '2:62-74 expected an IANA time zone such as UTC or Asia/Shanghai, got ' +
        '"Europe/Berln". Did you mean "Europe/Berlin"?',
    ],
    [
      'version: 1\nguards: {freeze: [{from: 2026-12-24, to: 2026-12-24}]}',
      '2:42-52 expected "to" to be later than "from" (2026-12-24), got "2026-12-24"',
    ],
    ['version: 1\ndefaults: {htps: {}}', '2:12-16 there is no item "htps". Did you mean "https"?'],
  ])('%j', (text, ...found) => {
    expect(faults(text)).toEqual(found)
  })
})

describe('people', () => {
  const parseAuth = (auth: string, env: Record<string, string> = {}) =>
    parse(`version: 1\nserve:\n  auth: ${auth}\n`, env)
  const fault = (text: string, env = {}) => faults(`version: 1\n${text}\n`, env).join('\n')

  it('have roles, with all domains by default, and a provider with its defaults', () => {
    const text = 'version: 1\nroles: [{role: approver, users: [Ada@Example.com, CamelCase]}]\n'
    expect(parse(text).config?.roles).toEqual([
      { role: 'approver', users: ['ada@example.com', 'CamelCase'], groups: [], domains: ['*'] },
    ])
    const auth = '{issuer: "https://id.example.com", clientId: e, clientSecret: "${env:SECRET}"}'
    expect(parseAuth(auth, { SECRET: 'sesame-sesame' }).config?.serve.auth).toEqual({
      provider: {
        issuer: 'https://id.example.com',
        clientId: 'e',
        clientSecret: 'sesame-sesame',
        groupsClaim: 'groups',
      },
      proxy: null,
      ci: [],
      variables: ['SECRET'],
    })
    expect(parseAuth(auth).config?.serve.auth.provider?.clientSecret).toBe('')
  })

  it('refuses what would let everybody in, or nobody', () => {
    expect(fault('roles: [{role: viewer}]')).toMatch(/expected "users" or "groups"/)
    expect(fault('roles: [{role: boss, users: [a]}]')).toMatch(/expected "viewer" or/)
    expect(fault('roles: [{role: viewer, users: [a], domains: ["!(x)"]}]')).toMatch(
      /without "!" or/,
    )
    expect(fault('rollout: {approval: {wave: 1, notAuthor: true}}')).toMatch(/needs "serve.auth"/)
    expect(fault('rollout: {approval: {wave: 1, by: 2}}')).toMatch(/needs "serve.auth"/)
    const proxy = (from: string, more = '') =>
      fault(`serve: {auth: {proxy: {from: ["${from}"]${more}}}}`)
    for (const network of ['0.0.0.0/0', '::/0', '10.0.0.1', '10.0.0.0/33', 'fd00::/129', 'x/8'])
      expect(proxy(network)).toMatch(/expected a network/)
    expect(proxy('10.0.0.0/8')).toBe('')
    expect(proxy('fd00::/64')).toBe('')
    expect(proxy('10.0.0.0/8', ', user: Cookie')).toMatch(/another meaning/)
    expect(proxy('10.0.0.0/8', ', user: X-A, groups: x-a')).toMatch(/another header/)
    const issuer = (address: string) => fault(`serve: {auth: {issuer: "${address}", clientId: e}}`)
    for (const address of ['http://id.example.com', 'https://a:b@x', 'https://x?y', 'x'])
      expect(issuer(address)).toMatch(/begins with https/)
    expect(issuer('https://id.example.com/realms/a')).toBe('')
    expect(issuer('http://127.0.0.1:9999')).toBe('')
    const provider = 'issuer: "https://id.example.com"'
    expect(fault(`serve: {auth: {${provider}}}`)).toMatch(/needs "clientId"/)
    expect(fault('serve: {auth: {clientId: e}}')).toMatch(/"clientId" needs "issuer"/)
    const literal = `{${provider}, clientId: e, clientSecret: sesame-sesame}`
    expect(fault(`serve: {auth: ${literal}}`)).toMatch(/got the secret itself/)
    expect(fault(`serve: {auth: ${literal}}`)).not.toMatch(/sesame/)
    expect(fault(`serve: {auth: {${provider}, clientId: e, proxy: {from: [10.0.0.0/8]}}}`)).toMatch(
      /exclude each other/,
    )
    const ci = '[{issuer: "https://ci.example.com", audience: a, claims: {}}]'
    expect(fault(`serve: {auth: {ci: ${ci}}}`)).toMatch(/at least one claim/)
  })

  it('replaces variables under serve.auth only, and the secret of the client nowhere else', () => {
    expect(fault('serve: {drift: {observed: "${env:X}"}}', { X: 'y' })).toMatch(/serve.auth only/)
    const auth = 'serve: {auth: {issuer: "https://i", clientId: e, clientSecret: "${env:S}"}}'
    const leaking = `${auth}\nnotify: [{kind: slack, url: "https://x/\${env:S}", on: [drift]}]`
    expect(fault(leaking, { S: 'sesame-sesame' })).toMatch(/holds the secret of the client/)
    const foreign = 'serve: {auth: {issuer: "https://i", clientId: "${env:EDGEWISE_TOKEN}"}}'
    expect(fault(foreign, { EDGEWISE_TOKEN: 'sesame-sesame' })).toMatch(/holds the token/)
  })
})
