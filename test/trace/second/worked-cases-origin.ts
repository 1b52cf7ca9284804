import type { Case } from './worked-cases.ts'
import { at, crl, newer, none, plain } from './worked-parts.ts'

/** Worked cases 52 to 62 of request semantics, 9. */
const url = 'origin.url'
const seconds = 'cache.seconds'
const policy = 'cache.policy'

const n = {
  new_origin: [
    { origin: '192.0.2.1', level: 20, weight_level: 60 },
    {
      origin: '192.0.2.2',
      level: 20,
      weight_level: 40,
      protocol: 'https',
      port: 8443,
      host: 'o.example.net',
    },
    { origin: '192.0.2.3', level: 10 },
  ],
  origin_host: { host: 'h.example.net' },
}
const byCarrier = { new_origin: [{ origin: '192.0.2.1', isp: 'dx' }, { origin: '192.0.2.2' }] }
const one = (address: string, weight: number | null): unknown => [{ address, weight }]
const main = 'origin.main'
const tos = {
  tos_origin: [
    { isp: 'default', ips: ['192.0.2.1'], group_sort: 1 },
    { isp: 'default', ips: ['192.0.2.2'], group_sort: 2 },
  ],
}
const black = { ip_black_list: { list: ['10.0.0.0/8', '203.0.113.7'] } }
const extend = { extend: { squid: 'anything' } }

function rewrite(...pairs: [string, string][]): Record<string, unknown> {
  return {
    source_url_rewrite: pairs.map(([origin_url, target_url]) => ({ origin_url, target_url })),
  }
}

const w = rewrite(['/test/(.*)/(.*).jpg', '/newtest/$1/$2.apk'])
const back = (more = {}): Record<string, unknown> => ({
  add_back_source_head: [{ head_name: 'X-T', head_value: 't', ...more }],
})

export const originCases: Case[] = [
  {
    id: '53',
    items: n,
    request: { url: `${plain}:8080/` },
    expect: {
      [main]: [
        { address: '192.0.2.1', weight: 60 },
        { address: '192.0.2.2', weight: 40 },
      ],
      'origin.backups': [one('192.0.2.3', 1)],
      'origin.protocol': ['http', 'https'],
      'origin.port': [8080, 8443],
      'origin.host': ['h.example.net', 'o.example.net'],
    },
  },
  { id: '54a', items: byCarrier, request: at('/'), expect: { [main]: '?NG isp,R52' } },
  {
    id: '54b',
    items: byCarrier,
    request: { ...at('/'), isp: 'dx' },
    expect: { [main]: '?R52', 'origin.port': 443 },
  },
  {
    id: '54c',
    items: byCarrier,
    request: { ...at('/'), isp: 'lt' },
    expect: { [main]: one('192.0.2.2', 1) },
  },
  {
    id: '55',
    items: {
      origin: {
        default_master: '192.0.2.10,192.0.2.11',
        default_slave: '198.51.100.5',
        origin_mode: 'custom',
        ori_https: 'no',
        port: 800,
      },
    },
    request: at('/'),
    expect: {
      [main]: [
        { address: '192.0.2.10', weight: null },
        { address: '192.0.2.11', weight: null },
      ],
      'origin.backups': [one('198.51.100.5', null)],
      'origin.protocol': 'http',
      'origin.port': 800,
      'origin.host': 'www.example.com',
    },
  },
  {
    id: '56a',
    items: { ...black, ...extend },
    request: { ...at('/'), ip: '10.1.1.1' },
    expect: { [main]: '?UD extend', 'access.decision': 'denied' },
  },
  {
    id: '56b',
    unmanaged: ['extend'],
    request: at('/'),
    expect: { [main]: '?UM extend', 'managed origin.main': one('192.0.2.10', null) },
  },
  {
    id: '57a',
    items: tos,
    request: at('/'),
    expect: { 'origin.item': '?R51', 'origin.protocol': 'https' },
  },
  {
    id: '57b',
    items: tos,
    candidates: { origin: [null] },
    request: at('/'),
    expect: { 'origin.item': 'tos_origin', [main]: '?R54' },
  },
  { id: '58a', items: w, request: at('/test/x/y/z.jpg'), expect: { [url]: '/newtest/x/y/z.apk' } },
  { id: '58b', items: w, request: at('/test/a/b.jpg?x=1'), expect: { [url]: '?R4,R59' } },
  {
    id: '59a',
    items: rewrite(['/(a|b)*/c', '/$1']),
    request: at('/ab/c'),
    expect: { [url]: '?UD source_url_rewrite/0' },
  },
  {
    id: '59b',
    items: rewrite(['/a/.*', '/x'], ['/a/b.*', '/y']),
    request: at('/a/b'),
    expect: { [url]: '?R58' },
  },
  {
    id: '60',
    items: {
      ...w,
      ...crl(newer('ext', 'apk', 60, { priority: 1 }), newer('ext', 'jpg', 90, { priority: 2 })),
    },
    request: at('/test/a/b.jpg'),
    expect: { [seconds]: '?R3', 'cache.key': '?R3', [policy]: 'cache' },
  },
  {
    id: '61a',
    items: back({ write_when_exists: 'no' }),
    request: { ...at('/'), headers: { 'X-T': 'mine' } },
    expect: { 'origin.headers.x-t': ['mine'] },
  },
  {
    id: '61b',
    items: back({ write_when_exists: 'no' }),
    request: at('/'),
    expect: { 'origin.headers.x-t': '?NG headers.x-t' },
  },
  {
    id: '61c',
    items: back({ write_when_exists: 'yes' }),
    request: at('/'),
    expect: { 'origin.headers.x-t': ['t'] },
  },
  {
    id: '62a',
    items: { client_real_ip: { head: 'X-Real' } },
    request: { ...at('/'), ip: '192.0.2.9', headers: none },
    expect: { 'origin.headers.x-real': '?R30' },
  },
  {
    id: '62b',
    items: { ...n, connect_timeout: { origin_connect_timeout: '30' } },
    request: at('/'),
    expect: { 'origin.connectTimeout': '?R68' },
  },
  { id: '62c', items: n, request: at('/'), expect: { 'origin.connectTimeout': 15 } },
]
