/**
 * The worked cases of request semantics, 9. Base: see `base`. A text that begins with `?` is an
 * unknown with these reasons: Rn, NG fact, UM item, ID item, UD place, separated by commas.
 */
export interface Case {
  /** Number of the case and a letter for the row. */
  id: string
  /** Raw values by item, beside the base. */
  items?: Record<string, unknown>
  /** Raw candidates by item. */
  candidates?: Record<string, unknown[]>
  unmanaged?: string[]
  assume?: Record<string, unknown>
  request: Record<string, unknown>
  /** Expected answers by field. */
  expect: Record<string, unknown>
  /** Settled readings that must be listed as assumed. */
  assumed?: string[]
}

export const base = {
  origin: { default_master: '192.0.2.10' },
  https: { cert_id: 1001 },
}

const home = 'https://www.example.com'
const none = { '*': null }

const black = { ip_black_list: { list: ['10.0.0.0/8', '203.0.113.7'] } }
const white = { ip_white_list: { list: ['192.168.1.0/24', '2001:db8::1'] } }
const a = 'access.decision'
const o = 'outcome'
const url = 'origin.url'
const deciding = 'access.deciding'

const referer8 = { referer: { type: 2, list: ['*.example.com', 'trusted.com'] } }
const exempt = { visit_deny_whitelist: [{ url: '/a.jpg', turn_on: true }] }

function from(referer: string | null): Record<string, unknown> {
  return { url: `${home}/`, headers: { Referer: referer } }
}

function ip(address: string): Record<string, unknown> {
  return { url: `${home}/`, ip: address }
}

const agents = {
  ua_type: 'black',
  ua_match_type: 'pattern',
  ua_list: 'curl\nBad Bot',
  url_match_type: 'dir',
  url_pattern: '/api/',
  url_case_insensitive: 'yes',
  ua_case_insensitive: 'yes',
  allow_empty_ua: 'no',
}

function agent(path: string, text: string | null): Record<string, unknown> {
  return { url: `${home}${path}`, headers: { 'user-agent': text } }
}

const lists: Case[] = [
  {
    id: '1',
    items: black,
    request: ip('10.1.2.3'),
    expect: {
      [a]: 'denied',
      [deciding]: 'ip_black_list',
      'rule ip_black_list': '/list/0',
      [o]: 'denied',
      'response.status': '?R17',
    },
  },
  { id: '2a', items: black, request: ip('::ffff:10.1.2.3'), expect: { [a]: 'denied' } },
  { id: '2b', items: black, request: ip('203.0.113.8'), expect: { [a]: 'allowed' } },
  { id: '2c', items: black, request: ip('2001:db8::1'), expect: { [a]: 'allowed' } },
  { id: '2d', items: black, request: { url: `${home}/` }, expect: { [a]: '?NG ip' } },
  {
    id: '3a',
    items: white,
    request: ip('192.168.2.1'),
    expect: { [a]: 'denied', 'rule ip_white_list': '' },
  },
  {
    id: '3b',
    items: white,
    request: ip('2001:DB8:0::1'),
    expect: { [a]: 'allowed', 'rule ip_white_list': '/list/1' },
  },
  {
    id: '4a',
    candidates: { ip_black_list: [{ list: ['10.0.0.0/8'] }, { list: ['10.0.0.0/16'] }] },
    request: ip('10.0.1.1'),
    expect: { [a]: 'denied' },
  },
  {
    id: '4b',
    candidates: { ip_black_list: [{ list: ['10.0.0.0/8'] }, { list: ['10.0.0.0/16'] }] },
    request: ip('10.9.9.9'),
    expect: { [a]: '?ID ip_black_list' },
  },
  {
    id: '5a',
    items: { ...black, client_real_ip: { head: 'X-Real' } },
    request: { ...ip('10.1.1.1'), headers: { 'X-Real': '192.0.2.9' } },
    expect: { [a]: '?R30' },
  },
  {
    id: '5b',
    items: { ...black, client_real_ip: { head: 'X-Real' } },
    request: { ...ip('10.1.1.1'), headers: { 'X-Real': '10.2.2.2' } },
    expect: { [a]: 'denied' },
  },
  {
    id: '6a',
    items: black,
    unmanaged: ['combined_ban'],
    request: ip('10.1.1.1'),
    expect: { [a]: 'denied', [deciding]: '?R15,UM combined_ban' },
  },
  {
    id: '6b',
    items: black,
    unmanaged: ['combined_ban'],
    request: ip('192.0.2.1'),
    expect: { [a]: '?UM combined_ban', 'managed access.decision': 'allowed' },
  },
  {
    id: '7a',
    items: { ...black, deny_protocol: { protocol: 'https' } },
    request: ip('10.1.1.1'),
    expect: { [a]: 'denied', [deciding]: '?R15' },
  },
  {
    id: '7b',
    items: { ...black, deny_protocol: { protocol: 'https' } },
    assume: {
      R15: [
        'deny_protocol',
        'ip_black_list',
        'ip_white_list',
        'visit_areas_limit',
        'referer',
        'user_agent',
        'visit_timestamp',
        'combined_ban',
        'deny_url',
        'post_upload_size_limit',
      ],
    },
    request: ip('10.1.1.1'),
    expect: { [deciding]: 'deny_protocol' },
  },
  {
    id: '8a',
    items: referer8,
    request: from('https://a.b.example.com/x'),
    expect: { [a]: 'allowed' },
  },
  {
    id: '8b',
    items: referer8,
    request: from('http://EXAMPLE.com:8080'),
    expect: { [a]: 'allowed' },
  },
  { id: '8c', items: referer8, request: from(null), expect: { [a]: 'allowed' } },
  { id: '9a', items: referer8, request: from('https://xtrusted.com/'), expect: { [a]: 'denied' } },
  { id: '9b', items: referer8, request: from('trusted.com/a'), expect: { [a]: '?R21' } },
  {
    id: '9c',
    items: referer8,
    request: { url: `${home}/` },
    expect: { [a]: '?NG headers.referer' },
  },
  {
    id: '10',
    items: { referer: { type: 2, list: ['trusted.com'], allow_empty: false } },
    request: { url: `${home}/`, headers: none },
    expect: { [a]: 'denied', 'rule referer': '/allow_empty' },
  },
  {
    id: '11',
    items: {
      referer: { type: 1, list: ['bad.org'] },
      head_control: {
        list: [
          { regex: '.*', head_op: 'DEL', head_direction: 'CLI_REQ', head: 'Referer', order: 1 },
        ],
      },
    },
    request: from('http://bad.org/'),
    expect: { [a]: '?R66' },
  },
  {
    id: '12a',
    items: { ...referer8, ...exempt },
    request: { ...from('http://bad.org/'), url: `${home}/a.jpg` },
    expect: { [a]: 'allowed', 'exempt referer': '/0' },
  },
  {
    id: '12b',
    items: { ...referer8, ...exempt },
    request: { ...from('http://bad.org/'), url: `${home}/a.jpg?x=1` },
    expect: { [a]: '?R19' },
  },
  {
    id: '13a',
    items: { ...black, ...exempt },
    request: { ...ip('10.1.1.1'), url: `${home}/a.jpg` },
    expect: { [a]: '?R18' },
  },
  {
    id: '13b',
    items: { ...black, ...exempt },
    request: { ...ip('10.1.1.1'), url: `${home}/b.jpg` },
    expect: { [a]: 'denied' },
  },
  {
    id: '14a',
    items: { user_agent: agents },
    request: agent('/API/x', 'CURL/8.0'),
    expect: { [a]: 'denied' },
  },
  {
    id: '14b',
    items: { user_agent: agents },
    request: { url: `${home}/index.html` },
    expect: { [a]: 'allowed' },
  },
  {
    id: '15a',
    items: { user_agent: agents },
    request: agent('/api/x', null),
    expect: { [a]: 'denied', 'rule user_agent': '/allow_empty_ua' },
  },
  {
    id: '15b',
    items: { user_agent: { ...agents, ua_match_type: 'exact' } },
    request: agent('/api/x', 'curl/8.0'),
    expect: { [a]: 'allowed' },
  },
  {
    id: '15c',
    items: { user_agent: { ...agents, ua_list: 'curl.8' } },
    request: agent('/api/x', 'curl/8.0'),
    expect: { [a]: '?R26' },
  },
]

const signed = {
  pattern: '.*',
  time_format: 'timestamp',
  key: 'k1 k2',
  deadtime: 3600,
  req_uri_type: 1,
  style: '$ourkey$uri$time',
}
const t = { visit_timestamp: signed }
const secret = { visit_timestamp: { ...signed, key: { $secret: 'signing' } } }
const start = 1_700_000_000
const md5 = 'af2bf0b78c92628039568b78e01fc842'
const u = `${home}/v/a.mp4?key=${md5}&time=${start}`
const v = `${home}/v?key=x&time=${start}`
const minute = { visit_timestamp: { ...signed, time_format: 'date_minute' } }
const byMinute = {
  url: `${home}/v?key=x&time=202311142213`,
  signature: 'valid',
  at: start + 60,
}

const signatures: Case[] = [
  {
    id: '17a',
    items: t,
    assume: { R34: 'plain' },
    request: { url: u, at: start + 3600 },
    expect: { [a]: 'allowed', [url]: '?R35' },
  },
  {
    id: '17b',
    items: t,
    assume: { R34: 'plain' },
    request: { url: u, at: start + 3601 },
    expect: { [a]: 'denied', 'rule visit_timestamp': '/deadtime' },
  },
  {
    id: '17c',
    items: t,
    assume: { R34: 'plain' },
    request: { url: u.replace('af2bf', '0f2bf'), at: start + 3600 },
    expect: { [a]: 'denied', 'rule visit_timestamp': '/key' },
  },
  { id: '18a', items: t, request: { url: u, at: start }, expect: { [a]: '?R34' } },
  { id: '18b', items: t, request: { url: u, at: start + 3601 }, expect: { [a]: 'denied' } },
  {
    id: '18c',
    items: t,
    request: { url: `${home}/v/a.mp4` },
    expect: { [a]: 'denied', 'rule visit_timestamp': '/req_uri_type' },
    assumed: ['R32'],
  },
  {
    id: '19a',
    items: t,
    request: { url: `${home}/v?time=${start}&key=x`, signature: 'valid', at: start },
    expect: { [a]: '?R33' },
  },
  {
    id: '19b',
    items: t,
    request: { url: v, signature: 'valid', at: start - 1 },
    expect: { [a]: '?R36' },
  },
  { id: '19c', items: t, request: { url: v, signature: 'valid' }, expect: { [a]: '?NG at' } },
  {
    id: '20a',
    items: secret,
    assume: { R34: 'plain' },
    request: { url: v, at: start },
    expect: { [a]: '?NG secret:signing' },
  },
  {
    id: '20b',
    items: secret,
    assume: { R34: 'plain' },
    request: { url: v, at: start, signature: 'valid' },
    expect: { [a]: 'allowed' },
  },
  {
    id: '21',
    items: { visit_timestamp: { ...signed, req_uri_type: 3, time_format: 'timestamp_hex' } },
    assume: { R34: 'plain', R35: 'key-and-time' },
    request: {
      url: `${home}/6553f100/c1db9d6a8661cd6ff5b670b84027b59f/v/a.mp4`,
      at: start + 60,
    },
    expect: { [a]: 'allowed', [url]: '/v/a.mp4' },
  },
  { id: '22a', items: minute, request: byMinute, expect: { [a]: '?R31' } },
  {
    id: '22b',
    items: minute,
    assume: { R31: 'UTC' },
    request: byMinute,
    expect: { [a]: 'allowed' },
  },
]

export const listCases: Case[] = [...lists, ...signatures]
