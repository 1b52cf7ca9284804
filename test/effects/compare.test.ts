import { expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { compareRequest, type Delta } from '../../src/core/effects/compare.ts'
import type { Sides } from '../../src/core/effects/sides.ts'
import { change, changeCandidates, settle, whole } from './build.ts'

const referer = (...list: string[]) => ({ referer: { type: 2, list, allow_empty: true } })

function compare(sides: Sides, facts: JsonObject = {}): Record<string, string> {
  const { deltas } = compareRequest(sides, { ...whole, ...facts }, 'unknown')
  return Object.fromEntries(deltas.map((delta) => [delta.field, show(delta)]))
}

function show({ class: found, verdict, before, after }: Delta): string {
  const write = (answer: Delta['before']) =>
    'value' in answer ? JSON.stringify(answer.value) : `? ${answer.unknown.join(', ')}`
  return `${found} ${verdict} ${write(before)} -> ${write(after)}`
}

it('an access rule that denies changes the outcome; what needs serving counts as null', () => {
  const sides = change(referer('a.com', 'b.com'), referer('a.com'))
  const facts = { headers: { referer: 'https://b.com/', '*': null } }
  const found = compare(sides, facts)
  expect(found).toMatchObject({
    outcome: 'visible differs "served" -> "denied"',
    'access.decision': 'internal differs "allowed" -> "denied"',
    'access.checks.referer': 'internal differs "pass" -> "deny"',
    'cache.policy': 'content differs "origin" -> null',
    'origin.main': 'content differs ["192.0.2.10"] -> null',
    'response.compression': 'visible differs "none" -> null',
    'response.status': 'visible differs 200 -> 403',
  })
  expect(found).not.toHaveProperty(['response.location'])
  expect(found).not.toHaveProperty(['connection.decision'])
  expect(compare(sides)).toEqual({})
  const { deltas, findRules } = compareRequest(sides, { ...whole, ...facts }, 'unknown')
  const outcome = deltas.find(({ field }) => field === 'outcome')
  expect(outcome && findRules(outcome)).toEqual([
    { side: 'after', item: 'referer', pointer: '', pattern: null },
  ])
})

it('a change that only denied requests would meet makes no delta', () => {
  const denied = { deny_url: { urls: ['^https://www\\.example\\.com/'] } }
  const sides = change(
    { ...denied, rate_limit: { max_rate_count: 1 } },
    { ...denied, rate_limit: { max_rate_count: 2 } },
  )
  expect(compare(sides)).toEqual({})
})

it('items that are unmanaged on both sides are taken as absent, on one by the settings', () => {
  const [one, two] = [[{ time: '30' }], [{ time: '60' }]]
  const both = changeCandidates({ timeout: one }, { timeout: two })
  expect(compare(both, { url: 'http://www.example.com/' })).toEqual({
    'origin.timeout': 'internal differs 30 -> 60',
  })
  const half = changeCandidates(
    { https: [{ cert_id: 1 }], timeout: one },
    { https: [{ cert_id: 1 }] },
    settle({ unmanaged: 'unknown' }),
  )
  expect(compare(half)).toEqual({
    'origin.timeout': 'internal may-differ 30 -> ? unmanaged timeout',
  })
  const absent = changeCandidates(
    { https: [{ cert_id: 1 }], timeout: one },
    { https: [{ cert_id: 1 }] },
  )
  expect(compare(absent)).toEqual({ 'origin.timeout': 'internal differs 30 -> null' })
})

it('two unknown answers are the same unless an item differs that their stage reads', () => {
  const rule = (time: number) => ({
    cache_rule: [{ type: 1, pattern: 'jpg', time, timeunit: 's' }],
  })
  const { origin: _, ...facts } = whole
  const unknown = { ...facts, url: 'https://www.example.com/a.jpg' }
  const found = (sides: Sides) =>
    compareRequest(sides, unknown, 'unknown').deltas.map(({ field, verdict }) => [field, verdict])
  expect(found(change(rule(5), rule(6)))).toEqual([
    ['cache.seconds', 'differs'],
    ['cache.lifetime', 'differs'],
    ['cache.stored', 'may-differ'],
  ])
  const timeout = (time: string) => ({ ...rule(5), timeout: { time } })
  expect(found(change(timeout('5'), timeout('6')))).toEqual([['origin.timeout', 'differs']])
})

it('a value and an unknown may differ', () => {
  const list = (...entries: string[]) => ({ ip_black_list: { list: entries } })
  const { ip: _, ...noIp } = whole
  const sides = change({ ip_black_list: null }, list('10.0.0.0/8'))
  const { deltas } = compareRequest(sides, noIp, 'unknown')
  expect(deltas.map(({ field, verdict }) => [field, verdict])).toContainEqual([
    'outcome',
    'may-differ',
  ])
})

it('what nobody gave is that of the visitor', () => {
  const list = { ip_black_list: { list: ['10.0.0.0/8'] } }
  const sides = change({ ip_black_list: null }, list)
  const request = { url: 'https://www.example.com/' }
  expect(compareRequest(sides, request, 'usual').deltas).toEqual([])
  const { deltas } = compareRequest(sides, request, 'unknown')
  expect(deltas.map(({ field, verdict }) => `${field} ${verdict}`)).toContain('outcome may-differ')
  const given = { ...request, ip: '10.1.1.1' }
  expect(compareRequest(sides, given, 'usual').deltas[0]).toMatchObject({
    field: 'outcome',
    verdict: 'differs',
  })
})

it('weights are apart from addresses, and are not noticed', () => {
  const origin = (address: string, weight: number) => ({
    new_origin: [
      { origin: address, weight_level: weight },
      { origin: '192.0.2.2', weight_level: 1 },
    ],
  })
  expect(compare(change(origin('192.0.2.1', 1), origin('192.0.2.1', 2)))).toEqual({
    'origin.weights': 'internal differs [1,1] -> [2,1]',
  })
  expect(compare(change(origin('192.0.2.1', 1), origin('192.0.2.3', 1)))).toEqual({
    'origin.main': 'content differs ["192.0.2.1","192.0.2.2"] -> ["192.0.2.3","192.0.2.2"]',
  })
})

it('rules, pointers and positions alone make no delta', () => {
  const cache = (...patterns: string[]) => ({
    cache_rule: patterns.map((pattern) => ({ type: 1, pattern, time: 5, timeunit: 's' })),
    source_url_rewrite: patterns.map((each) => ({ origin_url: `/${each}`, target_url: '/x' })),
  })
  const url = 'https://www.example.com/jpg.jpg'
  expect(compare(change(cache('jpg', 'png'), cache('png', 'jpg')), { url })).toEqual({})
})

it('a header that only one side changes is compared with what it was', () => {
  const add = { add_response_head: { list: [{ name: 'X-A', value: 'a' }] } }
  const sides = change({ add_response_head: null }, add)
  expect(compare(sides)).toEqual({ 'response.headers.x-a': 'visible differs null -> ["a"]' })
  const sent = { ...whole, origin: { status: 200, headers: { 'x-a': 'a', '*': null } } }
  expect(compareRequest(sides, sent, 'unknown').deltas).toEqual([])
  const request = { add_back_source_head: [{ head_name: 'X-B', head_value: 'b' }] }
  expect(compare(change({ add_back_source_head: null }, request))).toEqual({
    'origin.headers.x-b': 'content differs null -> ["b"]',
  })
})

it.each<[string, Json, Json]>([
  ['https', { cert_id: 1 }, { cert_id: 2 }],
  ['https', null, { cert_id: 0, http2: 'on' }],
  ['range_back_source', null, 'on'],
  [
    'combined_ban',
    [{ configs: { ua: { list: ['a', 'b'] } } }],
    [{ configs: { ua: { list: ['b', 'a'] } } }],
  ],
  ['deny_url', { urls: ['a', 'b'] }, { urls: ['b', 'a'] }],
  [
    'cache_rule',
    [{ type: 1, pattern: 'a,b', time: 1, timeunit: 'i' }],
    [{ type: 1, pattern: 'b,a', time: 60, timeunit: 's' }],
  ],
  [
    'cache_error_code',
    { code: ['404'], bcache: 'off' },
    { code: ['404'], bcache: 'off', cache_time: 5 },
  ],
  ['rate_limit', { max_rate_count: 1 }, { max_rate_count: 1, leading_flow_unit: 'KB' }],
  ['timeout', { time: '5' }, { time: '05' }],
])('what is not read of %s makes no difference', (item, before, after) => {
  const sides = change({ [item]: before }, { [item]: after })
  expect(sides.changed).toEqual([])
})

it('a bad fact is an error', () => {
  const request = { url: 'https://other.example/' }
  expect(() => compareRequest(change({}, {}), request, 'usual')).toThrow('host')
})
