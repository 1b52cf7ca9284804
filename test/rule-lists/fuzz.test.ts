import { expect } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import type { Json } from '../../src/core/model/json.ts'
import { fc, itOften, runs } from '../runs.ts'
import { find } from './find.ts'

const from = (...words: string[]) => fc.constantFrom(...words)
const secret = { $secret: 'preview' }
const text: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 4,
    arbitrary: from('/', '.*', '/a', '/a/', '*', '/*', '/a*b', 'jpg', '.jpg', 'a.b', 'a,b'),
  },
  {
    weight: 3,
    arbitrary: from('a b', '/a b', '"', '/"q"', "it's", '\\.jpg$', '(a|b)+', '^', '$', ''),
  },
  {
    weight: 3,
    arbitrary: from('[^/]+', '(?=x)', 'a{2,3}', '\\bx', '/é', '.', '..', '/../a', '%20'),
  },
  {
    weight: 3,
    arbitrary: from('^/a|b$', '(.*)', '^.*', '?x=1', 'a\\?', '/a?b', '[A-Z]', 'A', '/A/'),
  },
  { weight: 1, arbitrary: fc.stringMatching(/^[ -~]{1,5}$/) },
  { weight: 1, arbitrary: fc.constant(secret) },
)
const texts = fc.array(text, { minLength: 1, maxLength: 3 })
const yes = from('yes', 'no')
const address = fc.oneof(from('10.0.0.0/8', '10.1.2.3', '2001:db8::1'), fc.constant(secret))
const addresses = fc.array(address, { minLength: 1, maxLength: 3 })
const kind = from('ext', 'dir', 'route', 'regex')
const record = (
  fields: Record<string, fc.Arbitrary<Json>>,
  requiredKeys = Object.keys(fields),
): fc.Arbitrary<Json> => fc.record(fields, { requiredKeys })
const list = (each: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.array(each, { minLength: 1, maxLength: 4 })

const matched = (names: string[]) => ({
  is_match: yes,
  ...Object.fromEntries(names.map((name) => [name, yes])),
})
const configs = record(
  {
    url: record({ list: texts, ...matched(['case_insensitive']) }, ['list']),
    ua: record({ list: texts, ...matched(['case_insensitive']) }, ['list']),
    referer: record({ list: texts, ...matched([]) }, ['list']),
    ip: record({ list: addresses, ...matched([]) }, ['list']),
  },
  [],
)

/** Values of the items with findings, most of them valid. */
const values: Record<string, fc.Arbitrary<Json>> = {
  cache_rule: list(
    record({
      type: fc.integer({ min: 1, max: 4 }),
      pattern: text,
      time: from('0', '9').map(Number),
    }),
  ),
  cache_rule_list: list(
    record(
      {
        match_method: kind,
        pattern: text,
        expire: fc.integer({ min: 0, max: 2 }),
        priority: fc.integer({ min: 1, max: 3 }),
        case_ignore: yes,
      },
      ['match_method', 'pattern', 'expire'],
    ),
  ),
  speed_limit: list(
    record({
      type: from('all', 'ext', 'dir', 'route', 'regex'),
      pattern: text,
      speed: from('8', '80'),
      begin_time: from('00:00', '08:00'),
      end_time: from('12:00', '23:59'),
    }),
  ),
  source_url_rewrite: list(record({ origin_url: text, target_url: from('/x', '/$1') })),
  deny_url: record({ urls: texts }),
  combined_ban: list(record({ configs })),
  head_control: record({
    list: list(
      record({
        regex: text,
        head_direction: from('CLI_REQ', 'CLI_REP'),
        head_op: fc.constant('DEL'),
        head: from('a', 'b'),
        order: fc.integer({ min: 1, max: 2 }),
      }),
    ),
  }),
  ip_white_list: record({ list: addresses }),
  referer: record({
    type: fc.constantFrom(1, 2),
    list: fc.array(from('a.com', '*.a.com', 'x.a.com'), { minLength: 1 }),
    allow_empty: fc.boolean(),
  }),
  user_agent: record({
    ua_list: texts.map((each) =>
      each.every((one) => typeof one === 'string') ? each.join('\n') : secret,
    ),
    url_pattern: text,
    url_match_type: from('all', 'ext', 'dir', 'route', 'regex'),
    url_case_insensitive: yes,
    ua_case_insensitive: yes,
    allow_empty_ua: yes,
    ua_match_type: from('pattern', 'exact'),
    ua_type: from('white', 'black'),
  }),
  visit_deny_whitelist: list(
    record({ url: from('/a', '/A', '/a?x=1', '/b'), turn_on: fc.constant(true) }),
  ),
  video_drag: record({
    url: text,
    mp4: from('on'),
    flv: from('on'),
    start: from('s'),
    end: from('e'),
  }),
  vendor_origin_auth: record({
    auth_url: from('http://a.example.com/'),
    match_method: kind,
    pattern: text,
  }),
  https: record({ cert_id: fc.constantFrom(0, 1), force_https: fc.constantFrom(0, 301) }),
  deny_protocol: record({ protocol: from('http', 'https') }),
}

/** Canonical values of a configuration, without those that no manifest may have. */
const configurations = fc.record(values, { requiredKeys: [] }).map((items) =>
  Object.fromEntries(
    Object.entries(items).flatMap(([key, value]) => {
      const parsed = parseItem(getItemSpec(key), value ?? null, 'manifest').value
      return parsed === null ? [] : [[key, parsed]]
    }),
  ),
)

itOften('each rule has findings of its own, whatever its patterns are', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(configurations, (items) => {
      for (const key of Object.keys(items)) seen.add(key)
      const { findings } = find(items)
      for (const { detail, rule } of findings) {
        expect(detail).not.toContain('[object')
        // A finding about an item as a whole: a question of its rules had no answer.
        expect(rule.pointer, detail).not.toBe('')
      }
    }),
    { numRuns: runs(60, 3000) },
  )
  expect(seen.size).toBe(Object.keys(values).length)
})
