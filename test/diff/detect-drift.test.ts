import { describe, expect, it } from 'vitest'
import { detectDrift } from '../../src/diff/detect-drift.ts'
import type { Observed } from '../../src/model/drift.ts'
import {
  createConfirmedState,
  unrecordedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
} from '../../src/model/item.ts'

const www = 'www.example.com'
const at = '2026-01-01T00:00:00.000Z'
const unset: ItemState = { status: 'unset', candidates: [] }
const time = (seconds: number) => createConfirmedState({ time: String(seconds) })
const doubt = (...seconds: number[]): ItemState => ({
  status: 'in-doubt',
  candidates: seconds.map((each) => ({ time: String(each) })),
})
const snapshot = (items: Record<ItemKey, ItemState>): Snapshot =>
  new Map([[www, new Map(Object.entries(items))]])

function found(
  recorded: Record<ItemKey, ItemState>,
  desired: Record<ItemKey, ItemState>,
  observed: Record<ItemKey, ItemState> = {},
) {
  const seen: Observed = new Map([
    [
      www,
      new Map(
        Object.entries(observed).map(([item, held]) => [item, { state: held, notVerified: [] }]),
      ),
    ],
  ])
  return detectDrift(
    new Map([
      [www, new Map(Object.entries(recorded).map(([item, held]) => [item, { ...held, at }]))],
    ]),
    snapshot(desired),
    seen,
  )
}

const one = (...args: Parameters<typeof found>) => {
  const { items } = found(...args)
  expect(items).toHaveLength(1)
  const [{ kinds, confidence, recordedAt } = { kinds: [], confidence: '', recordedAt: '' }] = items
  return [kinds.join(' '), confidence, recordedAt === at]
}

describe('driftOf', () => {
  it.each<[string, Parameters<typeof found>, [string, string, boolean]]>([
    [
      'nothing differs, nothing was observed',
      [{ timeout: time(1) }, { timeout: time(1) }],
      ['', 'assumed', true],
    ],
    [
      'nothing differs, and that was seen',
      [{ timeout: time(1) }, { timeout: time(1) }, { timeout: time(1) }],
      ['', 'verified', true],
    ],
    [
      'merged and not applied',
      [{ timeout: time(1) }, { timeout: time(2) }],
      ['pending', 'assumed', true],
    ],
    [
      'changed at the service',
      [{ timeout: time(1) }, { timeout: time(1) }, { timeout: time(3) }],
      ['live', 'verified', true],
    ],
    [
      'both',
      [{ timeout: time(1) }, { timeout: time(2) }, { timeout: time(3) }],
      ['pending live', 'verified', true],
    ],
    [
      'gone at the service',
      [{ timeout: time(1) }, { timeout: time(1) }, { timeout: unset }],
      ['live', 'verified', true],
    ],
    ['never applied', [{}, { timeout: time(1) }], ['pending', 'in-doubt', false]],
    [
      'never applied, and there',
      [{}, { timeout: time(1) }, { timeout: time(1) }],
      ['pending live', 'verified', false],
    ],
    ['to be released', [{ timeout: time(1) }, {}], ['pending', 'assumed', true]],
    [
      'in doubt, desired among what it may hold',
      [{ timeout: doubt(1, 2) }, { timeout: time(2) }],
      ['', 'in-doubt', true],
    ],
    [
      'in doubt, desired not among it',
      [{ timeout: doubt(1, 2) }, { timeout: time(3) }],
      ['pending', 'in-doubt', true],
    ],
    [
      'in doubt, and looked at',
      [{ timeout: doubt(1, 2) }, { timeout: time(2) }, { timeout: time(1) }],
      ['', 'in-doubt', true],
    ],
  ])('%s', (_what, args, expected) => {
    expect(one(...args)).toEqual(expected)
  })

  it('tells the way from recorded to desired and from recorded to observed', () => {
    const { items, pending, live } = found(
      { timeout: time(1) },
      { timeout: time(2) },
      { timeout: time(3) },
    )
    expect(items[0]).toMatchObject({
      pending: [{ op: 'replace', path: '/time', value: '2' }],
      live: [{ op: 'replace', path: '/time', value: '3' }],
    })
    expect([pending[0]?.after, live[0]?.before, live[0]?.after]).toEqual([
      { time: '2' },
      { time: '1' },
      { time: '3' },
    ])
  })

  it('tells domains and items in order, whichever side knows them first', () => {
    const recorded = new Map([
      [www, new Map([['timeout', { ...time(1), at }]])],
      ['a.example.com', new Map([['timeout', { ...time(1), at }]])],
    ])
    const desired: Snapshot = new Map([
      [www, new Map([['connect_timeout', createConfirmedState({ origin_connect_timeout: '10' })]])],
    ])
    expect(
      detectDrift(recorded, desired, new Map()).items.map(
        ({ domain, item }) => `${domain} ${item}`,
      ),
    ).toEqual([
      'a.example.com timeout',
      'www.example.com connect_timeout',
      'www.example.com timeout',
    ])
  })

  it('keeps domains that are held out of the changes, and says of what differs there that it is held', () => {
    const both = (seconds: number) =>
      [www, 'b.example.com'].map(
        (domain) => [domain, new Map([['timeout', { ...time(seconds), at }]])] as const,
      )
    const { items, pending, live } = detectDrift(
      new Map(both(1)),
      new Map(both(2)),
      new Map(),
      new Set([www]),
    )
    expect(pending.map(({ domain }) => domain)).toEqual(['b.example.com'])
    expect(live).toEqual([])
    expect(items.map(({ domain, kinds, held }) => [domain, kinds, held])).toEqual([
      ['b.example.com', ['pending'], false],
      [www, ['pending'], true],
    ])
    const equal = detectDrift(new Map(both(1)), new Map(both(1)), new Map(), new Set([www]))
    expect(equal.items.map(({ held }) => held)).toEqual([false, false])
  })

  it.each<[string, ItemState | undefined, ItemState | undefined, [string, string]]>([
    ['as desired in the record', time(1), time(1), ['live', 'in-doubt']],
    ['merged and not applied', time(1), time(2), ['pending live', 'in-doubt']],
    ['in doubt', doubt(1, 2), time(2), ['live', 'in-doubt']],
    ['never applied', undefined, time(2), ['pending live', 'in-doubt']],
    ['to be released', time(1), undefined, ['pending live', 'in-doubt']],
  ])(
    'an item that was seen and is unreadable is a difference: %s',
    (_what, recorded, desired, expected) => {
      const unreadable = { pointer: '/time', reason: 'expected a number' }
      const sight = { state: unrecordedState, notVerified: [], unreadable }
      const { items, live } = detectDrift(
        new Map([[www, new Map(recorded === undefined ? [] : [['timeout', { ...recorded, at }]])]]),
        snapshot(desired === undefined ? {} : { timeout: desired }),
        new Map([[www, new Map([['timeout', sight]])]]),
      )
      expect(items).toMatchObject([{ live: [], unreadable }])
      expect([items[0]?.kinds.join(' '), items[0]?.confidence]).toEqual(expected)
      expect(live).toEqual([])
    },
  )

  it('an item with a secret that was not compared is never verified', () => {
    const uncompared = ['Bearer ${secret:token}']
    const look = (recorded: ItemState, seen: ItemState) =>
      detectDrift(
        new Map([[www, new Map([['timeout', { ...recorded, at }]])]]),
        snapshot({ timeout: time(1) }),
        new Map([
          [www, new Map([['timeout', { state: seen, notVerified: ['/time'], uncompared }]])],
        ]),
      ).items[0]
    expect(look(time(1), time(1))).toMatchObject({
      kinds: [],
      confidence: 'assumed',
      notVerified: ['/time'],
    })
    const other = look(time(1), time(2))
    expect(other).toMatchObject({
      kinds: ['live'],
      confidence: 'in-doubt',
      live: [],
      unreadable: { pointer: '' },
    })
    expect(other?.unreadable?.reason).toContain('Bearer ${secret:token}')
  })

  it('keeps what is in doubt out of the changes', () => {
    const { pending, live, inDoubt } = found(
      { timeout: doubt(1, 2) },
      { timeout: time(3) },
      { timeout: time(4) },
    )
    expect([pending, live]).toEqual([[], []])
    expect(inDoubt).toEqual([{ domain: www, item: 'timeout', recordedAt: at }])
  })

  it('fields that the service keeps count as recorded where they were not seen', () => {
    const recorded = createConfirmedState({ cert_id: 1, force_https: 0, http2: 'on' })
    expect(
      one(
        { https: recorded },
        { https: recorded },
        { https: createConfirmedState({ cert_id: 1, force_https: 0 }) },
      ),
    ).toEqual(['', 'verified', true])
    const off = createConfirmedState({ cert_id: 1, force_https: 0, http2: 'off' })
    expect(one({ https: recorded }, { https: recorded }, { https: off })).toEqual([
      'live',
      'verified',
      true,
    ])
  })

  it('what the service made of a write, or holds once unset, is no surprise', () => {
    const rewritten = { ...time(1), returned: { time: '5' } }
    expect(one({ timeout: rewritten }, { timeout: time(1) }, { timeout: time(5) })[0]).toBe('')
    expect(one({ timeout: rewritten }, { timeout: time(1) }, { timeout: time(6) })[0]).toBe('live')
    const https = {
      ...createConfirmedState({ cert_id: 1, force_https: 0, http2: 'off' }),
      returned: { cert_id: 2, force_https: 0, http2: 'on' },
    }
    expect(
      one({ https }, { https }, { https: createConfirmedState({ cert_id: 2, force_https: 0 }) })[0],
    ).toBe('')
    const back: ItemState = { status: 'unset', candidates: [{ cert_id: 0, force_https: 0 }] }
    expect(
      one(
        { https: back },
        { https: unset },
        { https: createConfirmedState({ cert_id: 0, force_https: 0 }) },
      )[0],
    ).toBe('')
    expect(
      one(
        { https: back },
        { https: unset },
        { https: createConfirmedState({ cert_id: 7, force_https: 0 }) },
      )[0],
    ).toBe('live')
  })

  it('an item that is to be unset and was never there is nothing to tell', () => {
    expect(found({}, { visit_deny_whitelist: unset }).items).toEqual([])
  })
})
