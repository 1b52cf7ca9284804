import type { Case } from './worked-cases.ts'

/** Worked cases 23 to 33 of request semantics, 9. */
const home = 'https://www.example.com'
const plain = 'http://www.example.com'
const a = 'access.decision'
const o = 'outcome'

function agent(path: string, text: string | null): Record<string, unknown> {
  return { url: `${home}${path}`, headers: { 'user-agent': text } }
}

function ban(...configs: unknown[]): Record<string, unknown> {
  return { combined_ban: configs.map((one) => ({ configs: one })) }
}

const sent = { url: { list: ['/admin/'] }, method: { method_type: 'post' } }
const secure = { https: { cert_id: 1001, force_https: 301 } }

export const banCases: Case[] = [
  {
    id: '23a',
    items: ban({ ua: { list: ['Bot'] } }),
    request: agent('/', 'bot/1'),
    expect: { [a]: '?R24' },
  },
  {
    id: '23b',
    items: ban({ ua: { list: ['Bot'] } }),
    request: agent('/', 'Bot/1'),
    expect: { [a]: 'denied', 'rule combined_ban': '/0' },
  },
  {
    id: '23c',
    items: ban({ ua: { list: ['^curl'] } }),
    request: agent('/', 'curl/8.0.1'),
    expect: { [a]: '?R22' },
  },
  {
    id: '23d',
    items: ban({ ua: { list: ['^curl/8.0$'] } }),
    request: agent('/', 'curl/8.0.1'),
    expect: { [a]: 'allowed' },
  },
  {
    id: '24a',
    items: ban(sent),
    request: { url: `${home}/admin/x` },
    expect: { [a]: '?NG method' },
  },
  {
    id: '24b',
    items: ban(sent),
    request: { url: `${home}/admin/x`, method: 'GET' },
    expect: { [a]: 'allowed' },
  },
  { id: '24c', items: ban(sent), request: { url: `${home}/x` }, expect: { [a]: 'allowed' } },
  {
    id: '25',
    items: ban({ ip: { list: ['10.0.0.0/8'], is_match: 'no' }, referer: { list: ['BAD'] } }),
    request: { url: `${home}/`, headers: { Referer: 'http://bad.org' }, ip: '192.0.2.1' },
    expect: { [a]: 'denied' },
  },
  {
    id: '26',
    items: ban({ url: { list: ['^(?!/ok)'] } }),
    request: { url: `${home}/` },
    expect: { [a]: '?UD combined_ban/0/configs/url/list/0' },
  },
  {
    id: '27a',
    items: { deny_url: { urls: [`${home}/5.txt`] } },
    request: { url: `${home}/5.txt` },
    expect: { [a]: 'denied' },
  },
  {
    id: '27b',
    items: { deny_url: { urls: [`${home}/5.txt`] } },
    request: { url: `${home}/5.txt?x=1` },
    expect: { [a]: '?R4' },
  },
  {
    id: '27c',
    items: { deny_url: { urls: ['http://www.test.com/5.txt'] } },
    request: { url: `${home}/5.txt` },
    expect: { [a]: 'allowed' },
  },
  {
    id: '28',
    items: { deny_url: { urls: [`${home}/a?b=1`] } },
    request: { url: `${home}/a?b=1` },
    expect: { [a]: '?R27' },
  },
  {
    id: '29a',
    items: { visit_areas_limit: { limit_type: 'white', country_list: 'china,japan' } },
    request: { url: `${home}/`, country: 'canada' },
    expect: { [a]: 'denied' },
  },
  {
    id: '29b',
    items: { visit_areas_limit: { limit_type: 'white', country_list: 'china,japan' } },
    request: { url: `${home}/` },
    expect: { [a]: '?NG country' },
  },
  ...(
    [
      ['a', { method: 'POST', bodySize: 1_020_000 }, '?R29'],
      ['b', { method: 'POST', bodySize: 1_000_000 }, 'allowed'],
      ['c', { method: 'PUT', bodySize: 5_000_000 }, '?R28'],
      ['d', { bodySize: 0 }, 'allowed'],
    ] as const
  ).map(([row, request, answer]) => ({
    id: `30${row}`,
    items: { post_upload_size_limit: { limit_value: 1 } },
    request: { url: `${home}/`, ...request },
    expect: { [a]: answer },
  })),
  {
    id: '31a',
    items: secure,
    request: { url: `${plain}/a?b=1` },
    expect: { [o]: 'redirect', 'response.status': 301, 'response.location': `${home}/a?b=1` },
  },
  {
    id: '31b',
    items: secure,
    request: { url: 'http://WWW.example.com.:80/a#f' },
    expect: { 'response.location': `${home}/a`, 'redirect.location': `${home}/a` },
  },
  {
    id: '32a',
    items: secure,
    request: { url: `${plain}:8080/a` },
    expect: { [o]: 'redirect', 'response.location': '?R78' },
  },
  {
    id: '32b',
    items: { https: { cert_id: 0, force_https: 301 } },
    request: { url: `${plain}/` },
    expect: { [o]: 'served' },
  },
  {
    id: '32c',
    items: { https: { cert_id: 0, force_https: 301 } },
    request: { url: `${home}/` },
    expect: { [o]: 'refused', 'response.status': null },
  },
  {
    id: '33a',
    items: {
      https: { cert_id: 1001, force_https: 302 },
      deny_protocol: { protocol: 'http' },
    },
    request: { url: `${plain}/` },
    expect: { [a]: 'denied', [o]: '?R16' },
  },
  {
    id: '33b',
    unmanaged: ['https'],
    request: { url: `${plain}/` },
    expect: { 'connection.decision': 'open', [o]: '?UM https' },
  },
]
