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
const doubt = (...candidates: Value[]): ItemState => ({ status: 'in-doubt', candidates })
const unknown = (...candidates: Value[]): ItemState => ({ ...doubt(...candidates), unknown: true })
const unset = (...candidates: Value[]): ItemState => ({ status: 'unset', candidates })
const of = (items: Record<ItemKey, ItemState>, domain = a): Snapshot =>
  new Map([[domain, new Map(Object.entries(items))]])
const nothing: Snapshot = new Map()

function only(from: Snapshot, to: Snapshot): Change {
  const { changes } = diffSnapshots(from, to)
  expect(changes).toHaveLength(1)
  return changes[0] as Change
}

describe('what is desired and not so', () => {
  it('is set where nothing is recorded', () => {
    expect(only(nothing, of({ timeout: createConfirmedState(time(10)) }))).toEqual({
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
      only(
        of({ timeout: createConfirmedState(time(5)) }),
        of({ timeout: createConfirmedState(time(10)) }),
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
    const from = of({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) })
    expect(
      diffSnapshots(from, of({ https: createConfirmedState({ force_https: 0, cert_id: 1 }) })),
    ).toEqual({
      changes: [],
      unchanged: 1,
    })
  })

  it('is set again where it was taken back', () => {
    expect(
      only(
        of({ ip_black_list: unset() }),
        of({ ip_black_list: createConfirmedState(ips('192.0.2.1')) }),
      ),
    ).toMatchObject({
      action: 'set',
      before: null,
    })
    expect(
      only(
        of({ https: unset({ cert_id: 0, force_https: 0 }) }),
        of({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) }),
      ),
    ).toMatchObject({
      action: 'set',
      before: null,
    })
  })

  it('is no change where the service returned another value for it: writing it again would bring the same', () => {
    const from = of({ timeout: { ...createConfirmedState(time(10)), returned: time(11) } })
    expect(diffSnapshots(from, of({ timeout: createConfirmedState(time(10)) })).changes).toEqual([])
  })
})

describe('what is in doubt', () => {
  it.each<[string, ItemState]>([
    ['between other values', doubt(time(5), time(6))],
    ['and may be what is desired', doubt(time(5), time(10))],
    ['and can only be what is desired', doubt(time(10))],
    ['or unknown', unknown(time(10))],
  ])('%s is written', (_how, held) => {
    expect(
      only(of({ timeout: held }), of({ timeout: createConfirmedState(time(10)) })),
    ).toMatchObject({
      action: 'change',
      reason: 'in-doubt',
      after: time(10),
    })
  })

  it('with nothing known at all is set', () => {
    expect(
      only(of({ timeout: unknown() }), of({ timeout: createConfirmedState(time(10)) })),
    ).toMatchObject({
      action: 'set',
      reason: 'in-doubt',
      before: null,
    })
  })

  it('and to be taken back is taken back', () => {
    expect(
      only(of({ ip_black_list: unknown(ips('192.0.2.1')) }), of({ ip_black_list: unset() })),
    ).toMatchObject({
      action: 'unset',
      reason: 'in-doubt',
    })
  })
})

describe('what is to be taken back', () => {
  it('is unset', () => {
    expect(
      only(
        of({ ip_black_list: createConfirmedState(ips('192.0.2.1')) }),
        of({ ip_black_list: unset() }),
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
    expect(only(nothing, of({ https: unset() }))).toMatchObject({
      action: 'unset',
      before: null,
      after: null,
      patch: [],
    })
  })

  it('and was, is no change', () => {
    const from = of({ ip_black_list: unset(), https: unset({ cert_id: 0, force_https: 0 }) })
    expect(diffSnapshots(from, of({ ip_black_list: unset(), https: unset() }))).toEqual({
      changes: [],
      unchanged: 2,
    })
  })

  it('is no change for an item with deltas only of which no entry is known', () => {
    expect(diffSnapshots(nothing, of({ visit_deny_whitelist: unset() })).changes).toEqual([])
  })
})

describe('what is no longer mentioned', () => {
  it.each<[string, ItemState]>([
    ['confirmed', createConfirmedState(time(5))],
    ['unset', unset()],
    ['unset with a value', unset(time(5))],
    ['in doubt', doubt(time(5), time(6))],
    ['unknown', unknown()],
  ])('is released when it was %s', (_how, held) => {
    const change = only(of({ timeout: held }), of({}))
    expect(change).toMatchObject({ action: 'release', reason: 'differs', after: null })
    expect(change).not.toHaveProperty('by')
  })

  it('is released with its whole domain', () => {
    expect(
      diffSnapshots(
        of({ timeout: createConfirmedState(time(5)), https: createConfirmedState({ cert_id: 1 }) }),
        nothing,
      ).changes.map((change) => change.action),
    ).toEqual(['release', 'release'])
  })
})

describe('what another item clears', () => {
  const black = of({ ip_black_list: createConfirmedState(ips('192.0.2.1')) })

  it('is emptied by the item that is named, not written or released itself', () => {
    const { changes } = diffSnapshots(
      of({ ip_white_list: createConfirmedState(ips('192.0.2.7')) }),
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
    const { changes } = diffSnapshots(of({ ip_white_list: unknown(ips('192.0.2.7')) }), black)
    expect(changes[1]).toMatchObject({ action: 'unset', reason: 'cleared', by: 'ip_black_list' })
  })

  it('is released when the other is not written', () => {
    const from = of({
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
    const from: Snapshot = of(
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
  const recorded = of({
    https: createConfirmedState({ cert_id: 1, force_https: 0, http2: 'on', ocsp: 'off' }),
  })

  it('count only where they are named', () => {
    expect(
      diffSnapshots(recorded, of({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) }))
        .changes,
    ).toEqual([])
    expect(
      diffSnapshots(
        recorded,
        of({ https: createConfirmedState({ cert_id: 1, force_https: 0, http2: 'on' }) }),
      ).changes,
    ).toEqual([])
    expect(
      only(
        recorded,
        of({ https: createConfirmedState({ cert_id: 1, force_https: 0, http2: 'off' }) }),
      ).patch,
    ).toEqual([{ op: 'replace', path: '/http2', value: 'off' }])
  })

  it('keep their recorded value in what comes after', () => {
    expect(
      only(recorded, of({ https: createConfirmedState({ cert_id: 2, force_https: 0 }) })).after,
    ).toEqual({
      cert_id: 2,
      force_https: 0,
      http2: 'on',
      ocsp: 'off',
    })
  })

  it('that are not known are a change once they are named', () => {
    expect(
      only(
        of({ https: createConfirmedState({ cert_id: 1, force_https: 0 }) }),
        of({ https: createConfirmedState({ cert_id: 1, force_https: 0, ocsp: 'on' }) }),
      ).patch,
    ).toEqual([{ op: 'add', path: '/ocsp', value: 'on' }])
  })

  it('are not taken from one of several candidates', () => {
    const from = of({
      https: doubt(
        { cert_id: 1, force_https: 0, ocsp: 'on' },
        { cert_id: 1, force_https: 0, ocsp: 'off' },
      ),
    })
    expect(
      only(from, of({ https: createConfirmedState({ cert_id: 2, force_https: 0 }) })).after,
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
    const to: Snapshot = new Map([...of(items, 'b.example.com'), ...of(items, a)])
    const { changes } = diffSnapshots(
      of({ rate_limit: createConfirmedState({ max_rate_count: 1 }) }),
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
      ip_black_list: unset(),
      https: createConfirmedState({ cert_id: 1, force_https: 0 }),
    }
    const [from, to] = [of(items), of(structuredClone(items))]
    expect(diffSnapshots(from, to)).toEqual({ changes: [], unchanged: 3 })
    expect([from, to]).toEqual([of(items), of(items)])
  })
})
