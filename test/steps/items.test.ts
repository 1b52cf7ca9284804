import { expect, it } from 'vitest'
import { catalogue } from '../../src/catalog/catalogue.ts'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { fetchConfigs, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

/**
 * Two desired values for each item and the live value after each, written by hand from the
 * specification. The second live value defaults to the second desired value.
 */
const steps: Record<string, { first: Json; holds: Json; second: Json; after: Json }> = {
  origin: {
    first: {
      default_master: ['192.0.2.2', 'Origin.Example.com'],
      port: '8080',
      origin_mode: 'custom',
    },
    holds: {
      default_master: '192.0.2.2,origin.example.com',
      port: 8080,
      origin_mode: 'custom',
      ori_https: 'no',
    },
    second: { default_master: '192.0.2.2' },
    after: { default_master: '192.0.2.2', origin_mode: 'default' },
  },
  origin_host: {
    first: { host: 'a.example.net' },
    holds: { host: 'a.example.net' },
    second: { host: 'b.example.net' },
    after: { host: 'b.example.net' },
  },
  referer: {
    first: { type: '2', list: ['b.example.com', '*.a.example.com'] },
    holds: { type: 2, list: ['*.a.example.com', 'b.example.com'], allow_empty: true },
    second: { type: 1, list: ['b.example.com'], allow_empty: false },
    after: { type: 1, list: ['b.example.com'], allow_empty: false },
  },
  cache_rule: {
    first: [{ type: 1, pattern: ['jpg', 'png'], time: 30, timeunit: 'D' }],
    holds: [
      {
        type: 1,
        pattern: 'jpg,png',
        time: 30,
        timeunit: 'D',
        ignore_no_cache: 'off',
        ignore_expired: 'on',
        ignore_query: 'off',
      },
    ],
    second: [{ type: 4, pattern: '^/a{1,2}$', time: 0 }],
    after: [
      {
        type: 4,
        pattern: '^/a{1,2}$',
        time: 0,
        timeunit: 's',
        ignore_no_cache: 'off',
        ignore_expired: 'on',
        ignore_query: 'off',
      },
    ],
  },
  cache_rule_list: {
    first: [{ match_method: 'ext', pattern: 'jpg', expire: 60, priority: 1 }],
    holds: [
      {
        match_method: 'ext',
        pattern: 'jpg',
        expire: 60,
        priority: 1,
        case_ignore: 'yes',
        expire_unit: 's',
        ignore_no_cache_headers: 'no',
        follow_expired: 'no',
        query_params_op: 'do_nothing',
      },
    ],
    second: [
      {
        match_method: 'dir',
        pattern: '/a/',
        expire: 1,
        expire_unit: 'Y',
        case_ignore: 'no',
        query_params_op: 'cache_back_source_remove',
      },
    ],
    after: [
      {
        match_method: 'dir',
        pattern: '/a/',
        expire: 1,
        case_ignore: 'no',
        expire_unit: 'Y',
        ignore_no_cache_headers: 'no',
        follow_expired: 'no',
        query_params_op: 'cache_back_source_remove',
      },
    ],
  },
  ip_black_list: {
    first: { list: ['203.0.113.9', '10.0.0.0/8'] },
    holds: { list: ['10.0.0.0/8', '203.0.113.9'], mode: 'cover' },
    second: { list: ['203.0.113.10'] },
    after: { list: ['203.0.113.10'], mode: 'cover' },
  },
  ip_white_list: {
    first: { list: ['203.0.113.9'] },
    holds: { list: ['203.0.113.9'], mode: 'cover' },
    second: { list: ['203.0.113.9', '192.0.2.0/24'] },
    after: { list: ['192.0.2.0/24', '203.0.113.9'], mode: 'cover' },
  },
  add_response_head: {
    first: {
      list: [
        { name: 'X-B', value: '2' },
        { name: 'X-A', value: 1 },
      ],
    },
    holds: {
      type: 'reset',
      list: [
        { name: 'X-A', value: '1' },
        { name: 'X-B', value: '2' },
      ],
    },
    second: { list: [{ name: 'X-B', value: '3' }] },
    after: { type: 'reset', list: [{ name: 'X-B', value: '3' }] },
  },
  add_back_source_head: {
    first: [{ head_name: 'X-A', head_value: 'a' }],
    holds: [{ head_name: 'X-A', head_value: 'a', write_when_exists: 'yes' }],
    second: [{ head_name: 'X-A', head_value: 'b', write_when_exists: 'no' }],
    after: [{ head_name: 'X-A', head_value: 'b', write_when_exists: 'no' }],
  },
  https: {
    first: { cert_id: 1, http2: 'on', force_https: '301', ssl_protocol: ['TLSv1.3', 'TLSv1.2'] },
    holds: { cert_id: 1, http2: 'on', force_https: 301, ssl_protocol: ['TLSv1.2', 'TLSv1.3'] },
    second: { cert_id: 2 },
    after: { cert_id: 2, http2: 'on', force_https: 0, ssl_protocol: ['TLSv1.2', 'TLSv1.3'] },
  },
  visit_timestamp: {
    first: { pattern: '.*', time_format: 'timestamp', key: 'k1 k2', deadtime: 60, req_uri_type: 1 },
    holds: {
      pattern: '.*',
      time_format: 'timestamp',
      key: 'k1 k2',
      deadtime: 60,
      req_uri_type: 1,
      origin_type: 1,
      timename: 'time',
      keyname: 'key',
    },
    second: {
      pattern: '.*',
      time_format: 'timestamp',
      key: 'k2',
      deadtime: '90',
      req_uri_type: 3,
      origin_type: 2,
    },
    after: {
      pattern: '.*',
      time_format: 'timestamp',
      key: 'k2',
      deadtime: 90,
      req_uri_type: 3,
      origin_type: 2,
      timename: 'time',
      keyname: 'key',
    },
  },
  video_drag: {
    first: { url: '.*', mp4: 'on', flv: 'off', start: 's', end: 'e' },
    holds: { url: '.*', mp4: 'on', flv: 'off', start: 's', end: 'e' },
    second: { url: '.*', mp4: 'on', flv: 'on', start: 's', end: 'e' },
    after: { url: '.*', mp4: 'on', flv: 'on', start: 's', end: 'e' },
  },
  compress_response: {
    first: { content_type: ['text/html', 'text/css'], min_size: '1', min_size_unit: 'KB' },
    holds: { content_type: ['text/css', 'text/html'], min_size: 1, min_size_unit: 'KB' },
    second: { content_type: ['text/html'], min_size: 1, min_size_unit: 'MB' },
    after: { content_type: ['text/html'], min_size: 1, min_size_unit: 'MB' },
  },
  speed_limit: {
    first: [{ type: 'all', pattern: '.*', speed: 800, begin_time: '08:00', end_time: '18:00' }],
    holds: [{ type: 'all', pattern: '.*', speed: '800', begin_time: '08:00', end_time: '18:00' }],
    second: [
      { type: 'ext', pattern: ['mp4'], speed: '900', begin_time: '08:00', end_time: '18:00' },
    ],
    after: [{ type: 'ext', pattern: 'mp4', speed: '900', begin_time: '08:00', end_time: '18:00' }],
  },
  visit_deny_whitelist: {
    first: [
      { url: '/b', turn_on: true },
      { url: '/a', turn_on: 'true' },
    ],
    holds: [
      { url: '/a', turn_on: true },
      { url: '/b', turn_on: true },
    ],
    second: [
      { url: '/b', turn_on: true },
      { url: '/c', turn_on: true },
    ],
    after: [
      { url: '/b', turn_on: true },
      { url: '/c', turn_on: true },
    ],
  },
  range_back_source: { first: 'off', holds: 'off', second: 'on', after: 'on' },
  extend: {
    first: { squid: 'a\nb' },
    holds: { squid: 'a\r\nb' },
    second: { squid: '' },
    after: { squid: '' },
  },
  rate_limit: {
    first: { max_rate_count: 10, max_rate_unit: 'KB', leading_flow_count: 5 },
    holds: {
      max_rate_count: 10,
      max_rate_unit: 'KB',
      leading_flow_count: 5,
      leading_flow_unit: 'MB',
    },
    second: { max_rate_count: 20 },
    after: { max_rate_count: 20, max_rate_unit: 'MB', leading_flow_unit: 'MB' },
  },
  new_origin: {
    first: [{ origin: '192.0.2.1', protocol: 'https' }],
    holds: [
      {
        origin: '192.0.2.1',
        protocol: 'https',
        port: 443,
        host: '',
        level: 20,
        weight_level: 1,
        isp: 'default',
        connect_time: 15,
      },
    ],
    second: [{ origin: '192.0.2.1', port: 8080, level: 10 }],
    after: [
      {
        origin: '192.0.2.1',
        protocol: 'default',
        port: 0,
        host: '',
        level: 10,
        weight_level: 1,
        isp: 'default',
        connect_time: 15,
      },
    ],
  },
  cache_share: {
    first: { share_way: 'cross_all_share', domain: 'other.example.com' },
    holds: { share_way: 'cross_all_share', domain: 'other.example.com' },
    second: { share_way: 'inner_share' },
    after: { share_way: 'inner_share' },
  },
  head_control: {
    first: {
      list: [
        {
          regex: '.*',
          head_op: 'DEL',
          head_direction: 'CLI_REP',
          head: 'Server',
          value: '',
          order: 1,
        },
      ],
    },
    holds: {
      list: [{ regex: '.*', head_op: 'DEL', head_direction: 'CLI_REP', head: 'Server', order: 1 }],
    },
    second: {
      list: [
        {
          regex: '.*',
          head_op: 'ADD',
          head_direction: 'CLI_REP',
          head: 'X-A',
          value: 'a',
          order: 2,
        },
      ],
    },
    after: {
      list: [
        {
          regex: '.*',
          head_op: 'ADD',
          head_direction: 'CLI_REP',
          head: 'X-A',
          value: 'a',
          order: 2,
        },
      ],
    },
  },
  timeout: {
    first: { time: 60 },
    holds: { time: '60' },
    second: { time: '61' },
    after: { time: '61' },
  },
  connect_timeout: {
    first: { origin_connect_timeout: 15 },
    holds: { origin_connect_timeout: '15' },
    second: { origin_connect_timeout: '16' },
    after: { origin_connect_timeout: '16' },
  },
  vendor_origin_auth: {
    first: { auth_url: 'http://auth.example.com/' },
    holds: { auth_url: 'http://auth.example.com/', match_method: 'default', pattern: '' },
    second: { auth_url: 'http://auth.example.com/', match_method: 'ext', pattern: ['mp4', 'flv'] },
    after: { auth_url: 'http://auth.example.com/', match_method: 'ext', pattern: 'mp4,flv' },
  },
  forward_status: {
    first: { codes: [302, 301] },
    holds: { codes: [301, 302] },
    second: { codes: ['301'] },
    after: { codes: [301] },
  },
  cache_error_code: {
    first: { code: [404, '5XX'], bcache: 'on', cache_time: '10', cache_unit: 'minute' },
    holds: { code: ['404', '5XX'], bcache: 'on', cache_time: 10, cache_unit: 'minute' },
    second: { code: ['404'], bcache: 'off' },
    after: { code: ['404'], bcache: 'off' },
  },
  error_page_rewrite: {
    first: [
      {
        error_status_code: '404',
        redirect_status_code: 302,
        redirect_url: 'https://www.example.com/404',
      },
    ],
    holds: [
      {
        error_status_code: 404,
        redirect_status_code: 302,
        redirect_url: 'https://www.example.com/404',
      },
    ],
    second: [
      {
        error_status_code: 404,
        redirect_status_code: 301,
        redirect_url: 'https://www.example.com/404',
      },
    ],
    after: [
      {
        error_status_code: 404,
        redirect_status_code: 301,
        redirect_url: 'https://www.example.com/404',
      },
    ],
  },
  post_upload_size_limit: {
    first: { limit_value: '10' },
    holds: { limit_value: 10 },
    second: { limit_value: 11 },
    after: { limit_value: 11 },
  },
  source_url_rewrite: {
    first: [{ origin_url: '/a/(.*)', target_url: '/b/$1' }],
    holds: [{ origin_url: '/a/(.*)', target_url: '/b/$1' }],
    second: [{ origin_url: '/a/(.*)', target_url: '/c/$1' }],
    after: [{ origin_url: '/a/(.*)', target_url: '/c/$1' }],
  },
  combined_ban: {
    first: [
      { configs: { ip: { list: ['203.0.113.9', '10.0.0.0/8'] }, method: { method_type: 'post' } } },
    ],
    holds: [
      {
        action: 'ban',
        configs: {
          ip: { list: ['10.0.0.0/8', '203.0.113.9'], is_match: 'yes' },
          method: { method_type: 'post', is_match: 'yes' },
        },
      },
    ],
    second: [{ configs: { ua: { list: ['curl'] } } }],
    after: [
      {
        action: 'ban',
        configs: { ua: { list: ['curl'], is_match: 'yes', case_insensitive: 'yes' } },
      },
    ],
  },
  deny_url: {
    first: { urls: ['http://www.example.com/b', 'http://www.example.com/a'] },
    holds: { urls: ['http://www.example.com/a', 'http://www.example.com/b'] },
    second: { urls: ['http://www.example.com/b'] },
    after: { urls: ['http://www.example.com/b'] },
  },
  tos_origin: {
    first: [{ isp: 'default', ips: ['192.0.2.1'], group_sort: 1 }],
    holds: [
      {
        isp: 'default',
        ips: ['192.0.2.1'],
        group_sort: 1,
        origin_mode: 'default',
        host_mode: 'default',
        parse_priority: 'default',
      },
    ],
    second: [
      { isp: 'default', ips: ['192.0.2.1'], group_sort: 1, weight: 5, parse_priority: 'v4' },
    ],
    after: [
      {
        isp: 'default',
        ips: ['192.0.2.1'],
        group_sort: 1,
        weight: 5,
        origin_mode: 'default',
        host_mode: 'default',
        parse_priority: 'v4',
      },
    ],
  },
  client_real_ip: {
    first: { head: 'X-Real-IP' },
    holds: { head: 'X-Real-IP' },
    second: { head: 'X-IP' },
    after: { head: 'X-IP' },
  },
  user_agent: {
    first: {
      ua_list: ['curl', 'Wget'],
      url_pattern: '.*',
      url_case_insensitive: 'yes',
      allow_empty_ua: 'no',
      ua_case_insensitive: 'yes',
      url_match_type: 'all',
      ua_type: 'black',
      ua_match_type: 'pattern',
    },
    holds: {
      ua_list: 'curl\nWget',
      url_pattern: '.*',
      url_case_insensitive: 'yes',
      allow_empty_ua: 'no',
      ua_case_insensitive: 'yes',
      url_match_type: 'all',
      ua_type: 'black',
      ua_match_type: 'pattern',
    },
    second: {
      ua_list: 'curl',
      url_pattern: ['jpg', 'png'],
      url_case_insensitive: 'yes',
      allow_empty_ua: 'no',
      ua_case_insensitive: 'yes',
      url_match_type: 'ext',
      ua_type: 'white',
      ua_match_type: 'exact',
    },
    after: {
      ua_list: 'curl',
      url_pattern: 'jpg,png',
      url_case_insensitive: 'yes',
      allow_empty_ua: 'no',
      ua_case_insensitive: 'yes',
      url_match_type: 'ext',
      ua_type: 'white',
      ua_match_type: 'exact',
    },
  },
  visit_areas_limit: {
    first: { limit_type: 'white', country_list: ['japan', 'china'] },
    holds: { limit_type: 'white', country_list: 'china,japan' },
    second: { limit_type: 'black', country_list: 'japan, china' },
    after: { limit_type: 'black', country_list: 'china,japan' },
  },
  smart_compression: {
    first: {
      compression_mode: 'gzip',
      gzip_compression_rate: 6,
      gzip_compression_value: 1,
      gzip_compression_unit: 'KB',
      gzip_content_type: ['b/b', 'a/a'],
    },
    holds: {
      compression_mode: 'gzip',
      gzip_compression_rate: 6,
      gzip_compression_value: 1,
      gzip_compression_unit: 'KB',
      gzip_content_type: ['a/a', 'b/b'],
    },
    second: {
      compression_mode: 'gzip',
      gzip_compression_rate: 7,
      gzip_compression_value: 1,
      gzip_compression_unit: 'KB',
      gzip_content_type: ['a/a'],
    },
    after: {
      compression_mode: 'gzip',
      gzip_compression_rate: 7,
      gzip_compression_value: 1,
      gzip_compression_unit: 'KB',
      gzip_content_type: ['a/a'],
    },
  },
  deny_protocol: {
    first: { protocol: 'http' },
    holds: { protocol: 'http' },
    second: { protocol: 'https' },
    after: { protocol: 'https' },
  },
  error_bcache: {
    first: { code: ['5xx', '404'], bcache: 'on', cache_time: 10, cache_unit: 'minute' },
    holds: { code: ['404', '5xx'], bcache: 'on', cache_time: '10', cache_unit: 'minute' },
    second: { code: ['404'], bcache: 'off' },
    after: { code: ['404'], bcache: 'off' },
  },
}

/** Live value after `$unset`; undefined if the item is then empty. */
const unsetTo: Record<string, Json | undefined> = {
  https: { cert_id: 0, force_https: 0, http2: 'on', ssl_protocol: ['TLSv1.2', 'TLSv1.3'] },
  origin_host: { host: 'origin-host.example.com' },
  video_drag: { url: '.*', start: 's', end: 'e', mp4: 'off', flv: 'off' },
  cache_error_code: { code: ['404', '5XX'], bcache: 'off' },
  error_bcache: { code: ['404', '5xx'], bcache: 'off' },
  ...Object.fromEntries(
    [
      'add_response_head',
      'visit_deny_whitelist',
      'ip_black_list',
      'ip_white_list',
      'referer',
      'cache_rule',
      'cache_rule_list',
      'add_back_source_head',
      'speed_limit',
      'new_origin',
      'head_control',
      'error_page_rewrite',
      'source_url_rewrite',
      'combined_ban',
    ].map((item) => [item, undefined]),
  ),
}

setStage()

it('every item has steps', () => {
  expect(Object.keys(steps).toSorted()).toEqual([...catalogue.keys()].toSorted())
})

/** Each item has a domain of its own, so that all are tested in the same commands. */
const nameDomain = (item: string) => `${item.replaceAll('_', '-')}.example.com`

/** Applies a configuration for each item. */
async function settle(items: string[], choose: (item: string) => JsonObject): Promise<void> {
  for (const item of items) place.manifest(nameDomain(item), choose(item))
  await place.settle()
}

/** Expects the live configuration of each domain. */
async function expectLive(items: string[], choose: (item: string) => JsonObject): Promise<void> {
  const expected = items.map((item) => [nameDomain(item), choose(item)])
  const live = await fetchConfigs(emulator)
  expect(items.map((item) => [nameDomain(item), live[nameDomain(item)] ?? {}])).toEqual(expected)
}

it('every item is set, changed and released', async () => {
  const items = Object.keys(steps)
  await settle(items, (item) => ({ [item]: steps[item]?.first ?? null }))
  await expectLive(items, (item) => ({ [item]: steps[item]?.holds ?? null }))
  await settle(items, (item) => ({ [item]: steps[item]?.second ?? null }))
  await expectLive(items, (item) => ({ [item]: steps[item]?.after ?? null }))

  const before = (await fetchWrites(emulator)).length
  for (const item of items) place.manifest(nameDomain(item), {})
  expect((await place.json('plan'))['summary']).toMatchObject({ release: items.length, writes: 0 })
  await place.settle()
  expect(await fetchWrites(emulator)).toHaveLength(before)
  await expectLive(items, (item) => ({ [item]: steps[item]?.after ?? null }))
  expect((await place.json('state', 'list'))['domains']).toEqual([])
})

it('every item that can be unset is reset by $unset, and set again', async () => {
  const items = Object.keys(unsetTo)
  const expectUnset = () =>
    expectLive(items, (item) => {
      const value = unsetTo[item]
      return value === undefined ? {} : { [item]: value }
    })
  await settle(items, (item) => ({ [item]: steps[item]?.first ?? null }))
  await settle(items, (item) => ({ [item]: { $unset: true } }))
  await expectUnset()
  for (const item of items)
    expect(await place.json('state', 'show', nameDomain(item))).toMatchObject({
      items: { [item]: { status: 'unset' } },
    })
  await settle(items, (item) => ({ [item]: steps[item]?.first ?? null }))
  await expectLive(items, (item) => ({ [item]: steps[item]?.holds ?? null }))
  await settle(items, (item) => ({ [item]: { $unset: true } }))
  await expectUnset()
  const before = (await fetchWrites(emulator)).length
  await settle(items, () => ({}))
  expect(await fetchWrites(emulator)).toHaveLength(before)
  expect((await place.json('state', 'list'))['domains']).toEqual([])
})

it.each(Object.keys(steps).filter((item) => !(item in unsetTo)))(
  '%s cannot be unset: the error names the reason',
  async (item) => {
    const { code, out } = await place
      .manifest(nameDomain(item), { [item]: { $unset: true } })
      .cli('validate')
    expect(code).toBe(1)
    expect(out).toContain("This item can't be unset")
    expect(out).toContain('no way to unset')
  },
)
