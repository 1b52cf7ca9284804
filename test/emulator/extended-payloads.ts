import type { Json } from '../../src/core/model/json.ts'

type Config = Record<string, Json>

/** Names of an account for items that the specification names neutrally or not at all. */
export const accountNames = {
  vendor_origin_auth: 'acme_origin_auth',
  deny_protocol: 'acme_deny_protocol',
}

const archives = {
  type: 1,
  pattern: 'iso,zip',
  time: 90,
  timeunit: 's',
  ignore_expired: 'on',
  ignore_no_cache: 'on',
  ignore_query: 'on',
}
const rule = { ignore_no_cache_headers: 'no', follow_expired: 'no', query_params_op: 'do_nothing' }
const kept = {
  query_params_op: 'customer',
  query_params_op_way: 'keep',
  query_params_op_when: 'cache_back_source',
  params: 'lang',
}
const fonts = {
  match_method: 'ext',
  pattern: 'woff2,svg',
  expire: 45,
  expire_unit: 's',
  follow_expired: 'no',
  ignore_no_cache_headers: 'no',
  priority: 3,
  ...kept,
}
const folders = {
  match_method: 'dir',
  pattern: '/pub/,/cards/',
  expire: 9,
  expire_unit: 'D',
  priority: 5,
  query_params_op: 'do_nothing',
}
const custom = {
  default_master: '203.0.113.60,203.0.113.61',
  default_slave: '192.0.2.77',
  origin_mode: 'custom',
  ori_https: 'no',
  port: 8081,
}
const added = {
  regex: '/api/.*',
  head_op: 'ADD',
  head_direction: 'CLI_REQ',
  head: 'X-Tenant',
  value: 'blue',
  order: 1,
}
const addedAsRead = {
  regex: '/api/.*',
  head_op: 'ADD',
  head_direction: 'CLI_REQ',
  key: 'X-Tenant',
  value: 'blue',
  fun_name: '',
}
const types = Array.from({ length: 12 }, (_, i) => `application/x-kind-${i}`)

/** A few items of a download domain, which are sent together, and what is read. */
export const few: { written: Config; read: Config } = {
  written: {
    cache_rule: [archives],
    cache_share: { share_way: 'cross_all_share', domain: 'pages.example.com' },
    ip_white_list: { list: ['198.51.100.0/24', '172.0.0.0/8'] },
    origin: { default_master: 'files.example.com', origin_mode: 'default' },
    rate_limit: {
      leading_flow_count: 64,
      leading_flow_unit: 'KB',
      max_rate_count: 32,
      max_rate_unit: 'KB',
    },
  },
  read: {
    cache_rule: [archives],
    cache_share: { share_way: 'cross_all_share', domain: 'pages.example.com' },
    ip_white_list: { list: ['198.51.100.0/24', '172.0.0.0/8'] },
    origin: {
      default_master: 'files.example.com',
      origin_mode: 'default',
      ori_https: 'no',
      port: '',
    },
    rate_limit: {
      leading_flow_count: 64,
      leading_flow_unit: 'kb',
      max_rate_count: 32,
      max_rate_unit: 'kb',
    },
  },
}

/** Most items that a client knows, which it sends together, and what is read. */
export const many: { written: Config; read: Config } = {
  written: {
    add_back_source_head: [{ head_name: 'X-Edge', head_value: 'yes', write_when_exists: 'no' }],
    add_response_head: { list: [{ name: 'X-Shop', value: 'one' }], type: 'reset' },
    cache_rule_list: [{ case_ignore: 'yes', ...fonts }, folders],
    cache_share: { domain: 'pages.example.com', share_way: 'inner_share' },
    compress_response: {
      content_type: ['text/xml', 'text/css', 'font/woff2'],
      min_size: 300,
      min_size_unit: 'KB',
    },
    connect_timeout: { origin_connect_timeout: '12' },
    deny_url: { urls: ['https://pages.example.com/old.txt'] },
    head_control: { list: [added] },
    https: { cert_id: 4711, force_https: '302', http2: 'on', ssl_protocol: ['TLSv1.3', 'TLSv1.2'] },
    ip_black_list: { list: ['198.51.100.0/24', '203.0.113.9'] },
    origin: custom,
    origin_host: { host: 'pages.example.com' },
    rate_limit: { leading_flow_unit: 'MB', max_rate_count: 77, max_rate_unit: 'MB' },
    referer: { allow_empty: true, list: ['shop.example.net', '*.example.org'], type: 2 },
    speed_limit: [
      { begin_time: '06:30', end_time: '21:00', pattern: 'mov', speed: 250, type: 'ext' },
    ],
    timeout: { time: '45' },
  },
  read: {
    add_back_source_head: [{ head_name: 'X-Edge', head_value: 'yes', write_when_exists: 'no' }],
    add_response_head: { list: [{ name: 'X-Shop', value: 'one', cover: 'yes', only_hit: 'no' }] },
    cache_rule_list: [fonts, { ...rule, ...folders }],
    cache_share: { share_way: 'inner_share' },
    compress_response: {
      content_type: ['text/xml', 'text/css', 'font/woff2'],
      min_size: 300,
      min_size_unit: 'kb',
    },
    connect_timeout: { origin_connect_timeout: '12' },
    deny_url: { urls: ['https://pages.example.com/old.txt'] },
    head_control: { list: [addedAsRead] },
    https: { cert_id: 4711, force_https: '302', http2: 'on' },
    ip_black_list: { list: ['198.51.100.0/24', '203.0.113.9'] },
    origin: { ...custom, port: '8081' },
    origin_host: { host: 'pages.example.com' },
    rate_limit: { leading_flow_unit: 'mb', max_rate_count: 77, max_rate_unit: 'mb' },
    referer: { allow_empty: true, list: ['shop.example.net', '*.example.org'], type: 2 },
    speed_limit: [
      {
        begin_time: '06:30',
        end_time: '21:00',
        pattern: 'mov',
        speed: 256,
        type: 'ext',
        priority: 1,
      },
    ],
    timeout: { time: '45' },
  },
}

/** The two items of `many` that a client changes, which are sent together. */
export const change: { written: Config; read: Config } = {
  written: {
    cache_rule_list: [{ case_ignore: 'yes', ...fonts, expire: 90 }, folders],
    origin: { ...custom, default_slave: '192.0.2.78' },
  },
  read: {
    cache_rule_list: [
      { ...fonts, expire: 90 },
      { ...rule, ...folders },
    ],
    origin: { ...custom, default_slave: '192.0.2.78', port: '8081' },
  },
}

const signed = {
  pattern: '/paid/.*',
  time_format: 'date_minute',
  key: 'first second',
  deadtime: 600,
  req_uri_type: 1,
  origin_type: 1,
  style: '$ourkey$uri$time',
  timename: 'at',
  keyname: 'sign',
}
const group = {
  isp: 'default',
  ips: ['203.0.113.80'],
  group_sort: 2,
  weight: 5,
  origin_mode: 'default',
  host_mode: 'default',
  auth_type: 'tos',
  auth_secret_key: 'secret',
  auth_access_key: 'access',
  auth_expire: 60,
  parse_priority: 'v4v6',
}

/** Items that clients send alone, and what is read; null for what does not appear. */
export const single: [written: Config, read: Json | null][] = [
  [
    { https: { cert_id: 4711, force_https: '302', http2: 'on' } },
    { cert_id: 4711, force_https: '302', http2: 'on' },
  ],
  [
    { https: { cert_id: 0, http2: 'off', force_https: '0' } },
    { cert_id: 0, http2: '', force_https: '0' },
  ],
  [
    { https: { cert_id: 4711, force_https: '0', http2: 'on', ocsp: 'on' } },
    { cert_id: 4711, force_https: '0', http2: 'on' },
  ],
  [
    { compress_response: { content_type: ['text/csv'], min_size: '20', min_size_unit: 'KB' } },
    { content_type: ['text/csv'], min_size: 20, min_size_unit: 'kb' },
  ],
  [
    { compress_response: { content_type: types, min_size: '2', min_size_unit: 'MB' } },
    { content_type: types, min_size: 2, min_size_unit: 'mb' },
  ],
  [
    { compress_response: { content_type: ['text/csv'], min_size: 300, min_size_unit: 'kb' } },
    { content_type: ['text/csv'], min_size: 300, min_size_unit: 'kb' },
  ],
  [{ range_back_source: 'off' }, 'off'],
  [{ range_back_source: 'on' }, null],
  [
    {
      cache_rule_list: [
        {
          match_method: 'all',
          pattern: '.*',
          expire: 7,
          expire_unit: 'D',
          priority: 1,
          case_ignore: 'no',
        },
      ],
    },
    [{ match_method: 'all', pattern: '.*', expire: 7, expire_unit: 'D', priority: 1, ...rule }],
  ],
  [
    {
      cache_rule_list: ['ext mp4,mov 7 D', 'dir /pub/ 3 h', 'route /feed.xml 0 s'].map(
        (text, i) => ({ ...parseRule(text), priority: i + 1, case_ignore: 'no' }),
      ),
    },
    ['ext mp4,mov 7 D', 'dir /pub/ 3 h', 'route /feed.xml 0 s'].map((text, i) => ({
      ...parseRule(text),
      priority: i + 1,
      ...rule,
    })),
  ],
  [
    { referer: { type: 1, list: ['bad.example.net', '*.example.org'], allow_empty: false } },
    { type: 1, list: ['bad.example.net', '*.example.org'], allow_empty: false },
  ],
  [{ ip_black_list: { list: ['198.51.100.0/24'], mode: 'cover' } }, { list: ['198.51.100.0/24'] }],
  [
    { ip_white_list: { list: ['198.51.100.0/24', '172.0.0.0/8'], mode: 'cover' } },
    { list: ['198.51.100.0/24', '172.0.0.0/8'] },
  ],
  [
    { origin: { ...custom, ori_https: 'yes', port: 443 } },
    { ...custom, ori_https: 'yes', port: '443' },
  ],
  [
    { add_response_head: { list: [{ name: 'X-Shop', value: 'one' }], type: 'add' } },
    { list: [{ name: 'X-Shop', value: 'one', cover: 'yes', only_hit: 'no' }] },
  ],
  [
    {
      head_control: {
        list: [
          { ...added, head_direction: 'SER_REQ' },
          { ...added, head_op: 'DEL', head_direction: 'CLI_REP', value: '', order: 2 },
        ],
      },
    },
    {
      list: [
        { ...addedAsRead, head_direction: 'SER_REQ' },
        {
          regex: '/api/.*',
          head_op: 'DEL',
          head_direction: 'CLI_REP',
          key: 'X-Tenant',
          fun_name: '',
        },
      ],
    },
  ],
  [{ head_control: { list: [addedAsRead] } }, { list: [addedAsRead] }],
  [
    {
      speed_limit: [
        { speed: '64', type: 'ext', pattern: 'mov', begin_time: '06:30', end_time: '21:00' },
      ],
    },
    [
      {
        speed: 64,
        type: 'ext',
        pattern: 'mov',
        begin_time: '06:30',
        end_time: '21:00',
        priority: 1,
      },
    ],
  ],
  [
    { rate_limit: { max_rate_count: 4 } },
    { max_rate_count: 4, max_rate_unit: 'mb', leading_flow_unit: 'mb' },
  ],
  [{ visit_timestamp: signed }, { ...signed, error_page: '', request_style: '' }],
  [
    { visit_deny_whitelist: [{ url: '/health?probe', turn_on: true }] },
    [{ url: '/health?probe', turn_on: true }],
  ],
  [{ acme_deny_protocol: { protocol: 'http' } }, { protocol: 'http' }],
  [
    {
      acme_origin_auth: {
        auth_url: 'http://auth.example.com/',
        match_method: 'default',
        pattern: '',
      },
    },
    { auth_url: 'http://auth.example.com/', match_method: 'default', pattern: '' },
  ],
  [
    {
      cache_error_code: { code: ['502', '5XX'], bcache: 'on', cache_time: 3, cache_unit: 'minute' },
    },
    { code: ['502', '5XX'], bcache: 'on', cache_time: 3, cache_unit: 'minute' },
  ],
  [
    { video_drag: { url: '(mov m4v)', mp4: 'on', flv: 'off', start: 'from', end: 'to' } },
    { url: '(mov m4v)', mp4: 'on', flv: 'off', start: 'from', end: 'to' },
  ],
  [
    {
      new_origin: [
        { origin: '203.0.113.81', level: 20, weight_level: 7, isp: 'default', connect_time: 9 },
        { origin: '203.0.113.82', level: 20, weight_level: 3, isp: 'default' },
        { origin: '203.0.113.83', level: 10 },
      ],
    },
    [
      ['203.0.113.81', 20, 7, 9],
      ['203.0.113.82', 20, 3, 15],
      ['203.0.113.83', 10, 1, 15],
    ].map(([origin = '', level = 0, weight_level = 0, connect_time = 0]) => ({
      origin,
      level,
      weight_level,
      isp: 'default',
      connect_time,
      protocol: 'default',
      host: '',
      port: 0,
    })),
  ],
  [{ forward_status: { codes: [302, 301] } }, { codes: [302, 301] }],
  [
    { source_url_rewrite: [{ origin_url: '/v1/(.*)/(.*).png', target_url: '/v2/$2/$1.webp' }] },
    [{ origin_url: '/v1/(.*)/(.*).png', target_url: '/v2/$2/$1.webp' }],
  ],
  [{ tos_origin: [group] }, [group]],
  [
    {
      error_page_rewrite: [
        {
          error_status_code: 503,
          redirect_status_code: 301,
          redirect_url: 'https://pages.example.com/busy.html',
        },
      ],
    },
    [
      {
        error_status_code: 503,
        redirect_status_code: 301,
        redirect_url: 'https://pages.example.com/busy.html',
      },
    ],
  ],
]

/** Parses a rule of the cache: method, pattern, time and unit. */
function parseRule(text: string): Config {
  const [match_method = '', pattern = '', expire = '', expire_unit = ''] = text.split(' ')
  return { match_method, pattern, expire: Number(expire), expire_unit }
}
