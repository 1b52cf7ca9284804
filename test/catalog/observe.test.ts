import { describe, expect, it } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { diffSnapshots } from '../../src/core/diff/diff-snapshots.ts'
import { detectDrift } from '../../src/core/diff/detect-drift.ts'
import { parseObserved } from '../../src/manifest/observed/observed.ts'
import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import {
  createItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/core/model/item.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { validPayloads } from '../laws/values.ts'

const www = 'www.example.com'
const vault = new SecretVault('test', () => null)
const canonical = (item: ItemKey, value: Json) => getItemSpec(item).canonicalize(value)

/** Detects the drift of one item whose recorded and desired values are equal. */
function detect(item: ItemKey, written: Json, observed: Json) {
  const value = canonical(item, written)
  const state = { ...createItemState(value), at: '2026-11-20T00:00:00.000Z' }
  const recorded = new Map([[www, new Map([[item, state]])]])
  const seen = parseObserved(
    { [www]: { [item]: observed } },
    { recorded, desired: recorded, itemKeys: {}, vault, maker: 'foreign' },
  )
  const { items } = detectDrift(recorded, recorded, seen.observed)
  const [found] = items
  if (found === undefined) throw new TypeError('expected one item')
  return found
}

const cacheRule = { match_method: 'ext', pattern: 'jpg', expire: 60, priority: 1 }
const keyRule = { regex: '.*', head_op: 'ADD', head_direction: 'CLI_REQ' }
const headRule = { ...keyRule, head: 'X-A' }
const speedRule = { type: 'ext', pattern: 'jpg', begin_time: '08:00', end_time: '18:00' }
const signed = {
  pattern: '.*',
  time_format: 'timestamp',
  key: 'k',
  deadtime: 60,
  req_uri_type: 1,
}
const cacheRead = {
  match_method: 'ext',
  pattern: 'jpg',
  expire: '60',
  expire_unit: 's',
  ignore_no_cache_headers: 'no',
  follow_expired: 'no',
  query_params_op: 'do_nothing',
  priority: '1',
}

describe('what comes back otherwise than written', () => {
  it.each<[string, ItemKey, Json, Json, string[]?]>([
    [
      'port and scheme of an origin that is not custom',
      'origin',
      { default_master: '192.0.2.1' },
      { default_master: '192.0.2.1', origin_mode: 'default', ori_https: 'no', port: 80 },
    ],
    [
      'an empty port of a custom origin',
      'origin',
      { default_master: '192.0.2.1', origin_mode: 'custom' },
      { default_master: '192.0.2.1', origin_mode: 'custom', ori_https: 'no', port: '' },
    ],
    [
      'a port as a string',
      'origin',
      { default_master: '192.0.2.1', origin_mode: 'custom', port: 8080 },
      { default_master: '192.0.2.1', origin_mode: 'custom', ori_https: 'no', port: '8080' },
    ],
    [
      'https without the fields that are never shown',
      'https',
      { cert_id: 7, http2: 'off', force_https: 301, ocsp: 'on', ssl_protocol: ['TLSv1.3'] },
      { cert_id: '7', http2: '', force_https: '301' },
      ['/ocsp', '/ssl_protocol'],
    ],
    [
      'ssl_protocol that is not shown beside ocsp',
      'https',
      { cert_id: 7, ocsp: 'on', ssl_protocol: ['TLSv1.3'] },
      { cert_id: 7, ocsp: 'on' },
      ['/ssl_protocol'],
    ],
    ['http2 that no manifest names', 'https', { cert_id: 7 }, { cert_id: 7, http2: 'on' }],
    [
      'cache rules with booleans',
      'cache_rule',
      [{ type: 1, pattern: 'jpg', time: 60, ignore_query: 'on' }],
      [
        {
          type: 1,
          pattern: 'jpg',
          time: '60',
          timeunit: 's',
          ignore_no_cache: false,
          ignore_expired: true,
          ignore_query: true,
        },
      ],
    ],
    [
      'newer cache rules without case_ignore and cache_or_not',
      'cache_rule_list',
      [{ ...cacheRule, case_ignore: 'no', cache_or_not: 'yes' }],
      [cacheRead],
      ['/0/cache_or_not', '/0/case_ignore'],
    ],
    [
      'a speed in whole KB',
      'speed_limit',
      [{ ...speedRule, speed: '100' }],
      [{ ...speedRule, speed: 104, priority: 1 }],
    ],
    [
      'the lowest speed',
      'speed_limit',
      [{ ...speedRule, speed: '1' }],
      [{ ...speedRule, speed: 8, priority: 1 }],
    ],
    [
      'units of rate_limit in lower case',
      'rate_limit',
      { max_rate_count: 1, max_rate_unit: 'KB', leading_flow_count: 2 },
      { max_rate_count: 1, max_rate_unit: 'kb', leading_flow_count: '2', leading_flow_unit: 'mb' },
    ],
    [
      'the unit of compress_response in lower case',
      'compress_response',
      { content_type: ['text/css'], min_size: 1, min_size_unit: 'KB' },
      { content_type: ['text/css'], min_size: '1', min_size_unit: 'kb' },
    ],
    [
      'response headers without type',
      'add_response_head',
      { list: [{ name: 'X-A', value: '1' }] },
      { list: [{ name: 'X-A', value: '1', cover: 'on', only_hit: 'off' }] },
    ],
    [
      'header rules with key and without order',
      'head_control',
      { list: [{ ...headRule, value: '1', order: 3 }] },
      {
        list: [
          {
            regex: '.*',
            head_op: 'ADD',
            head_direction: 'CLI_REQ',
            key: 'X-A',
            value: '1',
            fun_name: '',
          },
        ],
      },
      ['/list/0/order'],
    ],
    [
      'signed URLs with request_style and an empty error_page',
      'visit_timestamp',
      signed,
      { ...signed, request_style: 'x', error_page: '' },
    ],
    [
      'an empty error_page that is not returned',
      'visit_timestamp',
      { ...signed, error_page: '' },
      { ...signed, request_style: 1 },
    ],
    ['an ip list without mode', 'ip_black_list', { list: ['192.0.2.1'] }, { list: ['192.0.2.1'] }],
    [
      'inner_share without domain',
      'cache_share',
      { share_way: 'inner_share', domain: 'a.example.com' },
      { share_way: 'inner_share' },
      ['/domain'],
    ],
    ['range_back_source that is on', 'range_back_source', 'on', null],
    [
      'a list of exempt URLs',
      'visit_deny_whitelist',
      [
        { url: '/a', turn_on: true },
        { url: '/b', turn_on: true },
      ],
      { url: ['/b', '/a'] },
    ],
    ['timeouts as numbers', 'timeout', { time: '60' }, { time: 60 }],
  ])('%s is no difference', (_what, item, written, observed, notVerifiable = []) => {
    expect(detect(item, written, observed)).toMatchObject({
      kinds: [],
      confidence: notVerifiable.length === 0 ? 'verified' : 'assumed',
      notVerifiable,
    })
  })

  it.each<[string, ItemKey, Json, Json]>([
    [
      'the port of a custom origin',
      'origin',
      { default_master: '192.0.2.1', origin_mode: 'custom', port: 8080 },
      { default_master: '192.0.2.1', origin_mode: 'custom', ori_https: 'no', port: '8081' },
    ],
    [
      'another mode of an origin',
      'origin',
      { default_master: '192.0.2.1', origin_mode: 'custom', port: 8080 },
      { default_master: '192.0.2.1', origin_mode: 'default', ori_https: 'no', port: '8080' },
    ],
    [
      'another ssl_protocol',
      'https',
      { cert_id: 7, ssl_protocol: ['TLSv1.3'] },
      { cert_id: 7, ssl_protocol: ['TLSv1.2'] },
    ],
    ['http2 that was on', 'https', { cert_id: 7, http2: 'on' }, { cert_id: 7, http2: '' }],
    [
      'a boolean of a cache rule',
      'cache_rule',
      [{ type: 1, pattern: 'jpg', time: 60, ignore_query: 'on' }],
      [{ type: 1, pattern: 'jpg', time: '60', ignore_query: false }],
    ],
    [
      'the time of a newer cache rule',
      'cache_rule_list',
      [cacheRule],
      [{ ...cacheRead, expire: 61 }],
    ],
    [
      'another cache rule',
      'cache_rule_list',
      [cacheRule],
      [cacheRead, { ...cacheRead, priority: 2 }],
    ],
    [
      'cache_or_not beside a shown case_ignore',
      'cache_rule_list',
      [{ ...cacheRule, cache_or_not: 'yes' }],
      [{ ...cacheRead, case_ignore: 'yes' }],
    ],
    [
      'the next speed',
      'speed_limit',
      [{ ...speedRule, speed: '100' }],
      [{ ...speedRule, speed: 112, priority: 1 }],
    ],
    [
      'the speed of another pattern',
      'speed_limit',
      [{ ...speedRule, speed: '100' }],
      [{ ...speedRule, pattern: 'png', speed: 104 }],
    ],
    [
      'another unit',
      'rate_limit',
      { max_rate_count: 1 },
      { max_rate_count: 1, max_rate_unit: 'kb' },
    ],
    [
      'another header',
      'add_response_head',
      { list: [{ name: 'X-A', value: '1' }] },
      { list: [{ name: 'X-B', value: '1', cover: 'on', only_hit: 'off' }] },
    ],
    [
      'an additional header rule',
      'head_control',
      { list: [{ ...headRule, value: '1', order: 3 }] },
      {
        list: [
          { ...headRule, value: '1', order: 3 },
          { ...keyRule, key: 'X-B' },
        ],
      },
    ],
    [
      'another way to share',
      'cache_share',
      { share_way: 'cross_all_share', domain: 'a.example.com' },
      { share_way: 'inner_share' },
    ],
    [
      'another exempt URL',
      'visit_deny_whitelist',
      [{ url: '/a', turn_on: true }],
      { url: ['/a', '/b'] },
    ],
    [
      'another error_page',
      'visit_timestamp',
      { ...signed, error_page: '/old.html' },
      { ...signed, error_page: '' },
    ],
    ['range_back_source that is off', 'range_back_source', 'off', null],
    ['range_back_source that is on', 'range_back_source', 'on', 'off'],
  ])('%s is a difference', (_what, item, written, observed) => {
    expect(detect(item, written, observed)).toMatchObject({ kinds: ['live'] })
  })

  it('the own value is no difference, for any item and value', () => {
    for (const [item, payloads] of validPayloads) {
      for (const payload of payloads) {
        const { value } = parseItem(getItemSpec(item), payload, 'manifest')
        if (value === null) continue
        expect(getItemSpec(item).observe(value, value)).toEqual({
          payload: value,
          notVerifiable: [],
        })
      }
    }
  })

  it.each<Json>([null, 1, 'x', [], {}, [null], [1], [{}], { list: [null] }, { list: 'x' }])(
    'any JSON value is accepted: %j',
    (odd) => {
      for (const { observe } of catalogue.values())
        for (const known of [undefined, odd, [{ pattern: { $secret: 'x' } }]])
          expect(() => observe(known, odd)).not.toThrow()
    },
  )
})

describe('values that the service treats as equal', () => {
  const speed = (value: string): Snapshot =>
    new Map([[www, new Map([['speed_limit', createItemState([{ ...speedRule, speed: value }])]])]])
  const share = (value: JsonObject): Snapshot =>
    new Map([[www, new Map([['cache_share', createItemState(value as Value)]])]])

  it('are no change: 100 and 104 Kbps are both 13 KB', () => {
    expect(diffSnapshots(speed('100'), speed('104'))).toEqual({ changes: [], unchanged: 1 })
    expect(diffSnapshots(speed('104'), speed('97')).changes).toEqual([])
  })

  it('keep the exact value in the change of another one', () => {
    expect(diffSnapshots(speed('100'), speed('105')).changes).toMatchObject([
      { after: [{ speed: '105' }], patch: [{ op: 'replace', path: '/0/speed', value: '105' }] },
    ])
  })

  it('are a change where a field is not verifiable', () => {
    const changes = (before: JsonObject, after: JsonObject) =>
      diffSnapshots(share(before), share(after)).changes
    const inner = { share_way: 'inner_share' }
    expect(changes({ ...inner, domain: 'a.example.com' }, inner)).toHaveLength(1)
  })
})
