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

describe('what is desired and not so', () => {
  it('is set where nothing is recorded', () => {
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

  it('is changed where another value is recorded', () => {
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

  it('is no change where it is recorded, in whatever order of keys', () => {
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

  it('is set again where it was taken back', () => {
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

  it('is no change where the service returned another value for it: writing it again would bring the same', () => {
    const from = buildSnapshot({
      timeout: { ...createConfirmedState(time(10)), returned: time(11) },
    })
    expect(
      diffSnapshots(from, buildSnapshot({ timeout: createConfirmedState(time(10)) })).changes,
    ).toEqual([])
  })
})

describe('what is in doubt', () => {
  it.each<[string, ItemState]>([
    ['between other values', createInDoubtState(time(5), time(6))],
    ['and may be what is desired', createInDoubtState(time(5), time(10))],
    ['and can only be what is desired', createInDoubtState(time(10))],
    ['or unknown', createUnknownState(time(10))],
  ])('%s is written', (_how, held) => {
    expect(
      diffToOne(
        buildSnapshot({ timeout: held }),
        buildSnapshot({ timeout: createConfirmedState(time(10)) }),
      ),
    ).toMatchObject({
      action: 'change',
      reason: 'in-doubt',
      after: time(10),
    })
  })

  it('with nothing known at all is set', () => {
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

  it('and to be taken back is taken back', () => {
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

describe('what is to be taken back', () => {
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

  it('is unset where nothing is recorded: anything may be there', () => {
    expect(diffToOne(nothing, buildSnapshot({ https: createUnsetState() }))).toMatchObject({
      action: 'unset',
      before: null,
      after: null,
      patch: [],
    })
  })

  it('and was, is no change', () => {
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

  it('is no change for an item with deltas only of which no entry is known', () => {
    expect(
      diffSnapshots(nothing, buildSnapshot({ visit_deny_whitelist: createUnsetState() })).changes,
    ).toEqual([])
  })
})

describe('what is no longer mentioned', () => {
  it.each<[string, ItemState]>([
    ['confirmed', createConfirmedState(time(5))],
    ['unset', createUnsetState()],
    ['unset with a value', createUnsetState(time(5))],
    ['in doubt', createInDoubtState(time(5), time(6))],
    ['unknown', createUnknownState()],
  ])('is released when it was %s', (_how, held) => {
    const change = diffToOne(buildSnapshot({ timeout: held }), buildSnapshot({}))
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

describe('what another item clears', () => {
  const black = buildSnapshot({ ip_black_list: createConfirmedState(ips('192.0.2.1')) })

  it('is emptied by the item that is named, not written or released itself', () => {
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

  it('is emptied when it is in doubt as well', () => {
    const { changes } = diffSnapshots(
      buildSnapshot({ ip_white_list: createUnknownState(ips('192.0.2.7')) }),
      black,
    )
    expect(changes[1]).toMatchObject({ action: 'unset', reason: 'cleared', by: 'ip_black_list' })
  })

  it('is released when the other is not written', () => {
    const from = buildSnapshot({
      ip_black_list: createConfirmedState(ips('192.0.2.1')),
      ip_white_list: createConfirmedState(ips('192.0.2.7')),
    })
    expect(diffSnapshots(from, black).changes).toMatchObject([
      { item: 'ip_white_list', action: 'release' },
    ])
  })

  it('is not there when it was not recorded', () => {
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

  it('count only where they are named', () => {
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

  it('that are not known are a change once they are named', () => {
    expect(
      diffToOne(
        buildSnapshot({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) }),
        buildSnapshot({ https: createConfirmedState({ cert_id: 1, force_https: 0, ocsp: 'on' }) }),
      ).patch,
    ).toEqual([{ op: 'add', path: '/ocsp', value: 'on' }])
  })

  it('are not taken from one of several candidates', () => {
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
  it('come sorted by domain and item, whatever the order of the snapshots', () => {
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

  it('between equal snapshots are none, and neither snapshot is touched', () => {
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
