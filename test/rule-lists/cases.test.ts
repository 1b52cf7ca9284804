import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { brief, find, rule } from './find.ts'
import { itLong } from '../runs.ts'

const ext = (pattern: string, time = 9) => ({ type: 1, pattern, time })
const dir = (pattern: string, time = 9) => ({ type: 2, pattern, time })
const route = (pattern: string, time = 9) => ({ type: 3, pattern, time })
const regex = (pattern: string, time = 9) => ({ type: 4, pattern, time })
const ban = (configs: JsonObject) => ({ action: 'ban', configs })

/** Expects these findings about items. */
function expectFound(found: string[], ...given: Parameters<typeof find>): void {
  expect(brief(find(...given))).toEqual(found)
}

describe('rules of first-match lists', () => {
  it.each<[string, JsonObject[], string[]]>([
    ['the same suffix', [ext('jpg'), ext('.jpg')], ['rule-duplicate cache_rule/1 text']],
    ['other fields', [ext('jpg'), ext('.jpg', 8)], ['rule-contradictory cache_rule/1 text']],
    [
      'a wider directory',
      [dir('/a/'), dir('/a/b/', 8)],
      ['rule-shadowed cache_rule/1 prefix R11=recursive'],
    ],
    ['a narrower directory first', [dir('/a/b/'), dir('/a/', 8)], []],
    [
      'a path with a suffix',
      [ext('jpg'), route('/x.jpg', 8)],
      ['rule-shadowed cache_rule/1 suffix'],
    ],
    [
      'a path in a directory',
      [dir('/a/'), route('/a/b', 8)],
      ['rule-shadowed cache_rule/1 prefix'],
    ],
    [
      'a directory for everything',
      [dir('/'), ext('jpg', 8)],
      ['rule-shadowed cache_rule/1 prefix R11=recursive'],
    ],
    [
      'the order of entries',
      [ext('jpg,png'), ext('png,jpg')],
      ['rule-duplicate cache_rule/1 text'],
    ],
    [
      'two rules together',
      [ext('jpg'), ext('png'), ext('jpg,png')],
      ['rule-unreachable cache_rule/2 union'],
    ],
    [
      'an expression for all',
      [regex('.*'), regex('/a', 8)],
      ['rule-shadowed cache_rule/1 automaton'],
    ],
    [
      'another host',
      [regex('^http://www\\.test\\.com/')],
      ['rule-never-matches cache_rule/0 automaton'],
    ],
    ['outside of the fragment', [regex('^(?=x)')], ['rule-undecided cache_rule/0 -']],
    [
      'what is not ASCII',
      [{ type: 2, pattern: '/caf\u00e9/', time: 9 }],
      ['rule-undecided cache_rule/0 -'],
    ],
    ['a word boundary', [regex('^https?://.*\\bx')], ['rule-undecided cache_rule/0 -']],
    [
      'an equal one outside of it',
      [regex('^(?=x)'), regex('^(?=x)')],
      ['rule-undecided cache_rule/0 -', 'rule-duplicate cache_rule/1 text'],
    ],
    [
      '* over slashes',
      [route('/a/*'), route('/a/b/c', 8)],
      ['rule-shadowed cache_rule/1 automaton R8=any'],
    ],
    ['an open end', [dir('/a'), route('/ab', 8)], []],
    ['a closed end', [dir('/a'), route('/a/b', 8)], ['rule-shadowed cache_rule/1 prefix']],
    ['case', [ext('JPG'), ext('jpg', 8)], []],
    ['no leading slash', [dir('/a/'), route('a/b', 8)], ['rule-shadowed cache_rule/1 prefix']],
    [
      'no leading slash of the wider one',
      [dir('a/'), route('/a/b', 8)],
      ['rule-shadowed cache_rule/1 prefix R9=root'],
    ],
    [
      'a suffix with a dot',
      [ext('tar.gz')],
      ['rule-never-matches cache_rule/0 automaton R12=last-dot'],
    ],
    [
      'a path for an expression that sees whole URLs',
      [regex('^/images/')],
      ['rule-never-matches cache_rule/0 automaton'],
    ],
  ])('%s', (_, rules, found) => expectFound(found, { cache_rule: rules }))

  it.each<[string, JsonObject[], JsonObject, string[]]>([
    [
      'an open end',
      [dir('/a'), route('/ab', 8)],
      { R10: 'prefix' },
      ['rule-shadowed cache_rule/1 prefix'],
    ],
    [
      'case',
      [ext('JPG'), ext('jpg', 8)],
      { R6: 'insensitive' },
      ['rule-contradictory cache_rule/1 text'],
    ],
    [
      'depth',
      [dir('/a/'), dir('/a/b/', 8)],
      { R11: 'recursive' },
      ['rule-shadowed cache_rule/1 prefix'],
    ],
    ['no depth', [dir('/a/'), dir('/a/b/', 8)], { R11: 'direct' }, []],
    ['a suffix with a dot', [ext('tar.gz')], { R12: 'ends-with' }, []],
    [
      'a suffix without effect',
      [ext('tar.gz')],
      { R12: 'last-dot' },
      ['rule-never-matches cache_rule/0 automaton'],
    ],
  ])('%s that the operator has set: %j', (_, rules, assume, found) => {
    const { findings } = find({ cache_rule: rules }, assume)
    expect(brief({ findings })).toEqual(found)
    expect(findings.every(({ severity }) => severity === 'warning')).toBe(true)
  })

  it('is a note if it rests on an answer that nobody has set', () => {
    const { findings } = find({ cache_rule: [route('/a/*'), route('/a/b/c', 8)] })
    expect(findings).toMatchObject([{ severity: 'note', rests: { R8: 'any' } }])
  })

  it('an expression of cache_rule_list may see the path alone', () => {
    const items = { cache_rule_list: [rule('regex', '^/images/', 9, { priority: 1 })] }
    const never = 'rule-never-matches cache_rule_list/0 automaton'
    expectFound([`${never} R5=whole-url`], items)
    expectFound([], items, { R5: 'path' })
    expectFound([never], items, { R5: 'whole-url' })
  })

  it('a rule that ignores case covers the same one that does not', () => {
    const narrow = rule('ext', 'jpg', 8, { priority: 2, case_ignore: 'no' })
    const found = find({ cache_rule_list: [rule('ext', 'jpg', 9, { priority: 1 }), narrow] })
    expect(brief(found)).toEqual(['rule-shadowed cache_rule_list/1 text'])
    const other = find({
      cache_rule_list: [{ ...narrow, priority: 1 }, rule('ext', 'jpg', 9, { priority: 2 })],
    })
    expect(brief(other)).toEqual([])
  })

  it('ranks by priority, not by place', () => {
    const rules = [rule('dir', '/a/b/', 9, { priority: 5 }), rule('dir', '/a/', 8, { priority: 1 })]
    expectFound(
      ['rule-shadowed cache_rule_list/0 prefix'],
      { cache_rule_list: rules },
      { R11: 'recursive' },
    )
  })

  it.each<[JsonObject[], string[]]>([
    [
      [ext('gif'), ext('jpg'), regex('/y'), ext('png'), ext('jpg,png')],
      ['/1', '/3'],
    ],
    [
      [regex('/a'), regex('/c'), regex('/b'), regex('/a|/b')],
      ['/0', '/2'],
    ],
    [[ext('jpg'), ext('png'), ext('gif'), ext('jpg,png,gif')], []],
  ])('names the two rules that hide another one, and never more: %j', (rules, hiding) => {
    const { findings } = find({ cache_rule: rules })
    const found = findings.filter(({ code }) => code === 'rule-unreachable')
    expect(found.flatMap(({ other }) => other.map(({ pointer }) => pointer))).toEqual(hiding)
  })

  it('says of a rule after one that is undecided that it could not be compared', () => {
    const found = find({ cache_rule: [ext('jpg'), regex('^(?=x)'), ext('png'), ext('jpg')] })
    expect(brief(found)).toEqual([
      'rule-undecided cache_rule/1 -',
      'rule-undecided cache_rule/2 -',
      'rule-duplicate cache_rule/3 text',
    ])
  })

  it('compares rewriting rules only if the first or last decides', () => {
    const rules = [
      { origin_url: '/a/.*', target_url: '/x' },
      { origin_url: '/a/b.*', target_url: '/y' },
    ]
    const list = (answers: JsonObject) => brief(find({ source_url_rewrite: rules }, answers))
    expect(list({})).toEqual(['rule-shadowed source_url_rewrite/1 automaton R58=first'])
    expect(list({ R58: 'first' })).toEqual(['rule-shadowed source_url_rewrite/1 automaton'])
    expect(list({ R58: 'last' })).toEqual([])
    expect(list({ R58: 'chain' })).toEqual([])
    const never = rules.map((each) => ({ ...each, origin_url: '^http:' }))
    expectFound(['rule-never-matches source_url_rewrite/0 automaton'], {
      source_url_rewrite: never.slice(0, 1),
    })
    expectFound(['rule-never-matches source_url_rewrite/1 automaton R58=first'], {
      source_url_rewrite: [...rules.slice(1), ...never.slice(1)],
    })
  })

  it('compares speed limits with their windows', () => {
    const limit = (pattern: string, begin_time: string, end_time: string, speed = '80') => ({
      type: pattern === '.*' ? 'all' : 'ext',
      pattern,
      speed,
      begin_time,
      end_time,
    })
    const rules = [
      limit('.*', '08:00', '12:00'),
      limit('.*', '12:00', '18:00', '90'),
      limit('jpg', '09:00', '17:00', '70'),
    ]
    expectFound(['rule-unreachable speed_limit/2 union R75=first'], { speed_limit: rules })
    expectFound(['rule-unreachable speed_limit/2 union'], { speed_limit: rules }, { R75: 'first' })
    expect(
      brief(
        find({ speed_limit: [limit('.*', '08:00', '11:00'), ...rules.slice(1)] }, { R75: 'first' }),
      ),
    ).toEqual([])
    expectFound([], { speed_limit: rules }, { R75: 'lowest' })
  })
})

describe('rules whose order is open', () => {
  const both = [rule('dir', '/a/', 60), rule('ext', 'jpg', 120)]

  it('are reported if they overlap and differ, with a request that both match', () => {
    const found = find({ cache_rule_list: both })
    expect(brief(found)).toEqual(['rule-order-unspecified cache_rule_list/1 -'])
    expect(found.findings[0]?.witness).toEqual({ url: 'https://www.example.com/a/x.jpg' })
    expectFound([], { cache_rule_list: both }, { R14: 'first' })
  })

  it('are not reported if they do the same, or do not overlap', () => {
    expect(
      brief(find({ cache_rule_list: [rule('dir', '/a/', 60), rule('ext', 'jpg', 60)] })),
    ).toEqual([])
    expect(
      brief(find({ cache_rule_list: [rule('ext', 'png', 60), rule('ext', 'jpg', 9)] })),
    ).toEqual([])
  })

  it('may have a priority on one side (R39), or stand in two items (R38)', () => {
    const one = [rule('dir', '/a/', 60, { priority: 1 }), rule('ext', 'jpg', 120)]
    expectFound(['rule-order-unspecified cache_rule_list/1 -'], { cache_rule_list: one })
    expectFound([], { cache_rule_list: one }, { R39: 'after' })
    const two = {
      cache_rule: [ext('jpg')],
      cache_rule_list: [rule('dir', '/a/', 60, { priority: 1 })],
    }
    expectFound(['rule-order-unspecified cache_rule/0 -'], two)
    expectFound([], two, { R38: 'list-first' })
  })

  it('are compared as one list if R38 is settled', () => {
    const two = {
      cache_rule: [dir('/a/b/')],
      cache_rule_list: [rule('dir', '/a/', 60, { priority: 1 })],
    }
    const shadowed = 'rule-shadowed cache_rule/0 prefix'
    expectFound([`${shadowed} R11=recursive R38=list-first`], two)
    expectFound(['rule-order-unspecified cache_rule/0 -'], two, { R11: 'recursive' })
    expectFound([shadowed], two, { R38: 'list-first', R11: 'recursive' })
    for (const R38 of ['rule-first', 'list-only', 'rule-only']) expectFound([], two, { R38 })
  })

  it('may overlap only under an answer', () => {
    const rules = [rule('route', '/a/*', 60), rule('route', '/a/b/c', 9)].toReversed()
    const { findings } = find({ cache_rule_list: rules })
    expect(brief({ findings })).toEqual(['rule-order-unspecified cache_rule_list/1 - R8=any'])
    expect(findings[0]).toMatchObject({
      severity: 'note',
      witness: { url: 'https://www.example.com/a/b/c' },
    })
    expectFound([], { cache_rule_list: rules }, { R8: 'segment' })
  })

  it('overlap by any of their entries', () => {
    const rules = ['jpg,png,gif,webp,css,js', 'woff,woff2,ttf,eot,otf,js'].map((pattern, i) =>
      rule('ext', pattern, 60 + i),
    )
    const { findings } = find({ cache_rule_list: rules })
    expect(brief({ findings })).toEqual(['rule-order-unspecified cache_rule_list/1 -'])
    expect(findings[0]?.witness).toEqual({ url: 'https://www.example.com/x.js' })
  })

  it('repeat each other whatever orders them', () => {
    const [jpg, wider] = [rule('ext', 'jpg', 60), rule('ext', 'png,jpg', 9)]
    const { findings } = find({ cache_rule_list: [jpg, jpg] })
    expect(brief({ findings })).toEqual(['rule-duplicate cache_rule_list/1 text'])
    expect(findings[0]?.severity).toBe('warning')
    expectFound(
      ['rule-duplicate cache_rule_list/0 text'],
      { cache_rule_list: [jpg, jpg] },
      { R14: 'last' },
    )
    // Without the last one, a service that ranks it first would cache otherwise.
    expectFound(
      [
        'rule-order-unspecified cache_rule_list/1 -',
        'rule-duplicate cache_rule_list/2 text R14=first',
      ],
      { cache_rule_list: [jpg, wider, jpg] },
    )
  })
})

describe('entries of any-match lists', () => {
  it.each<[string, JsonObject, string[]]>([
    [
      'a network',
      { ip_black_list: { list: ['10.0.0.0/8', '10.1.2.3', '11.0.0.1'] } },
      ['entry-redundant ip_black_list/list/1 cidr'],
    ],
    [
      'a wildcard',
      {
        referer: {
          type: 2,
          list: ['*.example.com', 'a.example.com', 'example.com', 'xexample.com'],
        },
      },
      ['entry-redundant referer/list/1 suffix', 'entry-redundant referer/list/2 suffix'],
    ],
    [
      'a suffix twice',
      { cache_rule: [ext('jpg,.jpg,png')] },
      ['entry-redundant cache_rule/0/pattern text'],
    ],
    [
      'a directory',
      { cache_rule: [dir('/a/,/a/b/')] },
      ['entry-redundant cache_rule/0/pattern prefix R11=recursive'],
    ],
    [
      'a contained text',
      { combined_ban: [ban({ ua: { list: ['Bot', 'BadBot'] } })] },
      ['entry-redundant combined_ban/0/configs/ua/list/1 substring'],
    ],
    [
      'a bound text',
      { combined_ban: [ban({ ua: { list: ['^Bot$', 'Bot', '^BadBot', 'x$'] } })] },
      [
        'entry-redundant combined_ban/0/configs/ua/list/0 substring',
        'entry-redundant combined_ban/0/configs/ua/list/2 substring',
      ],
    ],
    [
      'case',
      {
        combined_ban: [
          ban({ referer: { list: ['bad', 'BADLY'] } }),
          ban({ ua: { list: ['bad', 'BADLY'] } }),
        ],
      },
      ['entry-redundant combined_ban/0/configs/referer/list/1 substring'],
    ],
    [
      'case that a field names',
      { combined_ban: [ban({ ua: { list: ['bad', 'BADLY'], case_insensitive: 'no' } })] },
      ['entry-redundant combined_ban/0/configs/ua/list/1 substring R24=labels'],
    ],
    [
      'agents',
      {
        user_agent: {
          ua_list: 'curl\ncurl/8\ncurl|wget',
          url_pattern: '.*',
          url_match_type: 'all',
          ua_match_type: 'pattern',
          ua_case_insensitive: 'yes',
          url_case_insensitive: 'no',
          allow_empty_ua: 'no',
          ua_type: 'black',
        },
      },
      [
        'entry-redundant user_agent/ua_list substring',
        'entry-redundant user_agent/ua_list substring R26=text',
      ],
    ],
    [
      'exempt URLs',
      { visit_deny_whitelist: [{ url: '/a' }, { url: '/a?x=1' }, { url: '/ab' }] },
      ['entry-redundant visit_deny_whitelist/1 text R19=path'],
    ],
    [
      'an expression',
      { deny_url: { urls: ['/a', '/a/b'] } },
      ['entry-redundant deny_url/urls/1 automaton'],
    ],
    [
      'another host',
      { deny_url: { urls: ['^http://www\\.test\\.com/'] } },
      ['rule-never-matches deny_url/urls/0 automaton'],
    ],
    ['a URL as an expression', { deny_url: { urls: ['http://www.test.com/5.txt'] } }, []],
    [
      'a ban with more keys',
      {
        combined_ban: [
          ban({ ip: { list: ['10.0.0.0/8'] } }),
          ban({ ip: { list: ['10.1.0.0/16'] }, ua: { list: ['Bot'] } }),
          ban({ ip: { list: ['10.1.0.0/16'], is_match: 'no' }, ua: { list: ['Bot'] } }),
        ],
      },
      ['entry-redundant combined_ban/1 keys R23=all'],
    ],
    [
      'a ban with the same keys',
      {
        combined_ban: [
          ban({ ip: { list: ['10.0.0.0/8'] }, ua: { list: ['Bot'] } }),
          ban({ ip: { list: ['10.1.0.0/16'] }, ua: { list: ['BadBot'] } }),
        ],
      },
      ['entry-redundant combined_ban/1 keys'],
    ],
    [
      'a ban that an answer covers',
      {
        combined_ban: ['bad', 'BADLY'].map((text) =>
          ban({ ua: { list: [text], case_insensitive: 'no' } }),
        ),
      },
      ['entry-redundant combined_ban/1 keys R24=labels'],
    ],
    [
      'a ban of the complement',
      {
        combined_ban: [
          ban({ ip: { list: ['10.1.0.0/16'], is_match: 'no' } }),
          ban({ ip: { list: ['10.0.0.0/8'], is_match: 'no' } }),
        ],
      },
      ['entry-redundant combined_ban/1 keys'],
    ],
    [
      'a header rule',
      {
        head_control: {
          list: [
            {
              regex: '^http://www\\.test\\.com/',
              head_op: 'DEL',
              head_direction: 'CLI_REQ',
              head: 'X',
              order: 1,
            },
          ],
        },
      },
      ['rule-never-matches head_control/list/0 automaton'],
    ],
  ])('%s', (_, items, found) => {
    expectFound(found, items)
  })

  it('are reported once if two cover each other: the one that is covered for sure', () => {
    for (const pattern of ['a,/a', '/a,a']) {
      const { findings } = find({ cache_rule: [route(pattern)] })
      expect(findings).toMatchObject([
        { code: 'entry-redundant', rule: { pattern: 'a' }, other: [{ pattern: '/a' }], rests: {} },
      ])
    }
  })

  it('rest on the same in the same order, whatever the order of the keys of a ban', () => {
    const bans = [
      { ua: { list: ['bad'], case_insensitive: 'no' }, url: { list: ['^http'] } },
      { ua: { list: ['BADLY'], case_insensitive: 'no' }, url: { list: ['/a'] } },
    ]
    const turned = bans.map(({ ua, url }) => ({ url, ua }))
    const [one, other] = [bans, turned].map((each) => brief(find({ combined_ban: each.map(ban) })))
    expect(one).toEqual(['entry-redundant combined_ban/1 keys R5=whole-url R24=labels'])
    expect(other).toEqual(one)
  })

  it('never match as a whole URL of another host', () => {
    const items = { deny_url: { urls: ['http://www.test.com/5.txt'] } }
    expectFound(['rule-never-matches deny_url/urls/0 automaton'], items, { R4: 'whole' })
  })

  it('overlap between items that ban together', () => {
    const items = {
      combined_ban: [ban({ ip: { list: ['10.0.0.0/8'] } })],
      ip_black_list: { list: ['10.1.0.0/16', '11.0.0.1'] },
    }
    const { findings } = find(items)
    expect(brief({ findings })).toEqual(['networks-overlap combined_ban/0/configs/ip/list/0 cidr'])
    expect(findings[0]).toMatchObject({
      severity: 'note',
      other: [{ pointer: '/list/0' }],
      witness: { ip: '10.1.0.0' },
    })
    const negated = [ban({ ip: { list: ['10.0.0.0/8'], is_match: 'no' } })]
    expectFound([], { ...items, combined_ban: negated })
  })
})

describe('items together', () => {
  it('deny an address of the white list by a ban', () => {
    const items = {
      ip_white_list: { list: ['10.1.2.3', '11.0.0.1'] },
      combined_ban: [ban({ ip: { list: ['10.0.0.0/8'] } })],
    }
    expectFound(['white-list-denied ip_white_list/list/0 cidr'], items)
    const exempt = { ...items, visit_deny_whitelist: [{ url: '/a' }] }
    expectFound(['white-list-denied ip_white_list/list/0 cidr R18=anti-leech'], exempt)
    expectFound([], exempt, { R18: 'every' })
    const other = [ban({ ip: { list: ['10.0.0.0/8'] }, ua: { list: ['Bot'] } })]
    expectFound([], { ...items, combined_ban: other })
  })

  it('serve nothing', () => {
    const deny = (protocol: string) => ({ deny_protocol: { protocol } })
    const never = ['never-served deny_protocol/protocol -']
    expectFound(never, { https: { cert_id: 0 }, ...deny('http') })
    expectFound([], { https: { cert_id: 0 }, ...deny('https') })
    expectFound(never, { https: { cert_id: 5, force_https: 301 }, ...deny('https') })
    expectFound([], { https: { cert_id: 5, force_https: 0 }, ...deny('https') })
    const exempt = { https: { cert_id: 0 }, ...deny('http'), visit_deny_whitelist: [{ url: '/a' }] }
    expectFound(['never-served deny_protocol/protocol - R18=anti-leech'], exempt)
    expectFound([], exempt, { R18: 'every' })
  })

  it.each<[JsonObject, string[]]>([
    [{ deny_url: { urls: ['/a', '.*'] } }, ['never-served deny_url/urls/1 -']],
    [{ deny_url: { urls: ['/a'] } }, []],
    [
      { combined_ban: [ban({ url: { list: ['^.*$'] } })] },
      ['never-served combined_ban/0/configs/url/list/0 -'],
    ],
    [{ combined_ban: [ban({ url: { list: ['.*'], is_match: 'no' } })] }, []],
    [{ combined_ban: [ban({ url: { list: ['.*'] }, method: { method_type: 'get' } })] }, []],
    [
      { deny_url: { urls: ['.*'] }, visit_deny_whitelist: [{ url: '/a' }] },
      ['never-served deny_url/urls/0 - R18=anti-leech'],
    ],
  ])('an expression that denies every URL: %j', (items, expected) => {
    const { findings } = find(items)
    const never = findings.filter(({ code }) => code === 'never-served')
    expect(brief({ findings: never })).toEqual(expected)
  })

  it.each([
    '\\.(jpg|png)$',
    '^https?://[^/]+/live/.*\\.m3u8(\\?.*)?$',
    '/images/',
    '/v[0-9]+/users/\\d+',
    '(?:foo|bar)\\.html?$',
    'a.*b',
  ])('has no note of an ordinary expression: %s', (pattern) => {
    const speed = { speed: '8', begin_time: '00:00', end_time: '23:59' }
    for (const items of [
      { cache_rule: [regex(pattern)] },
      { deny_url: { urls: [pattern] } },
      { speed_limit: [{ type: 'regex', pattern, ...speed }] },
      { video_drag: { url: pattern, mp4: 'on', flv: 'on' } },
    ] as JsonObject[])
      expectFound([], items)
  })

  it.each<[JsonObject, string[]]>([
    [{ cache_rule: [route('/', 90), regex('.*', 60)] }, []],
    [
      { cache_rule: [regex('a b'), regex('.*', 60)] },
      ['rule-never-matches cache_rule/0 automaton R2=as-sent'],
    ],
    [
      { cache_rule: [regex('"'), regex('.*', 60), ext('jpg')] },
      [
        'rule-never-matches cache_rule/0 automaton R2=as-sent',
        'rule-shadowed cache_rule/2 automaton',
      ],
    ],
    [
      {
        speed_limit: ['/a', '.*'].map((pattern) => ({
          type: pattern === '.*' ? 'regex' : 'dir',
          pattern,
          speed: '8',
          begin_time: '00:00',
          end_time: '23:59',
        })),
      },
      [],
    ],
  ])('an expression for all asks for no letter case: %j', (items, expected) => {
    expectFound(expected, items)
  })

  const secret = { $secret: 'preview' }
  const why = 'it depends on secret preview'
  it.each<[string, JsonObject, string]>([
    ['a rule', { cache_rule: [ext('jpg'), { ...ext(''), pattern: secret }] }, 'cache_rule/1'],
    ['an entry', { deny_url: { urls: ['/a', secret] } }, 'deny_url/urls/1'],
    ['an address', { ip_black_list: { list: [secret, '10.0.0.0/8'] } }, 'ip_black_list/list/0'],
    [
      'a lone pattern',
      { vendor_origin_auth: { match_method: 'regex', pattern: secret } },
      'vendor_origin_auth/pattern',
    ],
    ['a value', { speed_limit: { $unknown: true, secrets: [secret] } }, 'speed_limit'],
  ])('%s that is a secret is undecided', (_, items, place) => {
    const { findings } = find(items)
    const found = findings.map(({ code, rule: { item, pointer }, detail }) => [
      code,
      item + pointer,
      detail,
    ])
    expect(found).toContainEqual(['rule-undecided', place, expect.stringContaining(why)])
  })

  it('an equal secret repeats a rule, and a rule for all hides one', () => {
    const rules = [
      { ...ext('', 5), pattern: secret },
      { ...ext('', 5), pattern: secret },
    ]
    expect(brief(find({ cache_rule: rules }))).toContain('rule-duplicate cache_rule/1 text')
    const hidden = [regex('.*'), { ...ext('', 5), pattern: secret }]
    expectFound(['rule-shadowed cache_rule/1 automaton'], { cache_rule: hidden })
  })

  it.each<[JsonObject, string]>([
    [
      {
        cache_rule: [
          { ...ext('jpg', 0), ignore_query: 'on', ignore_no_cache: 'off', ignore_expired: 'on' },
        ],
      },
      'cache_rule/0/ignore_query',
    ],
    [
      { cache_rule_list: [rule('ext', 'jpg', 0, { follow_expired: 'yes' })] },
      'cache_rule_list/0/follow_expired',
    ],
    [
      {
        cache_rule_list: [
          rule('ext', 'jpg', 9, { cache_or_not: 'no', ignore_no_cache_headers: 'yes' }),
        ],
      },
      'cache_rule_list/0/ignore_no_cache_headers',
    ],
    [
      { visit_timestamp: { pattern: '.*', req_uri_type: 3, timename: 't' } },
      'visit_timestamp/timename',
    ],
    [{ cache_share: { share_way: 'inner_share', domain: 'a.example.com' } }, 'cache_share/domain'],
    [
      {
        vendor_origin_auth: {
          auth_url: 'http://a.example/',
          match_method: 'default',
          pattern: 'jpg',
        },
      },
      'vendor_origin_auth/pattern',
    ],
    [
      { cache_error_code: { code: ['404'], bcache: 'off', cache_time: 5 } },
      'cache_error_code/cache_time',
    ],
    [
      { error_bcache: { code: ['404'], bcache: 'off', cache_unit: 'day' } },
      'error_bcache/cache_unit',
    ],
    [
      { rate_limit: { max_rate_count: 1, leading_flow_unit: 'KB' } },
      'rate_limit/leading_flow_unit',
    ],
    [
      { smart_compression: { compression_mode: 'gzip', brotli_compression_rate: 3 } },
      'smart_compression/brotli_compression_rate',
    ],
  ])('give a value no effect: %j', (items, at) => {
    expect(brief(find(items))).toContain(`value-without-effect ${at} -`)
    expect(brief(find(items)).filter((each) => each.startsWith('value'))).toHaveLength(1)
  })

  it('say nothing about fields that have an effect', () => {
    const rules = [{ ...ext('jpg'), ignore_query: 'on' }]
    const list = [
      rule('ext', 'png', 0, { cache_or_not: 'yes', follow_expired: 'yes', priority: 1 }),
    ]
    const items = { cache_share: { share_way: 'cross_all_share', domain: 'a.example.com' } }
    expect(
      brief(find({ ...items, cache_rule: rules, cache_rule_list: list }, { R38: 'list-first' })),
    ).toEqual([])
  })
})

describe('hostile lists', () => {
  const hostile = (i: number) => `/(a|b)*a(a|b){${10 + (i % 3)}}x{${i}}.*(c|d){0,9}`

  itLong('end in bounded time', () => {
    const rules = Array.from({ length: 100 }, (_, i) => regex(hostile(i)))
    const started = process.cpuUsage()
    find({ cache_rule: rules })
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(20)
  })

  itLong('report no rule that is not known to be hidden', () => {
    const rules = [regex('/(a|b)*a(a|b){14}c'), regex('/(a|b)*b(a|b){14}c', 8)]
    expectFound(['rule-undecided cache_rule/0 -', 'rule-undecided cache_rule/1 -'], {
      cache_rule: rules,
    })
  })

  itLong('may have entries that are not what they should be', () => {
    for (const pattern of [
      '',
      ',',
      '*',
      '/',
      '.',
      '%',
      '[',
      '\u0000',
      'ü',
      '__proto__',
      '/'.repeat(5000),
    ])
      for (const type of [1, 2, 3, 4])
        expect(() =>
          find({
            cache_rule: [
              { type, pattern, time: 1 },
              { type, pattern: `${pattern}x`, time: 2 },
            ],
          }),
        ).not.toThrow()
  })
})
