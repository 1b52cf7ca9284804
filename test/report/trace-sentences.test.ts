import { expect, it } from 'vitest'
import { resolvePointer, type Json, type JsonObject } from '../../src/core/model/json.ts'
import type { Candidate } from '../../src/core/trace/candidates.ts'
import { buildOutput } from '../../src/core/trace/output.ts'
import type { Visitor } from '../../src/core/trace/request.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compile, trace } from '../../src/core/trace/trace.ts'
import { describeTrace } from '../../src/outlets/report/trace/sentence.ts'

const domain = 'www.example.com'
const site = `https://${domain}`
const base = { origin: { default_master: '192.0.2.10' }, https: { cert_id: 1001 } }

/** Describes what a configuration does to a request; each item has one line in a manifest. */
function describeRequest(
  items: JsonObject,
  request: JsonObject,
  visitor: Visitor = 'usual',
): string {
  const all: JsonObject = { ...base, ...items }
  const candidates = new Map(
    Object.entries(all).map(([key, value]): [string, Candidate[]] => [key, [value]]),
  )
  const traced = trace(compile(domain, candidates, buildSettings()), request, {
    visitor,
    asks: false,
  })
  const output = buildOutput(domain, 'desired', traced, ({ item }) => ({
    file: 'www.yaml',
    line: Object.keys(all).indexOf(item) + 1,
  }))
  return describeTrace({
    output,
    readRule: ({ item, pointer }): Json =>
      Object.hasOwn(all, item) ? (resolvePointer(all[item] ?? null, pointer) ?? null) : null,
  })
}

const jpg = { match_method: 'ext', pattern: 'jpg,png', expire: 1, expire_unit: 'h' }
const list = (rule: JsonObject) => ({ cache_rule_list: [{ ...jpg, ...rule }] })
const ban = (configs: JsonObject) => ({ combined_ban: [{ configs }] })
const signed = {
  pattern: '.*',
  time_format: 'timestamp',
  key: { $secret: 'signing' },
  deadtime: 60,
  req_uri_type: 1,
}
const compression = { content_type: ['text/html'], min_size: 1, min_size_unit: 'KB' }
const limit = { type: 'all', pattern: '.*', speed: '800', begin_time: '18:00', end_time: '23:00' }
const header = { regex: '.*', head_direction: 'SER_REP', head: 'Server', head_op: 'DEL', order: 1 }

/** A question, what the request meets, and a part of the answer; all of it after =. */
type Row = [question: string, items: JsonObject, url: string, more: JsonObject, answer: string]

const rows: Row[] = [
  [
    'why is it not cached: no rule',
    {},
    '/a.jpg',
    {},
    'Not cached: no cache rule matches, and the origin names no time.',
  ],
  [
    'why is it not cached: a rule',
    list({ expire: 0 }),
    '/a.jpg',
    {},
    'Not cached: rule "ext jpg,png" (www.yaml:3) forbids it.',
  ],
  [
    'why is it not cached: its method',
    list({}),
    '/a.jpg',
    { method: 'POST' },
    'Not cached: rule "ext jpg,png" (www.yaml:3) matches, but POST is not cached.',
  ],
  [
    'why is it not cached: its status',
    list({}),
    '/a.jpg',
    { origin: { status: 404 } },
    'Served with 404. Not cached: rule "ext jpg,png" (www.yaml:3) matches, but status 404 is not',
  ],
  [
    'why is it not cached: a header of the origin',
    list({}),
    '/a.jpg',
    { origin: { headers: { 'cache-control': 'no-store' } } },
    '(www.yaml:3) matches, but the origin forbids it.',
  ],
  [
    'why is it not cached: no time of the origin',
    list({ follow_expired: 'yes' }),
    '/a.jpg',
    {},
    '(www.yaml:3) matches, but the origin names no time.',
  ],
  [
    'how long: the time of the origin',
    list({ follow_expired: 'yes' }),
    '/a.jpg',
    { origin: { headers: { 'cache-control': 'max-age=90' } } },
    'Cached for 90 seconds by "ext jpg,png" (www.yaml:3), as the origin says;',
  ],
  [
    'how long: without a rule',
    {},
    '/a.jpg',
    { origin: { headers: { 'cache-control': 'max-age=86400' } } },
    'Cached for 1 day, as the origin says;',
  ],
  [
    'how long: in any case',
    list({ ignore_no_cache_headers: 'yes' }),
    '/a.jpg',
    {},
    'Cached for 1 hour by "ext jpg,png" (www.yaml:3), whatever the origin says;',
  ],
  [
    'how long: a rule without a time',
    list({ expire: 0, cache_or_not: 'yes' }),
    '/a.jpg',
    {},
    '(www.yaml:3) matches, but it names no time.',
  ],
  [
    'what is the key: some arguments',
    list({
      query_params_op: 'customer',
      query_params_op_way: 'keep',
      query_params_op_when: 'cache',
      params: 'a',
    }),
    '/a.jpg?a=1&b=2',
    {},
    '(www.yaml:3), unless the origin forbids it; the key keeps only a.',
  ],
  [
    'what is the key: no query',
    list({ query_params_op: 'cache_back_source_remove' }),
    '/a.jpg?a=1&b=2',
    {},
    '; the key drops the query.',
  ],
  ['what is the key: all', list({}), '/a.jpg?a=1', {}, '; the key is the URL with its query.'],
  [
    'what is the key: of several domains',
    { ...list({}), cache_share: { share_way: 'cross_all_share', domain: 'a.example.com' } },
    '/a.jpg',
    {},
    '; the key is the URL, alike for http and https, shared with a.example.com.',
  ],
  [
    'which origin',
    {
      origin: {
        default_master: '192.0.2.1,192.0.2.2',
        default_slave: '198.51.100.5',
        origin_mode: 'custom',
        ori_https: 'no',
        port: 800,
      },
    },
    '/',
    {},
    'Fetched from 192.0.2.1 or 192.0.2.2 over http, port 800, else from 198.51.100.5.',
  ],
  ['which origin: none', { origin: null }, '/', {}, 'No origin is set.'],
  [
    'which origin: one of extend',
    { extend: { squid: 'x' } },
    '/',
    {},
    'Its origin is unknown, because extend may name another.',
  ],
  [
    'which origin: another URL',
    { source_url_rewrite: [{ origin_url: '/a/(.*)', target_url: '/b/$1' }] },
    '/a/x',
    {},
    'Fetched from 192.0.2.10 over https, as /b/x.',
  ],
  [
    'who is blocked: an address',
    { ip_black_list: { list: ['10.0.0.0/8'] } },
    '/',
    { ip: '10.1.1.1' },
    '=Denied with 403 by ip_black_list: 10.0.0.0/8 (www.yaml:3).',
  ],
  [
    'who is blocked: by a rule',
    ban({ url: { list: ['/admin'] } }),
    '/admin/x',
    {},
    '=Denied with 403 by combined_ban: rule 1 (www.yaml:3).',
  ],
  [
    'who is blocked: a protocol',
    { deny_protocol: { protocol: 'https' } },
    '/',
    {},
    '=Denied with 403 by deny_protocol: protocol https (www.yaml:3).',
  ],
  [
    'who is blocked: an upload',
    { post_upload_size_limit: { limit_value: 1 } },
    '/',
    { method: 'POST', bodySize: 5000000 },
    '=Denied with 403 by post_upload_size_limit: limit_value 1 (www.yaml:3).',
  ],
  [
    'who is blocked: whom no list names',
    { ip_white_list: { list: ['10.0.0.0/8'] } },
    '/',
    {},
    '=Denied with 403 by ip_white_list: no entry matches (www.yaml:3).',
  ],
  [
    'who is blocked: others',
    { ip_black_list: { list: ['10.0.0.0/8'] }, deny_url: { urls: ['/x$'] } },
    '/',
    {},
    'Others are blocked by ip_black_list and deny_url.',
  ],
  [
    'who is blocked: whose URL is not signed',
    { visit_timestamp: signed },
    '/a',
    {},
    '=Denied with 403 by visit_timestamp: the URL is not signed (www.yaml:3).',
  ],
  [
    'who is blocked: perhaps a wrong signature',
    { visit_timestamp: signed },
    '/a?key=x&time=1700000000',
    { at: 1700000000 },
    'Whether it is served is unknown: give --signature valid.',
  ],
  [
    'who is blocked: perhaps an old signature',
    { visit_timestamp: signed },
    '/a?key=x&time=1700000000',
    {},
    'Whether it is served is unknown: give --at TIME.',
  ],
  [
    'who is blocked: perhaps what a secret names',
    { deny_url: { urls: [{ $secret: 'x' }] } },
    '/a',
    {},
    'Whether it is served is unknown: depends on secret x.',
  ],
  [
    'does the redirect work: of an error',
    {
      error_page_rewrite: [
        { error_status_code: 404, redirect_status_code: 302, redirect_url: 'https://e.example/' },
      ],
    },
    '/',
    { origin: { status: 404 } },
    'Served with 302 to https://e.example/.',
  ],
  [
    'what if the origin fails',
    {
      error_page_rewrite: [
        { error_status_code: 503, redirect_status_code: 302, redirect_url: 'https://e.example/' },
      ],
      cache_error_code: {
        code: ['404', '5XX'],
        bcache: 'on',
        cache_time: 10,
        cache_unit: 'minute',
      },
    },
    '/',
    {},
    'Errors: 503 redirected to https://e.example/, 404 and 5xx cached for 10 minutes.',
  ],
  [
    'what if the origin fails: this error',
    {
      cache_error_code: {
        code: ['404', '5XX'],
        bcache: 'on',
        cache_time: 10,
        cache_unit: 'minute',
      },
    },
    '/',
    { origin: { status: 404 } },
    'Served with 404. Error 404 is cached for 10 minutes.',
  ],
  [
    'what if the origin fails: no caching',
    { cache_error_code: { code: ['404'], bcache: 'off' } },
    '/',
    {},
    'Errors: 404 not cached.',
  ],
  [
    'is it compressed: perhaps',
    { compress_response: compression },
    '/',
    {},
    'Compressed if its content type and size fit, no speed limit.',
  ],
  [
    'is it compressed: yes',
    { compress_response: compression },
    '/',
    { origin: { headers: { 'content-type': 'text/html' }, size: 5000 } },
    'Compressed with gzip, no speed limit.',
  ],
  [
    'is it compressed: no',
    { compress_response: compression },
    '/',
    { origin: { headers: { 'content-type': 'image/png' }, size: 5000 } },
    'Not compressed, no speed limit.',
  ],
  [
    'which limit: now',
    { speed_limit: [limit] },
    '/',
    { time: '18:30' },
    'Speed limit 100 KB/s, not compressed.',
  ],
  [
    'which limit: not now',
    { speed_limit: [limit] },
    '/',
    { time: '12:30' },
    'Not compressed, no speed limit.',
  ],
  [
    'which limit: at some time',
    { speed_limit: [limit] },
    '/',
    {},
    'Speed limit unknown (give --time HH:MM), not compressed.',
  ],
  [
    'which limit: always',
    {
      rate_limit: {
        max_rate_count: 10,
        max_rate_unit: 'MB',
        leading_flow_count: 1,
        leading_flow_unit: 'MB',
      },
    },
    '/',
    {},
    'Speed limit 10 MB/s after the first 1 MB, not compressed.',
  ],
  [
    'which header',
    {
      add_response_head: { list: [{ name: 'X-A', value: 'a' }] },
      head_control: { list: [header] },
      client_real_ip: { head: 'X-Real' },
      add_back_source_head: [{ head_name: 'X-T', head_value: 't' }],
    },
    '/',
    {},
    'Sends no server and x-a, to the origin x-real and x-t.',
  ],
  [
    'does the redirect work',
    { https: { cert_id: 1, force_https: 301 } },
    '/a',
    { url: `http://${domain}/a` },
    `=Redirected with 301 to ${site}/a.`,
  ],
  [
    'does the redirect work: of the URL with https',
    { https: { cert_id: 1, force_https: 301 } },
    '/a',
    {},
    'Not compressed, no speed limit. With http it is redirected with 301.',
  ],
  [
    'which header: more than two',
    { add_response_head: { list: ['X-A', 'X-B', 'X-C'].map((name) => ({ name, value: 'a' })) } },
    '/',
    {},
    'Sends x-a and 2 more.',
  ],
  [
    'what if the origin fails: some of the errors of servers',
    {
      cache_error_code: {
        code: ['404', '500', '503'],
        bcache: 'on',
        cache_time: 1,
        cache_unit: 'minute',
      },
    },
    '/',
    {},
    'Errors: 404, 500 and 503 cached for 1 minute.',
  ],
  [
    'without a certificate',
    { https: { cert_id: 0 } },
    '/',
    {},
    '=Refused: https without a certificate.',
  ],
]

it.each(rows)('%s', (_, items, url, more, answer) => {
  const text = describeRequest(items, { url: site + url, ...more })
  if (answer.startsWith('=')) expect(text).toBe(answer.slice(1))
  else expect(text).toContain(answer)
})

it('of an unknown visitor names the fact that decides', () => {
  const items = { ...list({}), ip_black_list: { list: ['10.0.0.0/8'] } }
  expect(describeRequest(items, { url: `${site}/a.jpg` }, 'unknown')).toBe(
    'Whether it is served is unknown: give --ip ADDRESS. Cached for 1 hour by "ext jpg,png" ' +
      '(www.yaml:3), unless the origin forbids it; the key is the URL. ' +
      'Fetched from 192.0.2.10 over https. Not compressed, no speed limit.',
  )
})
