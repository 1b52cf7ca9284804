import { describe, expect, it } from 'vitest'
import { parseObserved } from '../../src/manifest/observed/observed.ts'
import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import {
  createItemState,
  unrecordedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/core/model/item.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'

const www = 'www.example.com'
const createVault = (secrets: Record<string, string>) =>
  new SecretVault('test', (name) => secrets[name] ?? null)
const vault = createVault({ key: 'hunter2hunter2', token: 'sesame-sesame' })
const key = vault.maskTemplate('${secret:key}')
const bearer = vault.maskTemplate('Bearer ${secret:token}')
const snapshot = (items: Record<ItemKey, ItemState>): Snapshot =>
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

function read(config: JsonObject, recorded: Record<ItemKey, ItemState>, usedVault = vault) {
  const { observed, notes } = parseObserved(
    { [www]: config },
    {
      recorded: snapshot(recorded),
      desired: new Map(),
      itemKeys: {},
      vault: usedVault,
      maker: 'foreign',
    },
  )
  return { seen: Object.fromEntries(observed.get(www) ?? []), notes }
}

describe('parseObserved', () => {
  it('returns canonical values of managed items, and counts the others', () => {
    const { seen, notes } = read(
      {
        timeout: { time: 60 },
        https: { cert_id: 1 },
        nonsense: [],
        constructor: 1,
        ip_black_list: { list: ['192.0.2.2', '192.0.2.1'] },
      },
      { timeout: createItemState({ time: '5' }), ip_black_list: createItemState(null) },
    )
    expect(seen).toEqual({
      timeout: { state: createItemState({ time: '60' }), notVerifiable: [] },
      ip_black_list: {
        state: createItemState({ list: ['192.0.2.1', '192.0.2.2'], mode: 'cover' }),
        notVerifiable: [],
      },
    })
    expect(notes).toEqual(['3 observed items are not managed here and were ignored.'])
  })

  it('accepts domain names in any letter case, and wire names', () => {
    const known = {
      recorded: snapshot({ deny_protocol: createItemState({ protocol: 'http' }) }),
      desired: new Map(),
      vault,
    }
    const { observed } = parseObserved(
      { 'WWW.Example.com': { deny_x: { protocol: 'https' } } },
      { ...known, itemKeys: { deny_protocol: 'deny_x' }, maker: 'foreign' },
    )
    expect(observed.get(www)?.get('deny_protocol')?.state).toEqual(
      createItemState({ protocol: 'https' }),
    )
  })

  it.each<[string, Json]>([
    ['an object by domain', { [www]: { timeout: { time: 60 } } }],
    [
      'an answer of a query',
      { code: 0, data: [{ domain: www, config: { timeout: { time: 60 } } }] },
    ],
    ['an entry of it', { domain: www, config: { timeout: { time: 60 } } }],
    [
      'an answer of a write',
      { code: 0, data: { domains: www, config: { timeout: { time: 60 } } } },
    ],
    ['the body of a request', { domains: [www], config: { timeout: { time: 60 } } }],
    [
      'several of them that agree',
      [
        { domains: `${www},api.example.com`, config: { timeout: { time: 60 } } },
        { code: 0, data: [{ domain: www.toUpperCase(), config: { timeout: { time: 60 } } }] },
        { [www]: {} },
      ],
    ],
  ])('accepts %s', (_what, data) => {
    const recorded = snapshot({ timeout: createItemState({ time: '5' }) })
    const known = { recorded, desired: new Map(), itemKeys: {}, vault, maker: 'foreign' } as const
    const item = parseObserved(data, known).observed.get(www)?.get('timeout')
    expect(item?.state).toEqual(createItemState({ time: '60' }))
  })

  it.each<[string, Json, string]>([
    ['null', null, 'expected an object, got null'],
    ['a list', [], 'expected an object, got a list'],
    ['a text', 'x', 'expected an object, got a string'],
    [
      'an invalid domain name',
      { 'not a domain\u001b[2J': {} },
      'expected domain names, got "not a domain\\u001b[2J"',
    ],
    ['a very long key', { ['x'.repeat(100_000)]: {} }, 'expected domain names'],
    ['items in a list', { [www]: [] }, `expected an object of items, got a list at "/${www}"`],
    [
      'two answers of a domain that differ',
      [{ [www]: { timeout: { time: 60 } } }, { [www.toUpperCase()]: { timeout: { time: 90 } } }],
      `the item "timeout" of "${www}" has two values`,
    ],
    ['an answer without a domain', [{ data: { config: {} } }], 'names no domain at "/0/data"'],
    ['a refused answer', [{ [www]: {} }, { code: 4001, data: [] }], 'got another code'],
  ])('refuses %s', (_what, data, reasonText) => {
    const run = () =>
      parseObserved(data, {
        recorded: new Map(),
        desired: new Map(),
        itemKeys: {},
        vault,
        maker: 'foreign',
      })
    expect(run).toThrow(
      expect.objectContaining({
        code: 'not-observed',
        message: expect.stringContaining(reasonText) as string,
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
    ['a missing field', 'https', { force_https: 0 }, '', 'cert_id'],
    ['an action', 'ip_black_list', { list: ['192.0.2.1'], mode: 'append' }, '/mode', 'an action'],
    [
      'deep nesting',
      'timeout',
      JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as Json,
      '',
      'expected an object',
    ],
  ])('%s is observed as unreadable, with a reason', (_what, item, payload, pointer, reasonText) => {
    const { seen, notes } = read({ [item]: payload }, { [item]: createItemState(null) })
    const reason = expect.stringContaining(reasonText) as string
    expect(seen).toEqual({
      [item]: { state: unrecordedState, notVerifiable: [], unreadable: { pointer, reason } },
    })
    expect(notes).toEqual([])
  })

  it('ignores the items that an unreadable value would empty', () => {
    const recorded = { ip_black_list: createItemState({ list: ['192.0.2.1'], mode: 'cover' }) }
    const whites: Json[] = [
      'x',
      { list: 'x' },
      { list: [] },
      { list: ['192.0.2.7'], mode: 'append' },
    ]
    for (const white of whites) expect(read({ ip_white_list: white }, recorded).seen).toEqual({})
  })

  it('refuses an item under two names', () => {
    const known = {
      recorded: snapshot({ deny_protocol: createItemState(null) }),
      desired: new Map(),
      vault,
    }
    const data = { [www]: { deny_x: { protocol: 'https' }, deny_protocol: { protocol: 'http' } } }
    expect(() =>
      parseObserved(data, { ...known, itemKeys: { deny_protocol: 'deny_x' }, maker: 'foreign' }),
    ).toThrow('deny_protocol')
  })

  it('treats null and an empty list as not set, and a missing item as not observed', () => {
    const { seen } = read(
      { timeout: null, speed_limit: [] },
      {
        timeout: createItemState(null),
        speed_limit: createItemState(null),
        referer: createItemState(null),
      },
    )
    const nothing = { state: { status: 'unset', candidates: [] }, notVerifiable: [] }
    expect(seen).toEqual({ timeout: nothing, speed_limit: nothing })
  })

  it('treats an item as not set if an observed one empties it, managed or not', () => {
    const recorded = { ip_black_list: createItemState({ list: ['192.0.2.1'], mode: 'cover' }) }
    const white = { list: ['192.0.2.7'] }
    expect(read({ ip_white_list: white }, recorded).seen).toMatchObject({
      ip_black_list: { state: { status: 'unset' } },
    })
    expect(read({ ip_white_list: null }, recorded).seen).toEqual({})
    expect(
      read({ ip_white_list: white, ip_black_list: { list: ['192.0.2.1'] } }, recorded).seen,
    ).toMatchObject({
      ip_black_list: { state: { status: 'confirmed' } },
    })
  })

  it('lists kept fields that are not shown as not verified', () => {
    const recorded = {
      https: createItemState({ cert_id: 1, force_https: 0, http2: 'on', ocsp: 'on' }),
    }
    expect(read({ https: { cert_id: 1, ocsp: 'off' } }, recorded).seen).toMatchObject({
      https: { notVerifiable: ['/http2'] },
    })
  })
})

describe('secrets in an observed configuration', () => {
  const recorded = { visit_timestamp: createItemState(signedValue) }

  it.each([undefined, '', '********', null])(
    'a secret that is not shown (%j) is assumed as recorded',
    (shown) => {
      const { key: _key, ...rest } = signed('')
      const payload = shown === undefined ? rest : signed(shown)
      const { seen } = read({ visit_timestamp: payload }, recorded)
      expect(seen).toEqual({
        visit_timestamp: { state: createItemState(signedValue), notVerifiable: ['/key'] },
      })
    },
  )

  it('a secret that is shown is compared and never printed', () => {
    expect(read({ visit_timestamp: signed('hunter2hunter2') }, recorded).seen).toEqual({
      visit_timestamp: { state: createItemState(signedValue), notVerifiable: [] },
    })
    const other = read({ visit_timestamp: signed('another-secret') }, recorded)
    expect(other.seen['visit_timestamp']?.state).not.toEqual(createItemState(signedValue))
    expect(JSON.stringify(other)).not.toContain('another-secret')
  })

  it('a secret without an available value is compared if it stands alone', () => {
    const none = createVault({})
    expect(read({ visit_timestamp: signed('hunter2hunter2') }, recorded, none).seen).toMatchObject({
      visit_timestamp: { state: createItemState(signedValue) },
    })
  })

  it('a secret within a text is compared as a whole, and its replacement is hidden', () => {
    const own = { add_back_source_head: createItemState(heads({ ...bearer }, 'open')) }
    const same = read({ add_back_source_head: heads('Bearer sesame-sesame', 'open') }, own)
    expect(same.seen['add_back_source_head']?.state).toEqual(own.add_back_source_head)
    const rotated = read({ add_back_source_head: heads('Bearer rotated-secret', 'open') }, own)
    const value = rotated.seen['add_back_source_head']?.state.candidates[0]
    expect(value).toEqual(heads({ $secret: expect.stringMatching(/^scrypt:/) as string }, 'open'))
    expect(value).not.toEqual(own.add_back_source_head.candidates[0])
    const moved = read({ add_back_source_head: heads('open', 'Bearer rotated-secret') }, own)
    expect(JSON.stringify(moved)).not.toContain('rotated')
  })

  it('a text around an unavailable secret is reported, and the rest of the item compared', () => {
    const own = {
      add_back_source_head: {
        ...createItemState(heads({ ...bearer }, 'open')),
        templates: { [bearer.$secret]: 'Bearer ${secret:token}' },
      },
    }
    const known = own.add_back_source_head.candidates[0]
    const same = read(
      { add_back_source_head: heads('Bearer sesame-sesame', 'open') },
      own,
      createVault({}),
    )
    expect(same).toEqual({
      seen: {
        add_back_source_head: {
          state: { status: 'confirmed', candidates: [known] },
          notVerifiable: ['/0/head_value'],
          uncompared: ['Bearer ${secret:token}'],
        },
      },
      notes: [],
    })
    const other = read(
      { add_back_source_head: heads('Bearer sesame-sesame', 'other') },
      own,
      createVault({}),
    )
    expect(other.seen['add_back_source_head']?.state.candidates).not.toEqual([known])
    expect(JSON.stringify([same, other])).not.toContain('sesame')
  })

  it.each<[string, JsonObject]>([
    ['the secret itself', { ...signed(['hunter2hunter2']) }],
    ['another field', { ...signed('hunter2hunter2'), deadtime: 'another-secret' }],
    ['deep nesting', JSON.parse(`${'{"key":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as JsonObject],
    ['the name of a field', { ...signed('hunter2hunter2'), 'another-secret': 1 }],
  ])('an unreadable value of an item with secrets is never printed: %s', (_what, payload) => {
    for (const usedVault of [vault, createVault({})]) {
      const { seen } = read({ visit_timestamp: payload }, recorded, usedVault)
      expect(seen['visit_timestamp']).toMatchObject({ unreadable: {} })
      expect(JSON.stringify(seen)).not.toMatch(/hunter2|another/)
    }
  })

  it('an unreadable value is never printed while a secret is unavailable', () => {
    const none = createVault({})
    none.maskTemplate('${secret:key}')
    const { seen } = read(
      { timeout: { time: 'hunter2hunter2' } },
      { timeout: createItemState({ time: '5' }) },
      none,
    )
    const reason = expect.stringMatching(/^expected .*"\(not shown\)"/) as string
    expect(seen['timeout']).toMatchObject({ unreadable: { pointer: '/time', reason } })
    expect(JSON.stringify(seen)).not.toContain('hunter2')
  })
})
