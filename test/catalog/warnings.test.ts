import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { findConflicts } from '../../src/core/catalog/conflicts.ts'
import type { Json } from '../../src/core/model/json.ts'

/** Lists the pointers of the warnings of a valid value. */
function listWarnings(item: string, value: Json): string[] {
  const parsed = parseItem(getItemSpec(item), value, 'manifest')
  expect(parsed.problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return parsed.problems.map(({ pointer }) => pointer)
}

const stamp = { speed: '8', begin_time: '00:00', end_time: '23:59' }
const agent = {
  ua_list: 'curl',
  url_case_insensitive: 'yes',
  allow_empty_ua: 'no',
  ua_case_insensitive: 'yes',
  ua_type: 'black',
  ua_match_type: 'pattern',
}
const gzip = {
  gzip_compression_rate: 1,
  gzip_compression_value: 1,
  gzip_compression_unit: 'KB',
  gzip_content_type: ['text/css'],
}
const customer = {
  query_params_op: 'customer',
  query_params_op_way: 'keep',
  query_params_op_when: 'cache',
  params: 'v',
}
const group = { isp: 'default', ips: ['192.0.2.1'], group_sort: 1 }
const keys = { auth_secret_key: 's', auth_access_key: 'a' }

const cases: [item: string, what: string, value: Json, at: string[]][] = [
  [
    'cache_rule',
    'a directory without "/"',
    [{ type: 2, pattern: '/a/,b', time: 1 }],
    ['/0/pattern'],
  ],
  ['cache_rule', 'a path without "/"', [{ type: 3, pattern: 'a.html', time: 1 }], ['/0/pattern']],
  [
    'cache_rule',
    'a suffix and a regex, without warnings',
    ['jpg', 'x'].map((pattern, i) => ({ type: i === 0 ? 1 : 4, pattern, time: 1 })),
    [],
  ],
  ['cache_rule', 'an empty entry', [{ type: 1, pattern: 'jpg,,png', time: 1 }], ['/0/pattern']],
  [
    'cache_rule_list',
    'a directory without "/"',
    [{ match_method: 'dir', pattern: 'a', expire: 1 }],
    ['/0/pattern'],
  ],
  [
    'cache_rule_list',
    'a path without "/"',
    [{ match_method: 'route', pattern: 'a', expire: 1 }],
    ['/0/pattern'],
  ],
  [
    'cache_rule_list',
    'a suffix, without a warning',
    [{ match_method: 'ext', pattern: 'a', expire: 1 }],
    [],
  ],
  [
    'cache_rule_list',
    'customer with all its fields',
    [{ match_method: 'ext', pattern: 'a', expire: 1, ...customer }],
    [],
  ],
  [
    'cache_rule_list',
    'customer without any of its fields',
    [{ match_method: 'ext', pattern: 'a', expire: 1, query_params_op: 'customer' }],
    ['/0/query_params_op', '/0/query_params_op', '/0/query_params_op'],
  ],
  [
    'speed_limit',
    'a directory without "/"',
    [{ type: 'dir', pattern: 'a', ...stamp }],
    ['/0/pattern'],
  ],
  [
    'speed_limit',
    'a path without "/"',
    [{ type: 'route', pattern: 'a', ...stamp }],
    ['/0/pattern'],
  ],
  ['speed_limit', 'a suffix, without a warning', [{ type: 'ext', pattern: 'a', ...stamp }], []],
  [
    'user_agent',
    'a directory without "/"',
    { ...agent, url_match_type: 'dir', url_pattern: 'a' },
    ['/url_pattern'],
  ],
  [
    'user_agent',
    'a path without "/"',
    { ...agent, url_match_type: 'route', url_pattern: 'a' },
    ['/url_pattern'],
  ],
  [
    'user_agent',
    'a suffix, without a warning',
    { ...agent, url_match_type: 'ext', url_pattern: 'a' },
    [],
  ],
  [
    'ip_black_list',
    'an address within a network',
    { list: ['10.1.2.3', '10.0.0.0/8', '11.1.2.3'] },
    ['/list/0'],
  ],
  [
    'ip_white_list',
    'an address within a network of each size',
    { list: ['10.1.2.3', '10.1.2.0/24', '11.1.2.3', '11.1.0.0/16'] },
    ['/list/0', '/list/2'],
  ],
  [
    'ip_black_list',
    'an address outside a network',
    { list: ['10.1.3.0', '10.1.1.255', '10.1.2.0/24'] },
    [],
  ],
  [
    'ip_black_list',
    'the first and the last address of a network',
    { list: ['10.1.2.0', '10.1.2.255', '10.1.2.0/24'] },
    ['/list/0', '/list/1'],
  ],
  [
    'combined_ban',
    'an address within a network',
    [{ configs: { ip: { list: ['10.1.2.3', '10.0.0.0/8'] } } }],
    ['/0/configs/ip/list/0'],
  ],
  [
    'add_response_head',
    'a header twice, in another letter case',
    { list: ['X-A', 'X-B', 'x-a'].map((name) => ({ name, value: '1' })) },
    ['/list/2'],
  ],
  [
    'add_back_source_head',
    'a header twice, in another letter case',
    ['X-A', 'x-a'].map((head_name) => ({ head_name, head_value: '1' })),
    ['/1/head_name'],
  ],
  [
    'https',
    'http2 and a redirect without a certificate',
    { cert_id: 0, http2: 'on', force_https: 301 },
    ['/http2', '/force_https'],
  ],
  [
    'https',
    'neither http2 nor a redirect without a certificate',
    { cert_id: 0, http2: 'off', force_https: 0 },
    [],
  ],
  [
    'https',
    'a certificate with http2 and a redirect',
    { cert_id: 1, http2: 'on', force_https: 302 },
    [],
  ],
  [
    'cache_error_code',
    'more than two years',
    { code: ['404'], bcache: 'on', cache_time: 3, cache_unit: 'year' },
    ['/cache_time'],
  ],
  [
    'cache_error_code',
    'two years',
    { code: ['404'], bcache: 'on', cache_time: 730, cache_unit: 'day' },
    [],
  ],
  [
    'smart_compression',
    'fields of the other algorithm',
    { compression_mode: 'gzip', ...gzip, brotli_compression_rate: 1 },
    ['/brotli_compression_rate'],
  ],
  ['smart_compression', 'fields of its own algorithm', { compression_mode: 'gzip', ...gzip }, []],
  [
    'tos_origin',
    'a protocol and a port without custom',
    [{ ...group, origin_mode: 'https', protocol: 'https', port: 443 }],
    ['/0/protocol', '/0/port'],
  ],
  [
    'tos_origin',
    'a protocol and a port with custom',
    [{ ...group, origin_mode: 'custom', protocol: 'https', port: 443 }],
    [],
  ],
  ['tos_origin', 'a host without custom', [{ ...group, host: 'a.example.com' }], ['/0/host']],
  [
    'tos_origin',
    'a host with custom',
    [{ ...group, host_mode: 'custom', host: 'a.example.com' }],
    [],
  ],
  [
    'tos_origin',
    'keys without authentication',
    [{ ...group, ...keys }],
    ['/0/auth_secret_key', '/0/auth_access_key'],
  ],
  ['tos_origin', 'authentication without keys', [{ ...group, auth_type: 'oss' }], ['/0/auth_type']],
  [
    'tos_origin',
    'authentication with one key',
    [{ ...group, auth_type: 'tos', auth_access_key: 'a' }],
    ['/0/auth_type'],
  ],
  [
    'tos_origin',
    'a bucket with oss',
    [{ ...group, auth_type: 'oss', ...keys, auth_bucket_name: 'b' }],
    [],
  ],
  [
    'tos_origin',
    'a bucket with tos',
    [{ ...group, auth_type: 'tos', ...keys, auth_bucket_name: 'b' }],
    ['/0/auth_bucket_name'],
  ],
  [
    'tos_origin',
    'an expiry and a tag with tos',
    [{ ...group, auth_type: 'tos', ...keys, auth_expire: 1, auth_cdn_tag: 't' }],
    [],
  ],
  [
    'tos_origin',
    'an expiry and a tag with oss',
    [{ ...group, auth_type: 'oss', ...keys, auth_expire: 1, auth_cdn_tag: 't' }],
    ['/0/auth_expire', '/0/auth_cdn_tag'],
  ],
]

describe('a value that is valid but probably not intended gets a warning', () => {
  it.each(cases)('%s: %s', (item, _what, value, pointers) => {
    expect(listWarnings(item, value)).toEqual(pointers)
  })

  it('warns of nothing on the wire', () => {
    const parsed = parseItem(getItemSpec('https'), { cert_id: 0, http2: 'on' }, 'wire')
    expect(parsed).toMatchObject({ problems: [], value: { cert_id: 0 } })
  })
})

const window = { speed: '8', begin_time: '00:00', end_time: '23:59' }
/** The warnings of a pattern, wherever a rule of this kind may stand. */
function warnOf(kind: 'ext' | 'dir' | 'route' | 'regex', pattern: string): string[] {
  const type = { ext: 1, dir: 2, route: 3, regex: 4 }[kind]
  const url = { ...agent, url_match_type: kind, url_pattern: pattern }
  const rules: [string, Json][] = [
    ['cache_rule', [{ type, pattern, time: 1 }]],
    ['cache_rule_list', [{ match_method: kind, pattern, expire: 1 }]],
    ['speed_limit', [{ type: kind, pattern, ...window }]],
    ['user_agent', url],
  ]
  const origin = { auth_url: 'https://a.example.com/', match_method: kind, pattern }
  if (kind === 'ext' || kind === 'regex') rules.push(['vendor_origin_auth', origin])
  const start = { start: 's', end: 'e' }
  if (kind === 'regex')
    rules.push(
      ['video_drag', { url: pattern, mp4: 'on', flv: 'on', ...start }],
      ['combined_ban', [{ configs: { url: { list: [pattern] } } }]],
    )
  const found = rules.map(([item, value]) => listWarnings(item, value).length)
  return [...new Set(found)].map(String)
}

describe('patterns that can not be meant', () => {
  it.each([
    ['ext', 'jpg;png'],
    ['ext', 'jpg|png'],
    ['ext', 'jpg png'],
    ['ext', '^jpg$'],
    ['ext', '\\.jpg'],
    ['ext', '*.jpg'],
    ['ext', '(jpg|png)'],
    ['route', '/rooms$'],
    ['route', '^/rooms'],
    ['dir', '/img/|/css/'],
    ['dir', '/img/;/css/'],
    ['dir', '/img/ /css/'],
    ['dir', '/a\\.b/'],
    ['dir', 'img'],
    ['regex', '/\\.css$/i'],
    ['regex', '/\\.(jpg|png)$/'],
    ['regex', '/^\\/rooms/'],
    ['regex', '/banner/gi'],
    ['regex', '/\\/a\\/b[/]c/i'],
    ['regex', '(?i)\\.gif$'],
    ['regex', '/a(?i:b)c'],
    ['regex', '(?s-i)a'],
  ] as const)('warns once of %s %s', (kind, pattern) => {
    expect(warnOf(kind, pattern)).toEqual(['1'])
  })

  it.each([
    ...['jpg', '.jpg', 'tar.gz', 'm3u8', 'html5', 'c++', 'x-flv', 'jpg, png', '7z', 'JPG'].map(
      (pattern) => ['ext', pattern] as const,
    ),
    ...['/a', '/a/*', '/*.jpg', '/a/$metadata', '/a(1).html', '/a;v=1/b', '/~user/', '/.*'].map(
      (pattern) => ['route', pattern] as const,
    ),
    ...['/', '/static/', '/a/,/b/', '/a/*/b/', '/a.b/', '/(x)/'].map(
      (pattern) => ['dir', pattern] as const,
    ),
    ...[
      '.*',
      '/images/',
      '/api/v1/i',
      '/shop/us',
      '/a/ui',
      '^/a/i$',
      '\\.(jpg|png)$',
      '^https?://www\\.example\\.com/.*\\.m3u8(\\?.*)?$',
      '(?:foo|bar)\\.html?$',
      '\\.(?!php)[a-z]+$',
      '(?<=a)b',
      '(?<name>a)b',
      '(a\\(?i)b',
      '[(?i)]',
      '^/~user',
      '/a[$/]i',
      '/v[0-9]+/users/\\d+',
      '/$',
    ].map((pattern) => ['regex', pattern] as const),
  ])('is silent about the ordinary %s %s', (kind, pattern) => {
    expect(warnOf(kind, pattern)).toEqual(['0'])
  })
})

describe('conflicting items', () => {
  it.each([
    ['origin', 'new_origin', 'warning'],
    ['origin_host', 'new_origin', 'warning'],
    ['new_origin', 'extend', 'warning'],
    ['cache_rule', 'cache_rule_list', 'warning'],
    ['ip_white_list', 'ip_black_list', 'error'],
  ])('%s and %s: %s', (item, other, severity) => {
    expect(findConflicts(new Set([item, other, 'timeout']))).toMatchObject([
      { item, other, severity },
    ])
    expect(findConflicts(new Set([item, 'timeout']))).toEqual([])
    expect(findConflicts(new Set([other]))).toEqual([])
  })
})
