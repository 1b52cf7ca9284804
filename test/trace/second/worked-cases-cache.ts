import type { Case } from './worked-cases.ts'
import { at, cr, crl, newer, none, plain } from './worked-parts.ts'

/** Worked cases 35 to 51 of request semantics, 9. */
const url = 'origin.url'
const rule = 'cache.rule'
const seconds = 'cache.seconds'
const policy = 'cache.policy'

const list = crl(
  newer('ext', 'jpg,png,gif', 3600, {
    priority: 1,
    query_params_op: 'customer',
    query_params_op_way: 'keep',
    query_params_op_when: 'cache_back_source',
    params: 'index',
  }),
  newer('dir', '/static/,/img/', 30, { expire_unit: 'D', priority: 2 }),
)

const old = cr(1, 'jpg,png', 360, { ignore_query: 'on', ignore_no_cache: 'on' })
const jpg = crl(newer('ext', 'jpg', 60))
const uncached = newer('ext', 'jpg', 60, { cache_or_not: 'no' })
const endless = newer('ext', 'jpg', 0, { cache_or_not: 'yes' })

export const cacheCases: Case[] = [
  {
    id: '35',
    items: list,
    request: at('/img/a.JPG?v=2&index=1'),
    expect: {
      [rule]: '/0',
      also: ['/1'],
      [seconds]: 3600,
      'cache.obeysNoCache': true,
      'key.query': 'index=1',
      [url]: '/img/a.JPG?index=1',
    },
  },
  {
    id: '36a',
    items: list,
    request: at('/static/x.css?v=1'),
    expect: { [rule]: '/1', [seconds]: 2_592_000, [url]: '/static/x.css?v=1' },
  },
  {
    id: '36b',
    items: list,
    request: at('/x.css'),
    expect: { [rule]: null, [policy]: '?R40', [url]: '/x.css' },
  },
  {
    id: '37a',
    items: cr(1, 'jpg', 60),
    unmanaged: ['cache_rule_list'],
    request: at('/a.jpg'),
    expect: { [seconds]: '?R38,R40,UM cache_rule_list', 'managed cache.seconds': 60 },
  },
  {
    id: '37b',
    items: cr(1, 'jpg', 60),
    unmanaged: ['cache_rule_list'],
    assume: { R38: 'rule-first' },
    request: at('/a.jpg'),
    expect: { [seconds]: 60 },
  },
  {
    id: '38a',
    items: crl(newer('dir', '/a/', 60, { priority: 9 }), newer('ext', 'jpg', 120, { priority: 1 })),
    request: at('/a/b.jpg'),
    expect: { [rule]: '/1' },
  },
  {
    id: '38b',
    items: crl(newer('dir', '/a/', 60), newer('ext', 'jpg', 120)),
    request: at('/a/b.jpg'),
    expect: { [rule]: '?R14', [seconds]: '?R14', [policy]: 'cache' },
  },
  ...(
    [
      ['a', '/a/b.jpg', '?R39'],
      ['b', '/b.css', 9],
    ] as const
  ).map(([row, path, answer]) => ({
    id: `39${row}`,
    items: crl(
      newer('dir', '/a/', 60),
      newer('ext', 'jpg', 120, { priority: 1 }),
      newer('ext', 'css', 9),
    ),
    request: at(path),
    expect: { [seconds]: answer },
  })),
  {
    id: '40',
    items: old,
    request: at('/a.png?x'),
    expect: {
      [seconds]: 360,
      'cache.obeysNoCache': false,
      'cache.followsOrigin': false,
      'key.query': null,
      [url]: '/a.png',
    },
  },
  { id: '41a', items: old, request: at('/a.PNG'), expect: { [rule]: '?R6' } },
  {
    id: '41b',
    items: cr(1, 'jpg,png', 0, { ignore_query: 'on', ignore_no_cache: 'on' }),
    request: at('/a.png?x'),
    expect: { [policy]: 'bypass', [seconds]: 0, 'cache.key': null, [url]: '/a.png?x' },
  },
  {
    id: '41c',
    items: { ...old, ...crl(newer('ext', '.jpg', 60)) },
    request: at('/a.jpg'),
    expect: { [seconds]: '?R38' },
  },
  { id: '42a', items: crl(uncached), request: at('/a.jpg'), expect: { [policy]: 'bypass' } },
  { id: '42b', items: crl(uncached), request: at('/jpg'), expect: { [rule]: null } },
  {
    id: '42c',
    items: crl(endless),
    request: at('/a.jpg'),
    expect: { [policy]: 'cache', [seconds]: '?R41' },
  },
  {
    id: '43a',
    items: crl(newer('route', '/a/*', 60)),
    request: at('/a/b'),
    expect: { [rule]: '/0' },
  },
  {
    id: '43b',
    items: crl(newer('route', '/a/*', 60)),
    request: at('/a/b/c'),
    expect: { [rule]: '?R8' },
  },
  {
    id: '43c',
    items: crl(newer('route', '/a-b', 60)),
    request: at('/a%2Db'),
    expect: { [rule]: '?R2' },
  },
  {
    id: '43d',
    items: crl(newer('route', '/I.html', 60, { case_ignore: 'no' })),
    request: at('/i.html'),
    expect: { [rule]: null },
  },
  {
    id: '44a',
    items: crl(newer('dir', '/static', 60)),
    request: at('/static2/x'),
    expect: { [rule]: '?R10' },
  },
  {
    id: '44b',
    items: crl(newer('dir', '/static', 60)),
    request: at('/static/a/x'),
    expect: { [rule]: '/0' },
    assumed: ['R11'],
  },
  {
    id: '44c',
    items: crl(newer('dir', 'static/', 60)),
    request: at('/static/x'),
    expect: { [rule]: '?R9', [seconds]: '?R40,R9' },
  },
  {
    id: '45a',
    items: crl(newer('ext', 'tar.gz', 60)),
    request: at('/x.tar.gz'),
    expect: { [rule]: '?R12' },
  },
  {
    id: '45b',
    items: crl(newer('regex', '.*\\.php.*', 60)),
    request: at('/a?f=x.php'),
    expect: { [rule]: '?R5' },
  },
  {
    id: '46a',
    items: cr(4, '^https://www\\.example\\.com/(v{1,3}|w)/.*', 60),
    request: at('/vv/a?x=1'),
    expect: { [rule]: '/0' },
  },
  { id: '46b', items: cr(4, '\\.jpg$', 60), request: at('/a.jpg'), expect: { [rule]: '?R4' } },
  {
    id: '46c',
    items: cr(4, '^(?!p).*$', 60),
    request: at('/a'),
    expect: { [rule]: '?UD cache_rule/0/pattern' },
  },
  {
    id: '47',
    items: { ...jpg, cache_share: { share_way: 'inner_share' } },
    request: { url: `${plain}/a.jpg` },
    expect: {
      'cache.key': { domains: ['www.example.com'], scheme: 'any', path: '/a.jpg', query: null },
    },
  },
  {
    id: '48',
    items: { ...jpg, cache_share: { share_way: 'cross_single_share', domain: 'a.example.com' } },
    request: at('/a.jpg'),
    expect: {
      'cache.key': {
        domains: ['a.example.com', 'www.example.com'],
        scheme: 'https',
        path: '/a.jpg',
        query: null,
      },
    },
  },
  {
    id: '49a',
    items: {
      ...jpg,
      cache_error_code: {
        code: ['404', '5XX'],
        bcache: 'on',
        cache_time: 10,
        cache_unit: 'minute',
      },
    },
    request: { ...at('/a.jpg'), origin: { status: 404 } },
    expect: { 'cache.lifetime': 600, 'cache.stored': true },
  },
  {
    id: '49b',
    items: {
      ...jpg,
      cache_error_code: {
        code: ['404', '5XX'],
        bcache: 'on',
        cache_time: 10,
        cache_unit: 'minute',
      },
    },
    request: { ...at('/a.jpg'), method: 'GET', origin: { status: 410, headers: none } },
    expect: { 'cache.stored': '?R44' },
  },
  ...(
    [
      ['50a', {}, 'no-store', { 'cache.stored': false, 'cache.lifetime': 60 }],
      ['50b', {}, 'private', { 'cache.stored': '?R43' }],
      [
        '51a',
        { follow_expired: 'yes' },
        'max-age=5',
        { 'cache.stored': true, 'cache.lifetime': 5 },
      ],
      ['51b', { follow_expired: 'yes' }, null, { 'cache.lifetime': '?R42' }],
    ] as const
  ).map(([id, more, control, expected]) => ({
    id,
    items: crl(newer('ext', 'jpg', 60, more)),
    request: {
      ...at('/a.jpg'),
      method: 'GET',
      origin: { status: 200, headers: { 'Cache-Control': control, ...none } },
    },
    expect: expected,
  })),
]
