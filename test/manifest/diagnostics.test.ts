import { expect, it } from 'vitest'
import { listMarks, createWorkspace } from './test-workspace.ts'
import { itLong } from '../runs.ts'

const domain = 'domain: a.example.com\nconfig:\n'

it.each([
  [
    'an unknown key',
    'domain: a.example.com\nconfg: {}\n',
    '2:1-6 manifest-invalid',
    'Did you mean "config"?',
  ],
  [
    'neither config nor profiles',
    'domain: a.example.com\nvars: {x: y}\n',
    '1:1-7 manifest-invalid',
    '"config: {}" releases all items of the domain',
  ],
  [
    'config and profiles without content',
    'domain: a.example.com\nprofiles: []\nconfig:\n',
    '3:1-7 manifest-invalid',
    'expected items under "config", or profiles, got neither',
  ],
  [
    'items without config, once',
    'domain: a.example.com\norigin: {}\nhttps: {cert_id: 1}\n',
    '2:1-7 manifest-invalid',
    'forgot "config:"? origin, https are items. Write "config:" above, and indent them below it.',
  ],
  [
    'an item of a profile without config',
    'profile: p\ntimeout: {time: 5}\n',
    '2:1-8 profile-invalid',
    'forgot "config:"? "timeout" is an item. Write "config:" above, and indent it below it.',
  ],
  [
    'items that are not indented below config',
    'domain: a.example.com\nconfig:\norigin: {}\nhttps: {cert_id: 1}\n',
    '3:1-7 manifest-invalid',
    'origin, https are items of "config:". Indent them by two spaces.',
  ],
  [
    'an item beside config',
    'domain: a.example.com\nhttps: {cert_id: 1}\nconfig: {timeout: {time: 5}}\n',
    '2:1-6 manifest-invalid',
    '"https" is an item and belongs under "config:". Move it there.',
  ],
  [
    'items under vars, once',
    'domain: a.example.com\nvars:\n  pool: eu\n  https: {cert_id: 1}\n  timeout: {time: 5}\n',
    '4:3-8 manifest-invalid',
    'https, timeout are items and belong under "config:", not under "vars:".',
  ],
  [
    'an item under profiles',
    'profile: p\nprofiles:\n  timeout: {time: 5}\n',
    '3:3-10 profile-invalid',
    '"timeout" is an item and belongs under "config:", not under "profiles:".',
  ],
  [
    'an unknown key with items below',
    'domain: a.example.com\nitems: {https: {cert_id: 1}}\n',
    '2:1-6 manifest-invalid',
    'there is no key "items" in a manifest. Did you mean "config"?',
  ],
  [
    'an unknown item without config',
    'domain: a.example.com\nhtps: {cert_id: 1}\n',
    '2:1-5 manifest-invalid',
    'Did you mean "https"? It is an item and belongs under "config:".',
  ],
  [
    'a key of manifests under config',
    `${domain}  vars: {pool: eu}\n`,
    '3:3-7 item-unknown',
    '"vars" is a key of manifests and profiles. Move it out of "config:".',
  ],
  [
    'a field that is not indented below its item',
    `${domain}  timeout: {time: 5}\n  cert_id: 1\n`,
    '4:3-10 item-unknown',
    'there is no item "cert_id". It is a field of https: indent it below its item.',
  ],
  [
    'items as a list',
    `${domain}  - timeout: {time: 5}\n`,
    '2:1-7 manifest-invalid',
    'expected a mapping of items to values, got a list of 1. Remove the "-".',
  ],
  [
    'a domain as a key',
    'a.example.com:\n  timeout: {time: 5}\n',
    '1:1-15 manifest-invalid',
    'Write "domain: a.example.com", and its items under "config:".',
  ],
  [
    'a list as domain',
    'domain: [a.example.com]\nconfig: {}\n',
    '1:1-7 domain-invalid',
    'got a list of 1. Use "domains" for a list.',
  ],
  [
    'a profile that is not in a list',
    'domain: a.example.com\nprofiles: base\n',
    '2:11-15 manifest-invalid',
    'expected a list of profile names, got "base". Write "[base]".',
  ],
  [
    'a line without a colon',
    `${domain}  https\n  timeout: {time: 5}\n`,
    '3:3-8 yaml-invalid',
    'expected "key: value", got text without ": ".',
  ],
  [
    'a mapping that is not closed',
    `${domain}  timeout: {time: 5\n  https: {cert_id: 1}\n`,
    '4:3-4 yaml-invalid',
    'expected "}" above, which closes the mapping.',
  ],
  [
    'a value of another type than the allowed ones, once',
    `${domain}  https: {cert_id: 1, http2: true}\n`,
    '3:30-34 item-invalid',
    'expected one of "on", "off", got true. Did you mean "on"?',
  ],
  [
    'a key without a blank after its colon, once',
    `${domain}  timeout: {time:60}\n`,
    '3:13-20 yaml-invalid',
    'expected a blank after ":", got none. Write "key: value".',
  ],
  [
    'other indentation in the same mapping',
    `${domain}  timeout: {time: 5}\n   https: {cert_id: 1}\n`,
    '4:1-2 yaml-invalid',
    'expected the indentation of the lines above, got another one.',
  ],
  [
    'a field with two letters swapped',
    `${domain}  timeout: {tiem: 5, time: 5}\n`,
    '3:13-17 item-invalid',
    'Did you mean "time"?',
  ],
  ['an unknown item', `${domain}  htps: {}\n`, '3:3-7 item-unknown', 'Did you mean "https"?'],
  [
    'an unknown field, at its key',
    `${domain}  https: {cert_id: 1, htp2: on}\n`,
    '3:23-27 item-invalid',
    'Did you mean "http2"?',
  ],
  [
    'an unknown field set to null',
    `${domain}  https: {cert_id: 1, htp2: null}\n`,
    '3:23-27 item-invalid',
    'Did you mean "http2"?',
  ],
  [
    'an unknown item set to null',
    `${domain}  htps: null\n`,
    '3:3-7 item-unknown',
    'Did you mean "https"?',
  ],
  [
    'a missing field, at its parent',
    `${domain}  https: {http2: on}\n`,
    '3:3-8 item-invalid',
    '"cert_id" is required',
  ],
  [
    'a wrong value, at the value',
    `${domain}  https: {cert_id: 1, http2: yes}\n`,
    '3:30-33 item-invalid',
    'expected one of "on", "off", got "yes"',
  ],
  [
    'inside a list entry',
    `${domain}  deny_url:\n    urls:\n      - x\n      - [y]\n`,
    '6:9-12 item-invalid',
    'expected a string',
  ],
  [
    'an action',
    `${domain}  ip_black_list: {list: [192.0.2.1], mode: append}\n`,
    '3:44-50 item-invalid',
    '',
  ],
  [
    '$unset of an item that cannot be unset',
    `${domain}  timeout: {$unset: true}\n`,
    '3:3-10 unset-unavailable',
    'set "service: {unset: true}" in edgewise.yaml',
  ],
  [
    '$unset: false',
    `${domain}  https: {$unset: false}\n`,
    '3:11-17 item-invalid',
    'expected "$unset: true"',
  ],
  [
    '$unset next to another key',
    `${domain}  https: {$unset: true, cert_id: 1}\n`,
    '3:25-32 item-invalid',
    'as the only key',
  ],
  [
    '$unset of a field',
    `${domain}  https: {cert_id: 1, http2: {$unset: true}}\n`,
    '3:31-37 item-invalid',
    'applies to a whole item, or to a field that the service never shows',
  ],
  [
    '$append of a string',
    `${domain}  extend: {squid: {$append: x}}\n`,
    '3:20-27 item-invalid',
    'expected a list',
  ],
  [
    'a value in a list that is prepended',
    `${domain}  ip_black_list: {list: {$prepend: [nonsense], $append: [192.0.2.1]}}\n`,
    '3:37-45 item-invalid',
    'expected an IP address',
  ],
  [
    'an item without a wire name',
    `${domain}  deny_protocol: {protocol: http}\n`,
    '3:3-16 item-unnamed',
    'itemKeys: {deny_protocol: deny_protocol}',
  ],
  [
    'an unknown variable',
    `${domain}  origin_host: {host: "\${var:x}"}\n`,
    '3:23-33 reference-unknown',
    'there is no variable "x"',
  ],
  [
    'an unknown profile',
    'domain: a.example.com\nprofiles: [nope]\n',
    '2:12-16 profile-unknown',
    'there is no profile "nope"',
  ],
  [
    'an invalid domain name',
    'domain: localhost\nconfig: {}\n',
    '1:9-18 domain-invalid',
    'got "localhost"',
  ],
  [
    'a domain twice in a list',
    'domains: [a.example.com, A.example.com]\nconfig: {}\n',
    '1:26-39 domain-duplicate',
    '',
  ],
  [
    'domain and domains',
    'domain: a.example.com\ndomains: [b.example.com]\nconfig: {}\n',
    '2:1-8 manifest-invalid',
    'got both',
  ],
  [
    'neither domain nor domains',
    'domian: a.example.com\n',
    '1:1-22 manifest-invalid',
    'Did you mean "domain"?',
  ],
  ['a document that is a list', '- 1\n', '1:1-4 manifest-invalid', 'list of 1. Remove the "-".'],
  [
    'a variable that is not text',
    'domain: a.example.com\nvars: {x: true}\nconfig: {}\n',
    '2:11-15 manifest-invalid',
    'expected a string or a number, got true',
  ],
  [
    'a profile twice in a list',
    'domain: a.example.com\nprofiles: [p, p]\n---\nprofile: p\n',
    '2:15-16 manifest-invalid',
    'is listed twice',
  ],
  [
    'a domain in a profile',
    'profile: p\ndomain: a.example.com\n',
    '2:1-7 profile-invalid',
    'a profile can\'t have "domain"',
  ],
])('reports %s', (_what, text, mark, detail) => {
  const workspace = createWorkspace({ 'domains/a.yaml': text })
  expect(listMarks(workspace)).toEqual([`domains/a.yaml:${mark}`])
  expect(workspace.diagnostics[0]?.detail).toContain(detail)
  expect(workspace.diagnostics[0]?.severity).toBe('error')
})

it('accepts a manifest with profiles and without config', () => {
  const workspace = createWorkspace({
    'domains/a.yaml':
      'domain: a.example.com\nprofiles: [p]\n---\n' +
      'domain: b.example.com\nprofiles: [p]\nconfig: null\n---\n' +
      'domain: c.example.com\nconfig: {}\n---\nprofile: p\n',
  })
  expect(workspace.diagnostics).toEqual([])
})

it('produces the diagnostic of the contract', () => {
  const { diagnostics } = createWorkspace({
    'domains/www.yaml': `${domain}  https: {cert_id: 1, http2: yes}\n`,
  })
  expect(diagnostics).toEqual([
    {
      severity: 'error',
      code: 'item-invalid',
      summary: 'The service refuses this value',
      detail: 'expected one of "on", "off", got "yes". Did you mean "on"?',
      file: 'domains/www.yaml',
      document: 0,
      line: 3,
      column: 30,
      endLine: 3,
      endColumn: 33,
      domain: 'a.example.com',
      item: 'https',
      pointer: '/config/https/http2',
    },
  ])
})

it('reports an appended entry in the file that appends it', () => {
  const { diagnostics } = createWorkspace({
    'profiles/p.yaml': 'profile: p\nconfig: {ip_black_list: {list: [192.0.2.1, 192.0.2.2]}}\n',
    'domains/a.yaml':
      'domain: a.example.com\nprofiles: [p]\nconfig:\n' +
      '  ip_black_list: {list: {$append: [192.0.2.3, nonsense]}}\n',
  })
  expect(diagnostics).toMatchObject([
    {
      file: 'domains/a.yaml',
      line: 4,
      column: 47,
      endColumn: 55,
      pointer: '/config/ip_black_list/list/$append/1',
    },
  ])
})

it('reports a problem of all domains of a list once', () => {
  const { diagnostics } = createWorkspace({
    'domains/a.yaml':
      'domains: [a.example.com, b.example.com, c.example.com]\n' +
      'config: {https: {cert_id: x}, timeout: {time: 1, "${domain}": 2}, ' +
      'origin_host: {host: "-${domain}"}}\n',
  })
  expect(
    diagnostics.map(({ domain: name, item, detail }) => [
      name,
      item,
      /\(.* and \d+ more\)$/.exec(detail)?.[0],
    ]),
  ).toEqual([
    ['a.example.com', 'https', '(a.example.com and 2 more)'],
    ['a.example.com', 'timeout', '(a.example.com and 2 more)'],
    ['a.example.com', 'origin_host', undefined],
    ['b.example.com', 'origin_host', undefined],
    ['c.example.com', 'origin_host', undefined],
  ])
})

it('reports both places of a conflict', () => {
  const workspace = createWorkspace({
    'domains/a.yaml':
      `${domain}  ip_black_list: {list: [192.0.2.1]}\n  ip_white_list: {list: [192.0.2.2]}\n` +
      '  cache_rule: []\n  cache_rule_list: []\n',
    'domains/b.yaml': 'domain: a.example.com\nconfig: {}\n---\nprofile: p\n---\nprofile: p\n',
  })
  expect(workspace.diagnostics).toMatchObject([
    {
      code: 'item-conflict',
      severity: 'error',
      line: 4,
      related: [{ line: 3, message: '"ip_black_list" is declared here' }],
    },
    {
      code: 'domain-duplicate',
      file: 'domains/b.yaml',
      related: [{ file: 'domains/a.yaml', line: 1, column: 9 }],
    },
    {
      code: 'profile-duplicate',
      document: 2,
      related: [{ file: 'domains/b.yaml', line: 4, column: 10 }],
    },
  ])
  expect(workspace.desired.get('a.example.com')?.has('ip_white_list')).toBe(false)
})

function withNewOrigin(value: string) {
  return createWorkspace({
    'domains/a.yaml': `${domain}  origin: {default_master: 192.0.2.1}\n  new_origin: ${value}\n`,
  })
}

it('warns of items that are rarely intended together, unless one is unset', () => {
  expect(withNewOrigin('[{origin: 192.0.2.1}]').diagnostics).toMatchObject([
    { code: 'item-conflict', severity: 'warning', line: 3 },
  ])
  expect(withNewOrigin('{$unset: true}').diagnostics).toEqual([])
  expect(withNewOrigin('[{origin: 192.0.2.1}]').desired.get('a.example.com')?.size).toBe(2)
})

itLong('reports cycles of profiles of any length with their path', () => {
  const ring = Array.from(
    { length: 300 },
    (_, i) => `profile: p${i}\nprofiles: [p${(i + 1) % 300}]\n`,
  ).join('---\n')
  const { diagnostics } = createWorkspace({
    'profiles/p.yaml': 'profile: a\nprofiles: [b]\n---\nprofile: b\nprofiles: [a]\n',
    'profiles/ring.yaml': ring,
    'domains/a.yaml': 'domain: x.example.com\nprofiles: [a, p7]\n',
  })
  expect(diagnostics.map(({ code }) => code)).toEqual(['profile-cycle', 'profile-cycle'])
  expect(diagnostics[0]?.detail).toContain('a → b → a')
})
