import { describe, expect, it } from 'vitest'
import { diffSnapshots } from '../../src/core/diff/diff-snapshots.ts'
import type { Change } from '../../src/core/model/change.ts'
import {
  createItemState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/core/model/item.ts'

const a = 'a.example.com'
const time = (seconds: number) => ({ time: String(seconds) })
const ips = (...list: string[]): Value => ({ list, mode: 'cover' })
const confirmed = createItemState
const createInDoubtState = (...candidates: Value[]): ItemState => ({
  status: 'in-doubt',
  candidates,
})
const createUnknownState = (...candidates: Value[]): ItemState => ({
  ...createInDoubtState(...candidates),
  unknown: true,
})
const createUnsetState = (...candidates: Value[]): ItemState => ({ status: 'unset', candidates })
const buildSnapshot = (items: Record<ItemKey, ItemState>, domain = a): Snapshot =>
  new Map([[domain, new Map(Object.entries(items))]])

/** Items of one domain. */
type Items = Record<ItemKey, ItemState>

const diff = (from: Items, to: Items) => diffSnapshots(buildSnapshot(from), buildSnapshot(to))

function diffToOne(from: Items, to: Items): Change {
  const { changes } = diff(from, to)
  expect(changes).toHaveLength(1)
  return changes[0] as Change
}

const certificate = (more: object = {}) => confirmed({ cert_id: 1, force_https: 0, ...more })

describe('an item', () => {
  it.each<[string, Items, Items, Partial<Change> | null]>([
    [
      'is set if it is unrecorded',
      {},
      { timeout: confirmed(time(10)) },
      {
        domain: a,
        item: 'timeout',
        action: 'set',
        reason: 'differs',
        before: null,
        after: time(10),
        patch: [{ op: 'add', path: '', value: time(10) }],
      },
    ],
    [
      'is changed if another value is recorded',
      { timeout: confirmed(time(5)) },
      { timeout: confirmed(time(10)) },
      {
        action: 'change',
        reason: 'differs',
        before: time(5),
        after: time(10),
        patch: [{ op: 'replace', path: '/time', value: '10' }],
      },
    ],
    [
      'is no change if it is recorded, in any order of keys',
      { https: certificate() },
      { https: confirmed({ force_https: 0, cert_id: 1 }) },
      null,
    ],
    [
      'is set if it was unset',
      { ip_black_list: createUnsetState() },
      { ip_black_list: confirmed(ips('192.0.2.1')) },
      { action: 'set', before: null },
    ],
    [
      'is set if it was unset with a value',
      { https: createUnsetState({ cert_id: 0, force_https: 0 }) },
      { https: certificate() },
      { action: 'set', before: null },
    ],
    [
      'is no change if the service returned another value: a write would return the same',
      { timeout: { ...confirmed(time(10)), returned: time(11) } },
      { timeout: confirmed(time(10)) },
      null,
    ],
    [
      'that is in-doubt without a candidate is set',
      { timeout: createUnknownState() },
      { timeout: confirmed(time(10)) },
      { action: 'set', reason: 'in-doubt', before: null },
    ],
    [
      'that is in-doubt and should be unset is unset',
      { ip_black_list: createUnknownState(ips('192.0.2.1')) },
      { ip_black_list: createUnsetState() },
      { action: 'unset', reason: 'in-doubt' },
    ],
    [
      'that should be unset is unset',
      { ip_black_list: confirmed(ips('192.0.2.1')) },
      { ip_black_list: createUnsetState() },
      {
        action: 'unset',
        reason: 'differs',
        before: ips('192.0.2.1'),
        after: null,
        patch: [{ op: 'remove', path: '' }],
      },
    ],
    [
      'that should be unset is unset if it is unrecorded: it may have any value',
      {},
      { https: createUnsetState() },
      { action: 'unset', before: null, after: null, patch: [] },
    ],
    [
      'that should be unset is no change if it is unset',
      { https: createUnsetState({ cert_id: 0, force_https: 0 }) },
      { https: createUnsetState() },
      null,
    ],
    [
      'that should be unset is no change if it has only deltas and no known entry',
      {},
      { visit_deny_whitelist: createUnsetState() },
      null,
    ],
  ])('%s', (_what, from, to, expected) => {
    const { changes, unchanged } = diff(from, to)
    expect(changes).toMatchObject(expected === null ? [] : [expected])
    expect(unchanged).toBe(expected === null ? 1 : 0)
  })

  it.each<[string, ItemState]>([
    ['with other candidates', createInDoubtState(time(5), time(6))],
    ['with the desired value as one candidate', createInDoubtState(time(5), time(10))],
    ['with the desired value as the only candidate', createInDoubtState(time(10))],
    ['with an unknown value', createUnknownState(time(10))],
  ])('that is in-doubt %s is written', (_case, state) => {
    expect(diffToOne({ timeout: state }, { timeout: confirmed(time(10)) })).toMatchObject({
      action: 'change',
      reason: 'in-doubt',
      after: time(10),
    })
  })

  it.each<[string, ItemState]>([
    ['confirmed', confirmed(time(5))],
    ['unset', createUnsetState()],
    ['unset with a value', createUnsetState(time(5))],
    ['in-doubt', createInDoubtState(time(5), time(6))],
    ['unknown', createUnknownState()],
  ])('that is no longer desired is released when it was %s', (_case, state) => {
    const { changes } = diff({ timeout: state, https: certificate() }, {})
    expect(changes).toMatchObject([
      { item: 'https', action: 'release' },
      { item: 'timeout', action: 'release', reason: 'differs', after: null },
    ])
    expect(changes[1]).not.toHaveProperty('by')
  })
})

describe('an item that another one clears', () => {
  const black = { ip_black_list: confirmed(ips('192.0.2.1')) }

  it('is emptied by the other item, not written or released', () => {
    const { changes } = diff({ ip_white_list: confirmed(ips('192.0.2.7')) }, black)
    expect(changes).toMatchObject([
      { item: 'ip_black_list', action: 'set' },
      {
        item: 'ip_white_list',
        action: 'unset',
        reason: 'cleared',
        by: 'ip_black_list',
        before: ips('192.0.2.7'),
        after: null,
      },
    ])
  })

  it('is emptied if it is in-doubt, too', () => {
    const { changes } = diff({ ip_white_list: createUnknownState(ips('192.0.2.7')) }, black)
    expect(changes[1]).toMatchObject({ action: 'unset', reason: 'cleared', by: 'ip_black_list' })
  })

  it('is released if the other item is not written', () => {
    const from = {
      ip_black_list: confirmed(ips('192.0.2.1')),
      ip_white_list: confirmed(ips('192.0.2.7')),
    }
    expect(diff(from, black).changes).toMatchObject([{ item: 'ip_white_list', action: 'release' }])
  })

  it('is no change if it is unrecorded', () => {
    expect(diff({}, black).changes).toMatchObject([{ item: 'ip_black_list', action: 'set' }])
  })

  it('is cleared on its own domain only', () => {
    const from: Snapshot = buildSnapshot(
      { ip_white_list: confirmed(ips('192.0.2.7')) },
      'b.example.com',
    )
    expect(diffSnapshots(from, buildSnapshot(black)).changes).toMatchObject([
      { domain: a, item: 'ip_black_list', action: 'set' },
      { domain: 'b.example.com', item: 'ip_white_list', action: 'release' },
    ])
  })
})

describe('fields that the service keeps', () => {
  const recorded = { https: certificate({ http2: 'on', ocsp: 'off' }) }

  it('are compared only if they are desired', () => {
    expect(diff(recorded, { https: certificate() }).changes).toEqual([])
    expect(diff(recorded, { https: certificate({ http2: 'on' }) }).changes).toEqual([])
    expect(diffToOne(recorded, { https: certificate({ http2: 'off' }) }).patch).toEqual([
      { op: 'replace', path: '/http2', value: 'off' },
    ])
  })

  it('keep their recorded value in what comes after', () => {
    expect(diffToOne(recorded, { https: certificate({ cert_id: 2 }) }).after).toEqual({
      cert_id: 2,
      force_https: 0,
      http2: 'on',
      ocsp: 'off',
    })
  })

  it('are a change if they are desired and unknown', () => {
    expect(
      diffToOne({ https: certificate() }, { https: certificate({ ocsp: 'on' }) }).patch,
    ).toEqual([{ op: 'add', path: '/ocsp', value: 'on' }])
  })

  it('have no recorded value if there are several candidates', () => {
    const candidates = ['on', 'off'].map((ocsp) => ({ cert_id: 1, force_https: 0, ocsp }))
    const from = { https: createInDoubtState(...candidates) }
    expect(diffToOne(from, { https: certificate({ cert_id: 2 }) }).after).toEqual({
      cert_id: 2,
      force_https: 0,
    })
  })
})

describe('changes', () => {
  it('are sorted by domain and item for any order of the snapshots', () => {
    const items = {
      timeout: confirmed(time(10)),
      https: confirmed({ cert_id: 1, force_https: 0 }),
    }
    const to: Snapshot = new Map([
      ...buildSnapshot(items, 'b.example.com'),
      ...buildSnapshot(items, a),
    ])
    const { changes } = diffSnapshots(
      buildSnapshot({ rate_limit: confirmed({ max_rate_count: 1 }) }),
      to,
    )
    expect(changes.map((change) => `${change.domain} ${change.item}`)).toEqual([
      `${a} https`,
      `${a} rate_limit`,
      `${a} timeout`,
      'b.example.com https',
      'b.example.com timeout',
    ])
  })

  it('are none between equal snapshots, and leave both unchanged', () => {
    const items = {
      timeout: confirmed(time(10)),
      ip_black_list: createUnsetState(),
      https: confirmed({ cert_id: 1, force_https: 0 }),
    }
    const [from, to] = [buildSnapshot(items), buildSnapshot(structuredClone(items))]
    expect(diffSnapshots(from, to)).toEqual({ changes: [], unchanged: 3 })
    expect([from, to]).toEqual([buildSnapshot(items), buildSnapshot(items)])
  })
})
