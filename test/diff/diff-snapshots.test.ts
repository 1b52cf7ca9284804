import { describe, expect, it } from 'vitest'
import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import type { Change } from '../../src/model/change.ts'
import {
  createConfirmedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/model/item.ts'

const a = 'a.example.com'
const time = (seconds: number) => ({ time: String(seconds) })
const ips = (...list: string[]): Value => ({ list, mode: 'cover' })
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
const nothing: Snapshot = new Map()

function diffToOne(from: Snapshot, to: Snapshot): Change {
  const { changes } = diffSnapshots(from, to)
  expect(changes).toHaveLength(1)
  return changes[0] as Change
}

describe('a desired item', () => {
  it('is set if it is unrecorded', () => {
    expect(diffToOne(nothing, buildSnapshot({ timeout: createConfirmedState(time(10)) }))).toEqual({
      domain: a,
      item: 'timeout',
      action: 'set',
      reason: 'differs',
      before: null,
      after: time(10),
      patch: [{ op: 'add', path: '', value: time(10) }],
    })
  })

  it('is changed if another value is recorded', () => {
    expect(
      diffToOne(
        buildSnapshot({ timeout: createConfirmedState(time(5)) }),
        buildSnapshot({ timeout: createConfirmedState(time(10)) }),
      ),
    ).toMatchObject({
      action: 'change',
      reason: 'differs',
      before: time(5),
      after: time(10),
      patch: [{ op: 'replace', path: '/time', value: '10' }],
    })
  })

  it('is no change if it is recorded, in any order of keys', () => {
    const from = buildSnapshot({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) })
    expect(
      diffSnapshots(
        from,
        buildSnapshot({ https: createConfirmedState({ force_https: 0, cert_id: 1 }) }),
      ),
    ).toEqual({
      changes: [],
      unchanged: 1,
    })
  })

  it('is set if it was unset', () => {
    expect(
      diffToOne(
        buildSnapshot({ ip_black_list: createUnsetState() }),
        buildSnapshot({ ip_black_list: createConfirmedState(ips('192.0.2.1')) }),
      ),
    ).toMatchObject({
      action: 'set',
      before: null,
    })
    expect(
      diffToOne(
        buildSnapshot({ https: createUnsetState({ cert_id: 0, force_https: 0 }) }),
        buildSnapshot({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) }),
      ),
    ).toMatchObject({
      action: 'set',
      before: null,
    })
  })

  it('is no change if the service returned another value: a write would return the same', () => {
    const from = buildSnapshot({
      timeout: { ...createConfirmedState(time(10)), returned: time(11) },
    })
    expect(
      diffSnapshots(from, buildSnapshot({ timeout: createConfirmedState(time(10)) })).changes,
    ).toEqual([])
  })
})

describe('an in-doubt item', () => {
  it.each<[string, ItemState]>([
    ['with other candidates', createInDoubtState(time(5), time(6))],
    ['with the desired value as one candidate', createInDoubtState(time(5), time(10))],
    ['with the desired value as the only candidate', createInDoubtState(time(10))],
    ['with an unknown value', createUnknownState(time(10))],
  ])('%s is written', (_case, state) => {
    expect(
      diffToOne(
        buildSnapshot({ timeout: state }),
        buildSnapshot({ timeout: createConfirmedState(time(10)) }),
      ),
    ).toMatchObject({
      action: 'change',
      reason: 'in-doubt',
      after: time(10),
    })
  })

  it('without a candidate is set', () => {
    expect(
      diffToOne(
        buildSnapshot({ timeout: createUnknownState() }),
        buildSnapshot({ timeout: createConfirmedState(time(10)) }),
      ),
    ).toMatchObject({
      action: 'set',
      reason: 'in-doubt',
      before: null,
    })
  })

  it('that should be unset is unset', () => {
    expect(
      diffToOne(
        buildSnapshot({ ip_black_list: createUnknownState(ips('192.0.2.1')) }),
        buildSnapshot({ ip_black_list: createUnsetState() }),
      ),
    ).toMatchObject({
      action: 'unset',
      reason: 'in-doubt',
    })
  })
})

describe('an item that should be unset', () => {
  it('is unset', () => {
    expect(
      diffToOne(
        buildSnapshot({ ip_black_list: createConfirmedState(ips('192.0.2.1')) }),
        buildSnapshot({ ip_black_list: createUnsetState() }),
      ),
    ).toEqual({
      domain: a,
      item: 'ip_black_list',
      action: 'unset',
      reason: 'differs',
      before: ips('192.0.2.1'),
      after: null,
      patch: [{ op: 'remove', path: '' }],
    })
  })

  it('is unset if it is unrecorded: it may have any value', () => {
    expect(diffToOne(nothing, buildSnapshot({ https: createUnsetState() }))).toMatchObject({
      action: 'unset',
      before: null,
      after: null,
      patch: [],
    })
  })

  it('is no change if it is unset', () => {
    const from = buildSnapshot({
      ip_black_list: createUnsetState(),
      https: createUnsetState({ cert_id: 0, force_https: 0 }),
    })
    expect(
      diffSnapshots(
        from,
        buildSnapshot({ ip_black_list: createUnsetState(), https: createUnsetState() }),
      ),
    ).toEqual({
      changes: [],
      unchanged: 2,
    })
  })

  it('is no change if it has only deltas and no known entry', () => {
    expect(
      diffSnapshots(nothing, buildSnapshot({ visit_deny_whitelist: createUnsetState() })).changes,
    ).toEqual([])
  })
})

describe('an item that is no longer desired', () => {
  it.each<[string, ItemState]>([
    ['confirmed', createConfirmedState(time(5))],
    ['unset', createUnsetState()],
    ['unset with a value', createUnsetState(time(5))],
    ['in-doubt', createInDoubtState(time(5), time(6))],
    ['unknown', createUnknownState()],
  ])('is released when it was %s', (_case, state) => {
    const change = diffToOne(buildSnapshot({ timeout: state }), buildSnapshot({}))
    expect(change).toMatchObject({ action: 'release', reason: 'differs', after: null })
    expect(change).not.toHaveProperty('by')
  })

  it('is released with its whole domain', () => {
    expect(
      diffSnapshots(
        buildSnapshot({
          timeout: createConfirmedState(time(5)),
          https: createConfirmedState({ cert_id: 1 }),
        }),
        nothing,
      ).changes.map((change) => change.action),
    ).toEqual(['release', 'release'])
  })
})

describe('an item that another one clears', () => {
  const black = buildSnapshot({ ip_black_list: createConfirmedState(ips('192.0.2.1')) })

  it('is emptied by the other item, not written or released', () => {
    const { changes } = diffSnapshots(
      buildSnapshot({ ip_white_list: createConfirmedState(ips('192.0.2.7')) }),
      black,
    )
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
    const { changes } = diffSnapshots(
      buildSnapshot({ ip_white_list: createUnknownState(ips('192.0.2.7')) }),
      black,
    )
    expect(changes[1]).toMatchObject({ action: 'unset', reason: 'cleared', by: 'ip_black_list' })
  })

  it('is released if the other item is not written', () => {
    const from = buildSnapshot({
      ip_black_list: createConfirmedState(ips('192.0.2.1')),
      ip_white_list: createConfirmedState(ips('192.0.2.7')),
    })
    expect(diffSnapshots(from, black).changes).toMatchObject([
      { item: 'ip_white_list', action: 'release' },
    ])
  })

  it('is no change if it is unrecorded', () => {
    expect(diffSnapshots(nothing, black).changes).toMatchObject([
      { item: 'ip_black_list', action: 'set' },
    ])
  })

  it('is cleared on its own domain only', () => {
    const from: Snapshot = buildSnapshot(
      { ip_white_list: createConfirmedState(ips('192.0.2.7')) },
      'b.example.com',
    )
    expect(diffSnapshots(from, black).changes).toMatchObject([
      { domain: a, item: 'ip_black_list', action: 'set' },
      { domain: 'b.example.com', item: 'ip_white_list', action: 'release' },
    ])
  })
})

describe('fields that the service keeps', () => {
  const recorded = buildSnapshot({
    https: createConfirmedState({ cert_id: 1, force_https: 0, http2: 'on', ocsp: 'off' }),
  })

  it('are compared only if they are desired', () => {
    expect(
      diffSnapshots(
        recorded,
        buildSnapshot({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) }),
      ).changes,
    ).toEqual([])
    expect(
      diffSnapshots(
        recorded,
        buildSnapshot({ https: createConfirmedState({ cert_id: 1, force_https: 0, http2: 'on' }) }),
      ).changes,
    ).toEqual([])
    expect(
      diffToOne(
        recorded,
        buildSnapshot({
          https: createConfirmedState({ cert_id: 1, force_https: 0, http2: 'off' }),
        }),
      ).patch,
    ).toEqual([{ op: 'replace', path: '/http2', value: 'off' }])
  })

  it('keep their recorded value in what comes after', () => {
    expect(
      diffToOne(
        recorded,
        buildSnapshot({ https: createConfirmedState({ cert_id: 2, force_https: 0 }) }),
      ).after,
    ).toEqual({
      cert_id: 2,
      force_https: 0,
      http2: 'on',
      ocsp: 'off',
    })
  })

  it('are a change if they are desired and unknown', () => {
    expect(
      diffToOne(
        buildSnapshot({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) }),
        buildSnapshot({ https: createConfirmedState({ cert_id: 1, force_https: 0, ocsp: 'on' }) }),
      ).patch,
    ).toEqual([{ op: 'add', path: '/ocsp', value: 'on' }])
  })

  it('have no recorded value if there are several candidates', () => {
    const from = buildSnapshot({
      https: createInDoubtState(
        { cert_id: 1, force_https: 0, ocsp: 'on' },
        { cert_id: 1, force_https: 0, ocsp: 'off' },
      ),
    })
    expect(
      diffToOne(
        from,
        buildSnapshot({ https: createConfirmedState({ cert_id: 2, force_https: 0 }) }),
      ).after,
    ).toEqual({
      cert_id: 2,
      force_https: 0,
    })
  })
})

describe('changes', () => {
  it('are sorted by domain and item for any order of the snapshots', () => {
    const items = {
      timeout: createConfirmedState(time(10)),
      https: createConfirmedState({ cert_id: 1, force_https: 0 }),
    }
    const to: Snapshot = new Map([
      ...buildSnapshot(items, 'b.example.com'),
      ...buildSnapshot(items, a),
    ])
    const { changes } = diffSnapshots(
      buildSnapshot({ rate_limit: createConfirmedState({ max_rate_count: 1 }) }),
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
      timeout: createConfirmedState(time(10)),
      ip_black_list: createUnsetState(),
      https: createConfirmedState({ cert_id: 1, force_https: 0 }),
    }
    const [from, to] = [buildSnapshot(items), buildSnapshot(structuredClone(items))]
    expect(diffSnapshots(from, to)).toEqual({ changes: [], unchanged: 3 })
    expect([from, to]).toEqual([buildSnapshot(items), buildSnapshot(items)])
  })
})
