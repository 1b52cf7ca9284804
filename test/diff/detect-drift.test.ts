import { describe, expect, it } from 'vitest'
import { detectDrift } from '../../src/core/diff/detect-drift.ts'
import type { Observed } from '../../src/core/model/drift.ts'
import {
  createItemState,
  unrecordedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
} from '../../src/core/model/item.ts'

const www = 'www.example.com'
const at = '2026-01-01T00:00:00.000Z'
const unset: ItemState = { status: 'unset', candidates: [] }
const time = (seconds: number) => createItemState({ time: String(seconds) })
const createInDoubtState = (...seconds: number[]): ItemState => ({
  status: 'in-doubt',
  candidates: seconds.map((each) => ({ time: String(each) })),
})
const buildSnapshot = (items: Record<ItemKey, ItemState>): Snapshot =>
  new Map([[www, new Map(Object.entries(items))]])

function runDetectDrift(
  recorded: Record<ItemKey, ItemState>,
  desired: Record<ItemKey, ItemState>,
  observed: Record<ItemKey, ItemState> = {},
) {
  const seen: Observed = new Map([
    [
      www,
      new Map(
        Object.entries(observed).map(([item, held]) => [item, { state: held, notVerifiable: [] }]),
      ),
    ],
  ])
  return detectDrift(
    new Map([
      [www, new Map(Object.entries(recorded).map(([item, held]) => [item, { ...held, at }]))],
    ]),
    buildSnapshot(desired),
    seen,
  )
}

const detectOne = (...args: Parameters<typeof runDetectDrift>) => {
  const { items } = runDetectDrift(...args)
  expect(items).toHaveLength(1)
  const [{ kinds, confidence, recordedAt } = { kinds: [], confidence: '', recordedAt: '' }] = items
  return [kinds.join(' '), confidence, recordedAt === at]
}

it('waits for a wave where nothing is in-doubt', () => {
  const waiting = new Map([[www, new Map([['timeout', true]])]])
  const detect = (recorded: ItemState) => {
    const known = new Map([[www, new Map([['timeout', { ...recorded, at }]])]])
    return detectDrift(known, buildSnapshot({ timeout: time(2) }), new Map(), new Map(), waiting)
  }
  expect(detect(time(1)).items).toMatchObject([{ kinds: ['waiting'], pending: [{ value: '2' }] }])
  expect(detect(time(2)).items).toMatchObject([{ kinds: [] }])
  expect(detect(createInDoubtState(1, 3)).items).toMatchObject([{ kinds: ['pending'] }])
})

describe('detectDrift', () => {
  it.each<[string, Parameters<typeof runDetectDrift>, [string, string, boolean]]>([
    ['in sync, not observed', [{ timeout: time(1) }, { timeout: time(1) }], ['', 'assumed', true]],
    [
      'in sync, and observed',
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
      'never applied, and present at the service',
      [{}, { timeout: time(1) }, { timeout: time(1) }],
      ['pending live', 'verified', false],
    ],
    [
      'never applied, and not at the service',
      [{}, { ip_white_list: createItemState({ list: ['192.0.2.1'] }) }, { ip_white_list: unset }],
      ['pending', 'verified', false],
    ],
    ['to be released', [{ timeout: time(1) }, {}], ['pending', 'assumed', true]],
    [
      'in-doubt, with the desired value as a candidate',
      [{ timeout: createInDoubtState(1, 2) }, { timeout: time(2) }],
      ['', 'in-doubt', true],
    ],
    [
      'in-doubt, without the desired value as a candidate',
      [{ timeout: createInDoubtState(1, 2) }, { timeout: time(3) }],
      ['pending', 'in-doubt', true],
    ],
    [
      'in-doubt, and observed',
      [{ timeout: createInDoubtState(1, 2) }, { timeout: time(2) }, { timeout: time(1) }],
      ['', 'in-doubt', true],
    ],
  ])('%s', (_what, args, expected) => {
    expect(detectOne(...args)).toEqual(expected)
  })

  it('returns patches from recorded to desired and from recorded to observed', () => {
    const { items, pending, live } = runDetectDrift(
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

  it('sorts domains and items of all sides', () => {
    const recorded = new Map([
      [www, new Map([['timeout', { ...time(1), at }]])],
      ['a.example.com', new Map([['timeout', { ...time(1), at }]])],
    ])
    const desired: Snapshot = new Map([
      [www, new Map([['connect_timeout', createItemState({ origin_connect_timeout: '10' })]])],
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

  it('leaves items on hold out of the changes, and marks their drifted items', () => {
    const both = (seconds: number) =>
      [www, 'b.example.com'].map(
        (domain) => [domain, new Map([['timeout', { ...time(seconds), at }]])] as const,
      )
    const onHold = new Map([[www, new Set(['timeout'])]])
    const { items, pending, live } = detectDrift(
      new Map(both(1)),
      new Map(both(2)),
      new Map(),
      onHold,
    )
    expect(pending.map(({ domain }) => domain)).toEqual(['b.example.com'])
    expect(live).toEqual([])
    expect(items.map(({ domain, kinds, held }) => [domain, kinds, held])).toEqual([
      ['b.example.com', ['pending'], false],
      [www, ['pending'], true],
    ])
    const equal = detectDrift(new Map(both(1)), new Map(both(1)), new Map(), onHold)
    expect(equal.items.map(({ held }) => held)).toEqual([false, false])
  })

  it.each<[string, ItemState | undefined, ItemState | undefined, [string, string]]>([
    ['recorded as desired', time(1), time(1), ['live', 'in-doubt']],
    ['merged and not applied', time(1), time(2), ['pending live', 'in-doubt']],
    ['in-doubt', createInDoubtState(1, 2), time(2), ['live', 'in-doubt']],
    ['never applied', undefined, time(2), ['pending live', 'in-doubt']],
    ['to be released', time(1), undefined, ['pending live', 'in-doubt']],
  ])('an observed unreadable item is a difference: %s', (_what, recorded, desired, expected) => {
    const unreadable = { pointer: '/time', reason: 'expected a number' }
    const observedItem = { state: unrecordedState, notVerifiable: [], unreadable }
    const { items, live } = detectDrift(
      new Map([[www, new Map(recorded === undefined ? [] : [['timeout', { ...recorded, at }]])]]),
      buildSnapshot(desired === undefined ? {} : { timeout: desired }),
      new Map([[www, new Map([['timeout', observedItem]])]]),
    )
    expect(items).toMatchObject([{ live: [], unreadable }])
    expect([items[0]?.kinds.join(' '), items[0]?.confidence]).toEqual(expected)
    expect(live).toEqual([])
  })

  it('never verifies an item with a secret that was not compared', () => {
    const uncompared = ['Bearer ${secret:token}']
    const look = (recorded: ItemState, seen: ItemState) =>
      detectDrift(
        new Map([[www, new Map([['timeout', { ...recorded, at }]])]]),
        buildSnapshot({ timeout: time(1) }),
        new Map([
          [www, new Map([['timeout', { state: seen, notVerifiable: ['/time'], uncompared }]])],
        ]),
      ).items[0]
    expect(look(time(1), time(1))).toMatchObject({
      kinds: [],
      confidence: 'assumed',
      notVerifiable: ['/time'],
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

  it('leaves in-doubt items out of the changes', () => {
    const { pending, live, inDoubt } = runDetectDrift(
      { timeout: createInDoubtState(1, 2) },
      { timeout: time(3) },
      { timeout: time(4) },
    )
    expect([pending, live]).toEqual([[], []])
    expect(inDoubt).toEqual([{ domain: www, item: 'timeout', recordedAt: at }])
  })

  it('takes the recorded values of kept fields that were not observed', () => {
    const recorded = createItemState({ cert_id: 1, force_https: 0, http2: 'on' })
    expect(
      detectOne(
        { https: recorded },
        { https: recorded },
        { https: createItemState({ cert_id: 1, force_https: 0 }) },
      ),
    ).toEqual(['', 'verified', true])
    const off = createItemState({ cert_id: 1, force_https: 0, http2: 'off' })
    expect(detectOne({ https: recorded }, { https: recorded }, { https: off })).toEqual([
      'live',
      'verified',
      true,
    ])
  })

  it('accepts the value that the service returned for a write or an unset', () => {
    const rewritten = { ...time(1), returned: { time: '5' } }
    expect(detectOne({ timeout: rewritten }, { timeout: time(1) }, { timeout: time(5) })[0]).toBe(
      '',
    )
    expect(detectOne({ timeout: rewritten }, { timeout: time(1) }, { timeout: time(6) })[0]).toBe(
      'live',
    )
    const https = {
      ...createItemState({ cert_id: 1, force_https: 0, http2: 'off' }),
      returned: { cert_id: 2, force_https: 0, http2: 'on' },
    }
    expect(
      detectOne(
        { https },
        { https },
        { https: createItemState({ cert_id: 2, force_https: 0 }) },
      )[0],
    ).toBe('')
    const back: ItemState = { status: 'unset', candidates: [{ cert_id: 0, force_https: 0 }] }
    expect(
      detectOne(
        { https: back },
        { https: unset },
        { https: createItemState({ cert_id: 0, force_https: 0 }) },
      )[0],
    ).toBe('')
    expect(
      detectOne(
        { https: back },
        { https: unset },
        { https: createItemState({ cert_id: 7, force_https: 0 }) },
      )[0],
    ).toBe('live')
  })

  it('omits an item that should be unset and was never recorded', () => {
    expect(runDetectDrift({}, { visit_deny_whitelist: unset }).items).toEqual([])
  })
})

describe('a desired secret whose value is not available', () => {
  const heads = (value: string, mode = 'yes') =>
    createItemState([{ head_name: 'A', head_value: { $secret: value }, write_when_exists: mode }])
  const recorded: ItemState = { ...heads('scrypt:1'), templates: { 'scrypt:1': 'origin' } }
  const detect = (desired: ItemState) =>
    runDetectDrift({ add_back_source_head: recorded }, { add_back_source_head: desired })

  it.each(['origin', 'renamed'])('is no difference, and not verified: %s', (reference) => {
    const { items, pending } = detect(heads(`unresolved:${reference}`))
    expect([items, pending]).toMatchObject([
      [{ kinds: [], confidence: 'assumed', notVerifiable: ['/0/head_value'] }],
      [],
    ])
  })

  it('hides no other difference, and is not part of its patch', () => {
    const { items } = detect(heads('unresolved:origin', 'no'))
    expect(items).toMatchObject([
      { kinds: ['pending'], pending: [{ path: '/0/write_when_exists', value: 'no' }] },
    ])
    expect(items[0]?.pending).toHaveLength(1)
  })
})
