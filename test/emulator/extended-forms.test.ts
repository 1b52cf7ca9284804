import { describe, expect, it } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import { arbitraryPayload } from '../laws/values.ts'
import { fc, itOften, runs } from '../runs.ts'
import { createExtendedWorld } from './extended-world.ts'

const domain = 'www.example.com'

describe('a value comes back otherwise than written:', () => {
  const plain = { default_master: '192.0.2.1', origin_mode: 'http' }
  const custom = { ...plain, origin_mode: 'custom', ori_https: 'yes' }
  const signed = {
    pattern: '.*',
    time_format: 'timestamp',
    key: 'k',
    deadtime: 1,
    req_uri_type: 1,
  }
  const rule = { type: 1, pattern: 'jpg', time: 5, timeunit: 'D' }
  const listed = { match_method: 'ext', pattern: 'jpg', expire: 5, priority: 1 }
  const slow = { type: 'all', pattern: '.*', begin_time: '01:00', end_time: '02:00' }
  const head = { regex: '.*', head_op: 'ADD', head_direction: 'CLI_REP', value: '1' }

  it.each<[string, Json, Json]>([
    ['origin', plain, { ...plain, ori_https: 'no', port: '' }],
    ['origin', { ...custom, port: 8080 }, { ...custom, port: '8080' }],
    ['https', { cert_id: '7', http2: 'off' }, { cert_id: 7, http2: '', force_https: '0' }],
    [
      'https',
      { cert_id: 7, http2: 'on', force_https: 301, ocsp: 'on', ssl_protocol: ['TLSv1.2'] },
      { cert_id: 7, http2: 'on', force_https: '301' },
    ],
    [
      'referer',
      { type: 2, list: ['a.example.com'], allow_empty: false },
      { type: 2, list: ['a.example.com'], allow_empty: false },
    ],
    [
      'visit_timestamp',
      signed,
      {
        ...signed,
        origin_type: 1,
        timename: 'time',
        keyname: 'key',
        error_page: '',
        request_style: '',
      },
    ],
    [
      'cache_rule',
      [{ ...rule, ignore_no_cache: 'on', ignore_query: 'off' }],
      [{ ...rule, ignore_no_cache: 'on', ignore_expired: 'on', ignore_query: 'off' }],
    ],
    [
      'cache_rule_list',
      [{ ...listed, case_ignore: 'no', cache_or_not: 'yes' }],
      [
        {
          ...listed,
          expire_unit: 's',
          follow_expired: 'no',
          ignore_no_cache_headers: 'no',
          query_params_op: 'do_nothing',
        },
      ],
    ],
    [
      'speed_limit',
      ['1', '8', '9', '180'].map((speed, i) => ({ ...slow, speed, end_time: `1${i}:00` })),
      [8, 8, 16, 184].map((speed, i) => ({
        ...slow,
        speed,
        end_time: `1${i}:00`,
        priority: i + 1,
      })),
    ],
    [
      'rate_limit',
      { max_rate_count: 5, max_rate_unit: 'KB' },
      { max_rate_count: 5, max_rate_unit: 'kb', leading_flow_unit: 'mb' },
    ],
    [
      'compress_response',
      { content_type: ['text/css'], min_size: 5, min_size_unit: 'MB' },
      { content_type: ['text/css'], min_size: 5, min_size_unit: 'mb' },
    ],
    [
      'add_response_head',
      { type: 'reset', list: [{ name: 'X-A', value: '1' }] },
      { list: [{ name: 'X-A', value: '1', cover: 'yes', only_hit: 'no' }] },
    ],
    [
      'head_control',
      { list: [{ ...head, head: 'X-A', order: 3 }] },
      { list: [{ ...head, key: 'X-A', fun_name: '' }] },
    ],
    ['ip_black_list', { list: ['192.0.2.1'], mode: 'cover' }, { list: ['192.0.2.1'] }],
    ['ip_white_list', { list: ['192.0.2.1'] }, { list: ['192.0.2.1'] }],
    ['cache_share', { share_way: 'inner_share', domain }, { share_way: 'inner_share' }],
    [
      'cache_share',
      { share_way: 'cross_all_share', domain: 'b.example.com' },
      { share_way: 'cross_all_share', domain: 'b.example.com' },
    ],
    ['range_back_source', 'off', 'off'],
    ['timeout', { time: 60 }, { time: '60' }],
    ['connect_timeout', { origin_connect_timeout: 7 }, { origin_connect_timeout: '7' }],
    ['origin_host', { host: 'b.example.com' }, { host: 'b.example.com' }],
  ])('%s %j', async (item, written, expected) => {
    const service = createExtendedWorld()
    expect((await service.write({ [item]: written })).body).toMatchObject({ code: 0 })
    expect(await service.read(domain)).toEqual({ [item]: expected })
  })

  it('cache_rule has texts and booleans only in the query of the domain', async () => {
    const service = createExtendedWorld()
    await service.write({ cache_rule: [{ ...rule, ignore_query: 'off' }] })
    const { body } = await service.send(`GET /v2/domain?domains=${domain}`)
    const read = { time: '5', ignore_no_cache: false, ignore_expired: true, ignore_query: false }
    expect(body).toMatchObject({ data: [{ config: { cache_rule: [{ ...rule, ...read }] } }] })
  })

  it('range_back_source is absent if it is on', async () => {
    const service = createExtendedWorld()
    expect((await service.write({ range_back_source: 'on' })).body).toMatchObject({ code: 0 })
    expect(await service.read(domain)).toEqual([])
  })
})

describe.each([...catalogue.keys()])('any valid value of %s', (item) => {
  itOften('is read after its write, and is gone after an unset', async () => {
    let valid = 0
    const service = createExtendedWorld()
    await fc.assert(
      fc.asyncProperty(arbitraryPayload(item), async (payload) => {
        if (parseItem(getItemSpec(item), payload, 'wire').value === null) return
        valid++
        expect((await service.write({ [item]: payload })).body).toMatchObject({ code: 0 })
        const state = await service.state()
        const isSet = isObject(state) && Object.hasOwn(state, domain)
        const read = await service.read(domain)
        const isRead = read !== undefined && isObject(read)
        expect(isRead).toBe(isSet && !(item === 'range_back_source' && payload === 'on'))
        if (isRead) expect(Object.keys(read)).toEqual([item])

        const unset = { domains: domain, config: [item] }
        expect((await service.send('DELETE /v2/domain/config', unset)).status).toBe(200)
        expect(await service.state()).toEqual({})
        expect(await service.read(domain)).toEqual([])
      }),
      { numRuns: runs(15, 100) },
    )
    // The law must have been tried on enough values.
    expect(valid).toBeGreaterThan(3)
  })
})
