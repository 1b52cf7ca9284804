// @module-tag nightly
import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import {
  createItemState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/core/model/item.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import type { Grouping } from '../../src/core/model/config.ts'
import { findUnmatched, narrowSnapshot } from '../../src/core/plan/selection.ts'
import { planSnapshots } from './plan-snapshots.ts'
import { domain } from './problems.ts'
import { itLong, long } from '../runs.ts'

const time = (seconds: number) => ({ time: String(seconds) })
const ips = (...list: string[]): Value => ({ list, mode: 'cover' })
const unset: ItemState = { status: 'unset', candidates: [] }
const buildSnapshot = (items: Record<ItemKey, ItemState>, name = 'a.example.com'): Snapshot =>
  new Map([[name, new Map(Object.entries(items))]])

const makeTestPlan = (recorded: Snapshot, desired: Snapshot, grouping?: Grouping): Plan =>
  planSnapshots(recorded, desired, grouping === undefined ? {} : { grouping })

describe('a plan', () => {
  it('is empty for equal snapshots', () => {
    const same = buildSnapshot({ timeout: createItemState(time(10)), ip_black_list: unset })
    expect(makeTestPlan(same, same)).toMatchObject({
      changes: [],
      writes: [],
      summary: { unchanged: 2, writes: 0, lowerBound: 0, seconds: 0 },
      warnings: [],
    })
  })

  it('estimates the time that the call rate takes', () => {
    const different = (count: number): Snapshot =>
      new Map(
        Array.from({ length: count }, (_, i) => [
          domain(i),
          new Map([['timeout', createItemState(time(i + 5))]]),
        ]),
      )
    expect(
      [1, 30, 31, 60, 61].map((count) => makeTestPlan(new Map(), different(count)).summary.seconds),
    ).toEqual([0, 0, 60, 60, 120])
  })

  it('never writes two items with the same name at the service together', () => {
    const itemKeys = { error_bcache: 'cache_error_code' }
    const caching = (days: number | string) =>
      createItemState({ bcache: 'on', code: ['404'], cache_time: days, cache_unit: 'day' })
    const [coded, cached] = [{ cache_error_code: caching(1) }, { error_bcache: caching('2') }]
    const fleet = (sides: [Record<ItemKey, ItemState>, Record<ItemKey, ItemState>]): Snapshot =>
      new Map(
        Array.from({ length: 12 }, (_, i) => [
          domain(i),
          new Map(Object.entries({ ...sides[i % 2], timeout: createItemState(time(5 + i)) })),
        ]),
      )
    const [recorded, desired] = [fleet([coded, cached]), fleet([cached, coded])]
    const grouping = { groups: 'all' as const, together: [['cache_error_code', 'error_bcache']] }
    const { changes, writes } = planSnapshots(recorded, desired, { itemKeys, grouping })
    expect(changes.filter(({ reason }) => reason === 'cleared')).toHaveLength(12)
    expect(writes.map(({ items }) => Object.keys(items).join()).toSorted()).toEqual([
      'cache_error_code',
      'error_bcache',
    ])
  })

  it('has a basis that depends on the states of its domains only', () => {
    const makeBasis = (recorded: Snapshot) =>
      makeTestPlan(recorded, buildSnapshot({ timeout: createItemState(time(10)) })).basis.recorded[
        'a.example.com'
      ]
    const base = makeBasis(buildSnapshot({ timeout: createItemState(time(5)) }))
    expect(base).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(
      makeBasis(
        buildSnapshot({
          timeout: { ...createItemState(time(5)), at: 'later', apply: 'other' } as ItemState,
        }),
      ),
    ).toBe(base)
    expect(
      makeBasis(
        new Map([
          ...buildSnapshot({ timeout: createItemState(time(5)) }),
          ...buildSnapshot({ timeout: createItemState(time(1)) }, 'b.example.com'),
        ]),
      ),
    ).toBe(base)
    for (const other of [
      createItemState(time(6)),
      { ...createItemState(time(5)), status: 'in-doubt' as const },
      { ...createItemState(time(5)), returned: time(6) },
    ]) {
      expect(makeBasis(buildSnapshot({ timeout: other }))).not.toBe(base)
    }
  })

  it('warns of an emptied unrecorded item, of unknown entries and of an impossible unset', () => {
    const { warnings } = makeTestPlan(
      new Map(),
      buildSnapshot({
        ip_black_list: createItemState(ips('192.0.2.1')),
        visit_deny_whitelist: createItemState([{ url: '/a', turn_on: true }]),
      }),
    )
    expect(warnings.some((text) => /ip_black_list empties ip_white_list/.test(text))).toBe(true)
    expect(warnings.some((text) => /visit_deny_whitelist.*not known/.test(text))).toBe(true)
    expect(
      makeTestPlan(new Map(), buildSnapshot({ visit_deny_whitelist: unset })).warnings,
    ).toHaveLength(1)
    expect(
      makeTestPlan(
        buildSnapshot({ ip_white_list: createItemState(ips('192.0.2.7')) }),
        buildSnapshot({ ip_black_list: createItemState(ips('192.0.2.1')) }),
      ).warnings,
    ).toEqual([])
  })

  it('warns of an emptied item only if it may be set, and counts the domains', () => {
    const black = (...list: string[]) =>
      buildSnapshot({ ip_black_list: createItemState(ips(...list)) })
    // A confirmed list has emptied the other one already.
    expect(makeTestPlan(black('192.0.2.1'), black('192.0.2.2')).warnings).toEqual([])
    const warning = 'ip_black_list empties ip_white_list, which is not recorded (a.example.com)'
    expect(
      makeTestPlan(buildSnapshot({ ip_black_list: unset }), black('192.0.2.2')).warnings,
    ).toEqual([warning])
    const doubt: ItemState = { status: 'in-doubt', candidates: [ips('192.0.2.1')] }
    expect(
      makeTestPlan(buildSnapshot({ ip_black_list: doubt }), black('192.0.2.2')).warnings,
    ).toEqual([warning])
    const two = new Map([
      ...black('192.0.2.1'),
      ...buildSnapshot({ ip_black_list: createItemState(ips('192.0.2.1')) }, 'b.example.com'),
    ])
    expect(makeTestPlan(new Map(), two).warnings).toEqual([
      warning.replace('(a.example.com)', '(2 domains, e.g. a.example.com)'),
    ])
  })

  it('notes how many writes one group for all items would save, if any', () => {
    const wait = createItemState({ origin_connect_timeout: '10' })
    const onOne = buildSnapshot({ timeout: createItemState(time(5)), connect_timeout: wait })
    expect(makeTestPlan(new Map(), onOne).details).toEqual([
      expect.stringContaining('would save 1 of 2 writes'),
    ])
    expect(makeTestPlan(new Map(), onOne, { groups: 'all', together: [] }).details).toBeUndefined()
    const separate = new Map([
      ...buildSnapshot({ timeout: createItemState(time(5)) }),
      ...buildSnapshot({ connect_timeout: wait }, 'b.example.com'),
    ])
    expect(makeTestPlan(new Map(), separate).details).toBeUndefined()
  })
})

describe('a selection', () => {
  const both: Snapshot = new Map([
    ...buildSnapshot({
      timeout: createItemState(time(5)),
      ip_black_list: createItemState(ips('192.0.2.1')),
      ip_white_list: unset,
    }),
    ...buildSnapshot({}, 'www.b.example.org'),
  ])
  const names = (target: string[]) => [...narrowSnapshot(both, { target, items: [] }).keys()]

  it('matches domains by glob, ignoring case', () => {
    expect(names([])).toHaveLength(2)
    expect(names(['a.example.com'])).toEqual(['a.example.com'])
    expect(names(['*.EXAMPLE.com'])).toEqual(['a.example.com'])
    expect(names(['{a,www.b}.example.*'])).toHaveLength(2)
    expect(names(['nothing.*'])).toEqual([])
    expect(
      findUnmatched([both], { target: ['nothing.*', 'a.*', 'A.EXAMPLE.com'], items: [] }),
    ).toEqual({
      target: ['nothing.*'],
      items: [],
    })
  })

  it('of items includes items that empty them or that they empty', () => {
    const items = (chosen: ItemKey[]) => [
      ...(
        narrowSnapshot(both, { target: [], items: chosen }).get('a.example.com') ??
        new Map<ItemKey, ItemState>()
      ).keys(),
    ]
    expect(items(['timeout'])).toEqual(['timeout'])
    expect(items(['ip_black_list'])).toEqual(['ip_black_list', 'ip_white_list'])
    expect(items(['ip_white_list'])).toEqual(['ip_black_list', 'ip_white_list'])
  })
})

itLong('passes the proof of a large plan with 10 items for each domain', () => {
  const many = long ? 1000 : 80
  const keys: ItemKey[] = [
    'timeout',
    'connect_timeout',
    'https',
    'ip_black_list',
    'referer',
    'origin_host',
    'client_real_ip',
    'rate_limit',
    'cache_share',
    'post_upload_size_limit',
  ]
  const payload = (item: ItemKey, n: number): Value =>
    getItemSpec(item).canonicalize(
      {
        timeout: time(5 + n),
        connect_timeout: { origin_connect_timeout: String(5 + n) },
        https: { cert_id: 1 + n },
        ip_black_list: ips(`192.0.2.${n}`),
        referer: { type: 1, list: [`r${n}.example.com`] },
        origin_host: { host: `h${n}.example.com` },
        client_real_ip: { head: `X-${n}` },
        rate_limit: { max_rate_count: 1 + n },
        cache_share: { share_way: 'cross_all_share', domain: `s${n}.example.com` },
        post_upload_size_limit: { limit_value: 1 + n },
      }[item] ?? null,
    )
  const snapshot = (shift: number): Snapshot =>
    new Map(
      Array.from({ length: many }, (_, i) => [
        domain(i),
        new Map(
          keys.map((item, k) => [
            item,
            createItemState(payload(item, ((i >> k) + shift * (k % 3)) % 7)),
          ]),
        ),
      ]),
    )
  const [from, to] = [snapshot(0), snapshot(1)]
  const { summary } = makeTestPlan(from, to)
  expect(summary.domains).toBe(many)
  expect(summary.writes).toBeGreaterThanOrEqual(summary.lowerBound)
})
