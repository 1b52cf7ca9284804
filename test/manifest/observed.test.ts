import { describe, expect, it } from 'vitest'
import { readObserved } from '../../src/manifest/observed.ts'
import { SecretVault } from '../../src/manifest/secret-vault.ts'
import {
  confirmed,
  unrecorded,
  type Held,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/model/item.ts'
import type { Json, JsonObject } from '../../src/model/json.ts'

const www = 'www.example.com'
const vaultOf = (secrets: Record<string, string>) =>
  new SecretVault('test', (name) => secrets[name] ?? null)
const vault = vaultOf({ key: 'hunter2hunter2', token: 'sesame-sesame' })
const key = vault.refer('${secret:key}')
const bearer = vault.refer('Bearer ${secret:token}')
const snapshot = (items: Record<ItemKey, Held>): Snapshot =>
  new Map([[www, new Map(Object.entries(items))]])

const signed = (secret: Json) => ({
  pattern: '.*',
  time_format: 'timestamp',
  key: secret,
  deadtime: 60,
  req_uri_type: 1,
})
const signedValue: Value = {
  ...signed({ ...key }),
  origin_type: 1,
  timename: 'time',
  keyname: 'key',
}
const heads = (...values: Json[]) =>
  values.map((head_value, i) => ({ head_name: `X-${i}`, head_value, write_when_exists: 'yes' }))

function read(config: JsonObject, recorded: Record<ItemKey, Held>, by = vault) {
  const { observed, notes } = readObserved(
    { [www]: config },
    { recorded: snapshot(recorded), desired: new Map(), itemKeys: {}, vault: by },
  )
  return { seen: Object.fromEntries(observed.get(www) ?? []), notes }
}

describe('readObserved', () => {
  it('gives canonical values of what is managed, and counts the rest', () => {
    const { seen, notes } = read(
      {
        timeout: { time: 60 },
        https: { cert_id: 1 },
        nonsense: [],
        constructor: 1,
        ip_black_list: { list: ['192.0.2.2', '192.0.2.1'] },
      },
      { timeout: confirmed({ time: '5' }), ip_black_list: confirmed(null) },
    )
    expect(seen).toEqual({
      timeout: { held: confirmed({ time: '60' }), notVerified: [] },
      ip_black_list: {
        held: confirmed({ list: ['192.0.2.1', '192.0.2.2'], mode: 'cover' }),
        notVerified: [],
      },
    })
    expect(notes).toEqual(['3 observed items are not managed here and not looked at.'])
  })

  it('takes names of domains in any letter case, and wire names', () => {
    const known = {
      recorded: snapshot({ deny_protocol: confirmed({ protocol: 'http' }) }),
      desired: new Map(),
      vault,
    }
    const { observed } = readObserved(
      { 'WWW.Example.com': { deny_x: { protocol: 'https' } } },
      { ...known, itemKeys: { deny_protocol: 'deny_x' } },
    )
    expect(observed.get(www)?.get('deny_protocol')?.held).toEqual(confirmed({ protocol: 'https' }))
  })

  it.each<[string, Json, string]>([
    ['null', null, 'expected an object, got null'],
    ['a list', [], 'expected an object, got a list'],
    ['a text', 'x', 'expected an object, got a string'],
    [
      'no domain',
      { 'not a domain\u001b[2J': {} },
      'expected names of domains as keys, got "not a domain\\u001b[2J"',
    ],
    ['a very long key', { ['x'.repeat(100_000)]: {} }, 'expected names of domains'],
    ['items in a list', { [www]: [] }, `expected an object of items under "${www}", got a list`],
    [
      'a domain twice',
      { [www]: {}, [www.toUpperCase()]: {} },
      `the domain "${www}" stands in it twice`,
    ],
  ])('refuses %s', (_what, data, why) => {
    const run = () =>
      readObserved(data, { recorded: new Map(), desired: new Map(), itemKeys: {}, vault })
    expect(run).toThrow(
      expect.objectContaining({
        code: 'not-observed',
        message: expect.stringContaining(why) as string,
      }) as Error,
    )
    try {
      run()
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(300)
    }
  })

  it.each<[string, ItemKey, Json, string, string]>([
    ['an invalid value', 'timeout', { time: 9999 }, '/time', '9999'],
    ['another type', 'timeout', 'x', '', 'expected an object'],
    ['a field that is missing', 'https', { force_https: 0 }, '', 'cert_id'],
    ['an action', 'ip_black_list', { list: ['192.0.2.1'], mode: 'append' }, '/mode', 'an action'],
    [
      'deep nesting',
      'timeout',
      JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as Json,
      '',
      'expected an object',
    ],
  ])('%s was seen and is unreadable, and why is known', (_what, item, payload, pointer, why) => {
    const { seen, notes } = read({ [item]: payload }, { [item]: confirmed(null) })
    const reason = expect.stringContaining(why) as string
    expect(seen).toEqual({
      [item]: { held: unrecorded, notVerified: [], unreadable: { pointer, reason } },
    })
    expect(notes).toEqual([])
  })

  it('an unreadable value says nothing about the items that it would empty', () => {
    const recorded = { ip_black_list: confirmed({ list: ['192.0.2.1'], mode: 'cover' }) }
    const whites: Json[] = [
      'x',
      { list: 'x' },
      { list: [] },
      { list: ['192.0.2.7'], mode: 'append' },
    ]
    for (const white of whites) expect(read({ ip_white_list: white }, recorded).seen).toEqual({})
  })

  it('an item under two names is refused', () => {
    const known = {
      recorded: snapshot({ deny_protocol: confirmed(null) }),
      desired: new Map(),
      vault,
    }
    const data = { [www]: { deny_x: { protocol: 'https' }, deny_protocol: { protocol: 'http' } } }
    expect(() => readObserved(data, { ...known, itemKeys: { deny_protocol: 'deny_x' } })).toThrow(
      'deny_protocol',
    )
  })

  it('null and an empty list say that nothing is there, a missing item says nothing', () => {
    const { seen } = read(
      { timeout: null, speed_limit: [] },
      { timeout: confirmed(null), speed_limit: confirmed(null), referer: confirmed(null) },
    )
    const nothing = { held: { status: 'unset', candidates: [] }, notVerified: [] }
    expect(seen).toEqual({ timeout: nothing, speed_limit: nothing })
  })

  it('an item that empties another one proves the other one gone, also when it is not managed', () => {
    const recorded = { ip_black_list: confirmed({ list: ['192.0.2.1'], mode: 'cover' }) }
    const white = { list: ['192.0.2.7'] }
    expect(read({ ip_white_list: white }, recorded).seen).toMatchObject({
      ip_black_list: { held: { status: 'unset' } },
    })
    expect(read({ ip_white_list: null }, recorded).seen).toEqual({})
    expect(
      read({ ip_white_list: white, ip_black_list: { list: ['192.0.2.1'] } }, recorded).seen,
    ).toMatchObject({
      ip_black_list: { held: { status: 'confirmed' } },
    })
  })

  it('fields that the service keeps and that are not shown are not verifiable', () => {
    const recorded = { https: confirmed({ cert_id: 1, force_https: 0, http2: 'on', ocsp: 'on' }) }
    expect(read({ https: { cert_id: 1, ocsp: 'off' } }, recorded).seen).toMatchObject({
      https: { notVerified: ['/http2'] },
    })
  })
})

describe('secrets in what was observed', () => {
  const recorded = { visit_timestamp: confirmed(signedValue) }

  it.each([undefined, '', '********', null])(
    'one that is not shown (%j) counts as recorded',
    (shown) => {
      const { key: _key, ...rest } = signed('')
      const payload = shown === undefined ? rest : signed(shown)
      const { seen } = read({ visit_timestamp: payload }, recorded)
      expect(seen).toEqual({
        visit_timestamp: { held: confirmed(signedValue), notVerified: ['/key'] },
      })
    },
  )

  it('one that is shown is compared and never told', () => {
    expect(read({ visit_timestamp: signed('hunter2hunter2') }, recorded).seen).toEqual({
      visit_timestamp: { held: confirmed(signedValue), notVerified: [] },
    })
    const other = read({ visit_timestamp: signed('another-secret') }, recorded)
    expect(other.seen['visit_timestamp']?.held).not.toEqual(confirmed(signedValue))
    expect(JSON.stringify(other)).not.toContain('another-secret')
  })

  it('one whose value is not at hand is compared where it stands alone', () => {
    const none = vaultOf({})
    expect(read({ visit_timestamp: signed('hunter2hunter2') }, recorded, none).seen).toMatchObject({
      visit_timestamp: { held: confirmed(signedValue) },
    })
  })

  it('one within a text is compared as a whole, and whatever stands in its place is hidden', () => {
    const own = { add_back_source_head: confirmed(heads({ ...bearer }, 'open')) }
    const same = read({ add_back_source_head: heads('Bearer sesame-sesame', 'open') }, own)
    expect(same.seen['add_back_source_head']?.held).toEqual(own.add_back_source_head)
    const rotated = read({ add_back_source_head: heads('Bearer rotated-secret', 'open') }, own)
    const value = rotated.seen['add_back_source_head']?.held.candidates[0]
    expect(value).toEqual(heads({ $secret: expect.stringMatching(/^scrypt:/) as string }, 'open'))
    expect(value).not.toEqual(own.add_back_source_head.candidates[0])
    const moved = read({ add_back_source_head: heads('open', 'Bearer rotated-secret') }, own)
    expect(JSON.stringify(moved)).not.toContain('rotated')
  })

  it('a text around a secret that is not at hand is not compared and named; the rest of the item is', () => {
    const own = {
      add_back_source_head: {
        ...confirmed(heads({ ...bearer }, 'open')),
        templates: { [bearer.$secret]: 'Bearer ${secret:token}' },
      },
    }
    const known = own.add_back_source_head.candidates[0]
    const same = read(
      { add_back_source_head: heads('Bearer sesame-sesame', 'open') },
      own,
      vaultOf({}),
    )
    expect(same).toEqual({
      seen: {
        add_back_source_head: {
          held: { status: 'confirmed', candidates: [known] },
          notVerified: ['/0/head_value'],
          uncompared: ['Bearer ${secret:token}'],
        },
      },
      notes: [],
    })
    const other = read(
      { add_back_source_head: heads('Bearer sesame-sesame', 'other') },
      own,
      vaultOf({}),
    )
    expect(other.seen['add_back_source_head']?.held.candidates).not.toEqual([known])
    expect(JSON.stringify([same, other])).not.toContain('sesame')
  })

  it.each<[string, JsonObject]>([
    ['the secret itself', { ...signed(['hunter2hunter2']) }],
    ['a field beside it', { ...signed('hunter2hunter2'), deadtime: 'another-secret' }],
    ['deep nesting', JSON.parse(`${'{"key":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as JsonObject],
    ['the name of a field', { ...signed('hunter2hunter2'), 'another-secret': 1 }],
  ])(
    'of an unreadable value nothing is repeated where the item may hold one: %s',
    (_what, payload) => {
      for (const by of [vault, vaultOf({})]) {
        const { seen } = read({ visit_timestamp: payload }, recorded, by)
        expect(seen['visit_timestamp']).toMatchObject({ unreadable: {} })
        expect(JSON.stringify(seen)).not.toMatch(/hunter2|another/)
      }
    },
  )

  it('of an unreadable value nothing is repeated while a secret is not at hand', () => {
    const none = vaultOf({})
    none.refer('${secret:key}')
    const { seen } = read(
      { timeout: { time: 'hunter2hunter2' } },
      { timeout: confirmed({ time: '5' }) },
      none,
    )
    const reason = expect.stringMatching(/^expected .*"\(not shown\)"/) as string
    expect(seen['timeout']).toMatchObject({ unreadable: { pointer: '/time', reason } })
    expect(JSON.stringify(seen)).not.toContain('hunter2')
  })
})
