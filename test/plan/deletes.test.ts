import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { isDelete, type Change, type Write } from '../../src/core/model/change.ts'
import { createItemState, type ItemState, type Snapshot } from '../../src/core/model/item.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { findPlanFault } from '../../src/core/plan/find-plan-fault.ts'
import type { PlanInput } from '../../src/core/plan/make-plan.ts'
import { fc, itLong, runs } from '../runs.ts'
import { planSnapshots } from './plan-snapshots.ts'
import { solver } from './problems.ts'

const unset: ItemState = { status: 'unset', candidates: [] }
const time = createItemState({ time: '10' })
const connectTime = createItemState({ origin_connect_timeout: '10' })
const host = createItemState({ host: 'one.example.net' })
const countries = createItemState({ limit_type: 'white', country_list: 'brazil' })
const nameDomain = (i: number) => `d${String(i).padStart(3, '0')}.example.com`

type Items = Record<string, ItemState>

function planItems(desired: Items[], recorded: Items[] = [], more: Partial<PlanInput> = {}): Plan {
  const toSnapshot = (all: Items[]): Snapshot =>
    new Map(all.map((items, i) => [nameDomain(i), new Map(Object.entries(items))]))
  return planSnapshots(toSnapshot(recorded), toSnapshot(desired), { deletes: true, ...more })
}

const repeat = (count: number, items: Items): Items[] => Array.from({ length: count }, () => items)
const describeWrites = ({ writes }: Plan): string[] =>
  writes.map(
    (write) =>
      `${isDelete(write) ? 'DELETE' : 'POST'} ${write.domains.length}: ` +
      Object.keys(write.items).join(' '),
  )

describe('items of an account that offers DELETE', () => {
  it('share a DELETE whatever their groups, up to ten domains', () => {
    const plan = planItems(repeat(12, { timeout: unset, connect_timeout: unset, extend: unset }))
    expect(describeWrites(plan).toSorted()).toEqual([
      'DELETE 10: connect_timeout extend timeout',
      'DELETE 2: connect_timeout extend timeout',
    ])
    expect(plan.summary).toMatchObject({ unset: 36, writes: 2, lowerBound: 2 })
    expect(plan.writes[0]?.items).toMatchObject({ timeout: { name: 'delete', payload: null } })
  })

  it('share no write with values, even if `together` and one group bind them', () => {
    const items = ['origin_host', 'timeout', 'connect_timeout']
    const grouping = { groups: 'all' as const, together: [items] }
    const one = { timeout: unset, connect_timeout: connectTime, origin_host: host }
    const plan = planItems(repeat(2, one), [], { grouping, solver })
    expect(describeWrites(plan)).toEqual([
      'DELETE 2: timeout',
      'POST 2: connect_timeout origin_host',
    ])
    expect(plan.summary.lowerBound).toBe(2)
  })

  it('are unset together with those that have a documented reset', () => {
    const plan = planItems([{ origin_host: unset, timeout: unset, https: unset }])
    expect(describeWrites(plan)).toEqual(['DELETE 1: https origin_host timeout'])
    expect(plan.changes).toMatchObject([{ byDelete: true }, { byDelete: true }, { byDelete: true }])
  })

  it('leave an item that a write of them would empty', () => {
    const list = createItemState({ list: ['192.0.2.1'], mode: 'cover' })
    const plan = planItems([{ ip_white_list: unset }], [{ ip_black_list: list }])
    expect(plan.changes).toMatchObject([
      { item: 'ip_black_list', action: 'release' },
      { item: 'ip_white_list', action: 'unset' },
    ])
    expect(describeWrites(plan)).toEqual(['DELETE 1: ip_white_list'])
  })

  it('can be covered by fewer DELETEs than one for each set of items', () => {
    const kinds = [['timeout'], ['timeout', 'extend'], ['extend'], ['user_agent', 'extend']]
    const desired = kinds.map((items) => Object.fromEntries(items.map((item) => [item, unset])))
    const plan = planItems(desired, [], { solver })
    expect(plan.writes.length).toBe(plan.summary.lowerBound)
    expect(plan.summary.writes).toBe(3)
  })

  it('are no change when they are unset already, and are released as before', () => {
    expect(planItems([{ timeout: unset }], [{ timeout: unset }]).changes).toEqual([])
    const released = planItems([{}], [{ timeout: unset, connect_timeout: connectTime }])
    expect(released.changes.map(({ action }) => action)).toEqual(['release', 'release'])
    expect(released.writes).toEqual([])
  })

  it('can not be planned where the account does not offer DELETE', () => {
    expect(() => planItems([{ timeout: unset }], [], { deletes: false })).toThrow(
      /no way to unset timeout/,
    )
  })

  it('do not count as a group that other items could join', () => {
    const grouped = planItems([{ timeout: unset, origin_host: host }])
    expect(grouped.warnings.filter((warning) => warning.includes('groups: all'))).toEqual([])
  })
})

describe('the order of writes', () => {
  const resettable = ['timeout', 'connect_timeout', 'extend', 'client_real_ip']
  const values: Items = {
    origin_host: host,
    timeout: time,
    connect_timeout: connectTime,
    visit_areas_limit: countries,
  }
  const fleets = fc.array(
    fc.record({
      deleted: fc.subarray(resettable),
      set: fc.subarray(Object.keys(values)),
    }),
    { minLength: 1, maxLength: 9 },
  )

  itLong('has the DELETEs of a domain before its other writes, and no mixed write', () =>
    fc.assert(
      fc.property(
        fleets,
        fc.subarray([0, 1, 2, 3, 4]),
        fc.constantFrom(1, 2, 3, 10),
        fc.constantFrom(1, 3),
        (fleet, first, domainsPerWrite, waves) => {
          const desired = fleet.map(({ deleted, set }) => ({
            ...Object.fromEntries(set.map((item) => [item, values[item] ?? unset])),
            ...Object.fromEntries(deleted.map((item) => [item, unset])),
          }))
          const { writes, changes } = planItems(desired, [], {
            limits: { domainsPerWrite, callsPerMinute: 30 },
            first: first.map(nameDomain),
            waves: { amounts: Array.from({ length: waves }, (_, i) => ({ count: 2 * i + 1 })) },
          })
          for (const write of writes) {
            expect(write.domains.length).toBeLessThanOrEqual(domainsPerWrite)
            const names = new Set(Object.values(write.items).map(({ name }) => name === 'delete'))
            expect(names.size).toBe(1)
          }
          expect(listLateDeletes(writes)).toEqual([])
          expect(findPlanFault(changes, writes, new Map())).toBeNull()
        },
      ),
      { numRuns: runs(60, 600) },
    ),
  )

  it('has the writes of a first domain before those of others, with their DELETEs', () => {
    const both = { timeout: unset, connect_timeout: connectTime }
    const plan = planItems(repeat(4, both), [], {
      first: [nameDomain(3)],
      limits: { domainsPerWrite: 2, callsPerMinute: 30 },
    })
    const position = plan.writes.findIndex(
      (write) => !isDelete(write) && write.domains.includes(nameDomain(3)),
    )
    expect(position).toBeGreaterThan(0)
    expect(position).toBeLessThanOrEqual(2)
    expect(plan.writes).toHaveLength(4)
  })

  it('keeps a domain in a mixed state as briefly as possible', () => {
    const plan = planItems(
      Array.from({ length: 20 }, (_, i) => ({
        timeout: unset,
        connect_timeout: createItemState({ origin_connect_timeout: String(i < 10 ? 5 : 6) }),
      })),
    )
    expect(plan.writes.map((write) => [isDelete(write), write.domains[0]])).toEqual([
      [true, nameDomain(0)],
      [false, nameDomain(0)],
      [true, nameDomain(10)],
      [false, nameDomain(10)],
    ])
  })
})

/** Lists the domains and ids of DELETEs that come after another write of the domain. */
function listLateDeletes(writes: Write[]): string[] {
  const written = new Set<string>()
  return writes.flatMap((write) => {
    const late = isDelete(write) ? write.domains.filter((domain) => written.has(domain)) : []
    if (!isDelete(write)) for (const domain of write.domains) written.add(domain)
    return late.map((domain) => `${domain} ${write.id}`)
  })
}

describe('the proof of a plan', () => {
  const plan = planItems([{ timeout: unset, connect_timeout: connectTime }])
  const prove = (writes: Write[], changes: Change[] = plan.changes) =>
    findPlanFault(changes, writes, new Map())
  const [deletes, post] = plan.writes
  if (deletes === undefined || post === undefined) throw new TypeError('expected two writes')

  it('accepts it', () => expect(prove([deletes, post])).toBeNull())

  it.each<[string, Write[], RegExp]>([
    ['a DELETE after another write of the domain', [post, deletes], /after write 2/],
    [
      'a DELETE with values',
      [{ ...deletes, items: { ...deletes.items, ...post.items } }],
      /unsets by DELETE and also sets items/,
    ],
    [
      'a DELETE of an item that is set',
      [
        {
          ...deletes,
          items: { ...deletes.items, connect_timeout: { name: 'delete', payload: null } },
        },
      ],
      /unsets connect_timeout, which should stay set/,
    ],
    ['no DELETE', [post], /no write makes the change of timeout/],
  ])('refuses %s', (_name, writes, fault) => expect(prove(writes)).toMatch(fault))

  it('has a way to unset each item of the catalogue', () => {
    for (const item of catalogue.keys()) {
      const { writes } = planItems([{ [item]: unset }])
      expect(writes.map(isDelete), item).toEqual([true])
    }
  })
})
