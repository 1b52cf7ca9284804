import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../src/catalog/catalogue.ts'
import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import {
  createConfirmedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/model/item.ts'
import type { Plan } from '../../src/model/plan.ts'
import type { Grouping } from '../../src/model/config.ts'
import { makePlan } from '../../src/plan/make-plan.ts'
import { selectsAny, narrowSnapshot } from '../../src/plan/selection.ts'
import { domain } from './problems.ts'
import { fc, itOften, long, runs } from '../runs.ts'

const time = (seconds: number) => ({ time: String(seconds) })
const ips = (...list: string[]): Value => ({ list, mode: 'cover' })
const unset: ItemState = { status: 'unset', candidates: [] }
const of = (items: Record<ItemKey, ItemState>, name = 'a.example.com'): Snapshot =>
  new Map([[name, new Map(Object.entries(items))]])

function plan(
  recorded: Snapshot,
  desired: Snapshot,
  grouping: Grouping = { groups: 'documented', together: [] },
): Plan {
  return makePlan({
    recorded,
    desired,
    ...diffSnapshots(recorded, desired),
    grouping,
    limits: { domainsPerWrite: 10, callsPerMinute: 30 },
    target: [],
    items: [],
    commit: null,
  })
}

const choices: Record<ItemKey, Value[]> = {
  timeout: [time(10), time(20)],
  ip_black_list: [ips('192.0.2.1'), ips('192.0.2.1', '192.0.2.2')],
  ip_white_list: [ips('192.0.2.7')],
  https: [
    { cert_id: 1, force_https: 0, ocsp: 'on' },
    { cert_id: 2, force_https: 301 },
  ],
  visit_deny_whitelist: [[{ url: '/a', turn_on: true }], [{ url: '/b', turn_on: true }]],
  add_response_head: [
    { type: 'reset', list: [{ name: 'X', value: '1' }] },
    { type: 'reset', list: [{ name: 'Y', value: '1' }] },
  ],
}

function snapshots(
  held: (values: Value[], item: ItemKey) => fc.Arbitrary<ItemState>,
): fc.Arbitrary<Snapshot> {
  const one = fc.record(
    Object.fromEntries(Object.entries(choices).map(([item, values]) => [item, held(values, item)])),
    {
      requiredKeys: [],
    },
  )
  return fc
    .array(one, { minLength: 1, maxLength: 14 })
    .map(
      (all) =>
        new Map(
          all.map((items, i) => [
            domain(i),
            new Map(Object.entries(items) as [ItemKey, ItemState][]),
          ]),
        ),
    )
}

const value = (values: Value[]): fc.Arbitrary<ItemState> =>
  fc.constantFrom(...values).map(createConfirmedState)
const recordedOnes = snapshots((values) =>
  fc.oneof(
    value(values),
    fc.record({
      status: fc.constant('in-doubt' as const),
      candidates: fc.constant(values),
      unknown: fc.constant(true),
    }),
    fc.constant(unset),
  ),
)
const desiredOnes = snapshots((values, item) =>
  getItemSpec(item).unset === undefined
    ? value(values)
    : fc.oneof(value(values), fc.constant(unset)),
).map((snapshot) => {
  for (const items of snapshot.values())
    if (items.has('ip_black_list')) items.delete('ip_white_list')
  return snapshot
})

/** The same snapshot, put together in another order. */
function reversed(snapshot: Snapshot): Snapshot {
  return new Map(
    [...snapshot].toReversed().map(([name, items]) => [name, new Map([...items].toReversed())]),
  )
}

describe('a plan', () => {
  itOften('proves itself whatever is recorded and desired, and counts what it does', () =>
    fc.assert(
      fc.property(recordedOnes, desiredOnes, (recorded, desired) => {
        const { changes, writes, summary, basis } = plan(recorded, desired)
        expect(summary.set + summary.change + summary.unset + summary.release).toBe(changes.length)
        expect(summary.domains).toBe(new Set(changes.map((change) => change.domain)).size)
        expect(summary.writes).toBe(writes.length)
        expect(summary.lowerBound).toBeLessThanOrEqual(summary.writes)
        expect(Object.keys(basis.desired).toSorted()).toEqual(
          [...new Set(changes.map((change) => change.domain))].toSorted(),
        )
        expect(Object.keys(basis.recorded)).toEqual(Object.keys(basis.desired))
      }),
      { numRuns: runs(60, 600) },
    ),
  )

  itOften('writes an item of a domain only when it changes', () =>
    fc.assert(
      fc.property(recordedOnes, desiredOnes, (recorded, desired) => {
        const { changes, writes } = plan(recorded, desired)
        const changed = new Set(
          changes
            .filter((change) => change.action !== 'release' && change.reason !== 'cleared')
            .map((change) => `${change.domain} ${change.item}`),
        )
        const written = writes.flatMap((write) =>
          write.domains.flatMap((name) =>
            Object.keys(write.items).map((item) => `${name} ${item}`),
          ),
        )
        expect([...new Set(written)].toSorted()).toEqual([...changed].toSorted())
      }),
      { numRuns: runs(60, 600) },
    ),
  )

  itOften('is the same, byte for byte, whatever the order of its inputs', () =>
    fc.assert(
      fc.property(recordedOnes, desiredOnes, (recorded, desired) => {
        const bytes = JSON.stringify(plan(recorded, desired))
        expect(JSON.stringify(plan(recorded, desired))).toBe(bytes)
        expect(JSON.stringify(plan(reversed(recorded), reversed(desired)))).toBe(bytes)
      }),
      { numRuns: runs(25, 200) },
    ),
  )

  it('of equal snapshots has nothing to do', () => {
    const same = of({ timeout: createConfirmedState(time(10)), ip_black_list: unset })
    expect(plan(same, same)).toMatchObject({
      changes: [],
      writes: [],
      summary: { unchanged: 2, writes: 0, lowerBound: 0, seconds: 0 },
      warnings: [],
    })
  })

  it('says what the call rate costs', () => {
    const different = (count: number): Snapshot =>
      new Map(
        Array.from({ length: count }, (_, i) => [
          domain(i),
          new Map([['timeout', createConfirmedState(time(i + 5))]]),
        ]),
      )
    expect(
      [1, 30, 31, 60, 61].map((count) => plan(new Map(), different(count)).summary.seconds),
    ).toEqual([0, 0, 60, 60, 120])
  })

  it('has a basis that changes with what its domains hold, and with nothing else', () => {
    const basisOf = (recorded: Snapshot) =>
      plan(recorded, of({ timeout: createConfirmedState(time(10)) })).basis.recorded[
        'a.example.com'
      ]
    const base = basisOf(of({ timeout: createConfirmedState(time(5)) }))
    expect(base).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(
      basisOf(
        of({
          timeout: { ...createConfirmedState(time(5)), at: 'later', apply: 'other' } as ItemState,
        }),
      ),
    ).toBe(base)
    expect(
      basisOf(
        new Map([
          ...of({ timeout: createConfirmedState(time(5)) }),
          ...of({ timeout: createConfirmedState(time(1)) }, 'b.example.com'),
        ]),
      ),
    ).toBe(base)
    for (const other of [
      createConfirmedState(time(6)),
      { ...createConfirmedState(time(5)), status: 'in-doubt' as const },
      { ...createConfirmedState(time(5)), returned: time(6) },
    ]) {
      expect(basisOf(of({ timeout: other }))).not.toBe(base)
    }
  })

  it('warns that an unrecorded item will be emptied, that entries are not known, that nothing can be taken back', () => {
    const { warnings } = plan(
      new Map(),
      of({
        ip_black_list: createConfirmedState(ips('192.0.2.1')),
        visit_deny_whitelist: createConfirmedState([{ url: '/a', turn_on: true }]),
      }),
    )
    expect(warnings.some((text) => /ip_black_list empties ip_white_list/.test(text))).toBe(true)
    expect(warnings.some((text) => /visit_deny_whitelist.*not known/.test(text))).toBe(true)
    expect(plan(new Map(), of({ visit_deny_whitelist: unset })).warnings).toHaveLength(1)
    expect(
      plan(
        of({ ip_white_list: createConfirmedState(ips('192.0.2.7')) }),
        of({ ip_black_list: createConfirmedState(ips('192.0.2.1')) }),
      ).warnings,
    ).toEqual([])
  })

  it('warns of what is emptied only where something may be there, and counts the domains', () => {
    const black = (...list: string[]) => of({ ip_black_list: createConfirmedState(ips(...list)) })
    // A list that is confirmed has emptied the other one already.
    expect(plan(black('192.0.2.1'), black('192.0.2.2')).warnings).toEqual([])
    const told = 'ip_black_list empties ip_white_list, of which nothing is recorded (a.example.com)'
    expect(plan(of({ ip_black_list: unset }), black('192.0.2.2')).warnings).toEqual([told])
    const doubt: ItemState = { status: 'in-doubt', candidates: [ips('192.0.2.1')] }
    expect(plan(of({ ip_black_list: doubt }), black('192.0.2.2')).warnings).toEqual([told])
    const two = new Map([
      ...black('192.0.2.1'),
      ...of({ ip_black_list: createConfirmedState(ips('192.0.2.1')) }, 'b.example.com'),
    ])
    expect(plan(new Map(), two).warnings).toEqual([
      told.replace('(a.example.com)', '(2 domains, e.g. a.example.com)'),
    ])
  })

  it('says what one group for all items would save, where it would save anything', () => {
    const wait = createConfirmedState({ origin_connect_timeout: '10' })
    const onOne = of({ timeout: createConfirmedState(time(5)), connect_timeout: wait })
    expect(plan(new Map(), onOne).warnings).toEqual([
      expect.stringContaining('would save 1 of 2 writes'),
    ])
    expect(plan(new Map(), onOne, { groups: 'all', together: [] }).warnings).toEqual([])
    const apart = new Map([
      ...of({ timeout: createConfirmedState(time(5)) }),
      ...of({ connect_timeout: wait }, 'b.example.com'),
    ])
    expect(plan(new Map(), apart).warnings).toEqual([])
  })
})

describe('a selection', () => {
  const both: Snapshot = new Map([
    ...of({
      timeout: createConfirmedState(time(5)),
      ip_black_list: createConfirmedState(ips('192.0.2.1')),
      ip_white_list: unset,
    }),
    ...of({}, 'www.b.example.org'),
  ])
  const names = (target: string[]) => [...narrowSnapshot(both, { target, items: [] }).keys()]

  it('of domains is by glob, over letter case', () => {
    expect(names([])).toHaveLength(2)
    expect(names(['a.example.com'])).toEqual(['a.example.com'])
    expect(names(['*.EXAMPLE.com'])).toEqual(['a.example.com'])
    expect(names(['{a,www.b}.example.*'])).toHaveLength(2)
    expect(names(['nothing.*'])).toEqual([])
    expect(selectsAny(both, { target: ['nothing.*'], items: [] })).toBe(false)
    expect(selectsAny(both, { target: ['a.*'], items: [] })).toBe(true)
  })

  it('of items takes those with it that empty them, or that they empty', () => {
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

itOften('a plan of many domains with 10 items each proves itself', () => {
  const many = long ? 1000 : 250
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
            createConfirmedState(payload(item, ((i >> k) + shift * (k % 3)) % 7)),
          ]),
        ),
      ]),
    )
  const [from, to] = [snapshot(0), snapshot(1)]
  const { summary } = plan(from, to)
  expect(summary.domains).toBe(many)
  expect(summary.writes).toBeGreaterThanOrEqual(summary.lowerBound)
})
