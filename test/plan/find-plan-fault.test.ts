import { describe, expect, it } from 'vitest'
import type { Change, Write } from '../../src/core/model/change.ts'
import {
  createItemState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/core/model/item.ts'
import { findPlanFault } from '../../src/core/plan/find-plan-fault.ts'
import { planSnapshots } from './plan-snapshots.ts'
import { buildWrite } from '../plans.ts'

const [a, b, c] = ['a.example.com', 'b.example.com', 'c.example.com']
const time = (seconds: number) => ({ time: String(seconds) })
const ips = (...list: string[]): Value => ({ list, mode: 'cover' })
const allow = (...urls: string[]): Value => urls.map((url) => ({ url, turn_on: true }))
const certificate = { cert_id: 1, force_https: 0 }
const unset: ItemState = { status: 'unset', candidates: [] }
const createInDoubtState = (...candidates: Value[]): ItemState => ({
  status: 'in-doubt',
  candidates,
  unknown: true,
})
type Sides = Record<string, Record<ItemKey, ItemState>>
const buildSnapshot = (sides: Sides): Snapshot =>
  new Map(Object.entries(sides).map(([domain, items]) => [domain, new Map(Object.entries(items))]))

function makeTestPlan(
  recorded: Sides,
  desired: Sides,
): { changes: Change[]; writes: Write[]; recorded: Snapshot } {
  const [from, to] = [buildSnapshot(recorded), buildSnapshot(desired)]
  const grouping = { groups: 'all' as const, together: [] }
  const { changes, writes } = planSnapshots(from, to, { grouping })
  return { changes, writes, recorded: from }
}

/** Recorded and desired state for a plan of every kind of change. */
const kinds: Record<string, [Sides, Sides]> = {
  set: [
    {},
    {
      [a]: { timeout: createItemState(time(10)) },
      [b]: { timeout: createItemState(time(10)) },
    },
  ],
  change: [
    { [a]: { timeout: createItemState(time(5)) } },
    { [a]: { timeout: createItemState(time(10)) } },
  ],
  'in-doubt': [
    { [a]: { timeout: createInDoubtState(time(5), time(10)) } },
    { [a]: { timeout: createItemState(time(10)) } },
  ],
  unset: [
    { [a]: { ip_black_list: createItemState(ips('192.0.2.1')) } },
    { [a]: { ip_black_list: unset } },
  ],
  'unset of what is not recorded': [{}, { [a]: { ip_black_list: unset } }],
  'unset with a value left': [
    { [a]: { https: createItemState({ ...certificate, http2: 'on' }) } },
    { [a]: { https: unset } },
  ],
  cleared: [
    { [a]: { ip_white_list: createItemState(ips('192.0.2.7')) } },
    { [a]: { ip_black_list: createItemState(ips('192.0.2.1')) } },
  ],
  'cleared in-doubt': [
    { [a]: { ip_white_list: createInDoubtState(ips('192.0.2.7')) } },
    { [a]: { ip_black_list: createItemState(ips('192.0.2.1')) } },
  ],
  switches: [
    { [a]: { visit_deny_whitelist: createItemState(allow('/a', '/b')) } },
    { [a]: { visit_deny_whitelist: createItemState(allow('/b', '/c')) } },
  ],
  'kept fields': [
    { [a]: { https: createItemState({ ...certificate, ocsp: 'on' }) } },
    { [a]: { https: createItemState({ cert_id: 2, force_https: 0 }) } },
  ],
  'kept fields that are not known': [{}, { [a]: { https: createItemState(certificate) } }],
}

/** Finds the fault of a plan; if there is none, returns a text that a failed assertion shows. */
function findFault(changes: Change[], writes: Write[], recorded: Snapshot): string {
  return findPlanFault(changes, writes, recorded) ?? 'no fault was found'
}

function alterFirst(writes: Write[], change: (write: Write) => Write): Write[] {
  return writes.map((write, i) => (i === 0 ? change(structuredClone(write)) : write))
}

describe.each(Object.entries(kinds))('findPlanFault for a plan with %s', (_kind, [from, to]) => {
  const { changes, writes, recorded } = makeTestPlan(from, to)

  it('finds no fault', () => expect(findPlanFault(changes, writes, recorded)).toBeNull())

  it('finds a missing write', () => {
    for (const write of writes)
      expect(
        findFault(
          changes,
          writes.filter((other) => other !== write),
          recorded,
        ),
        JSON.stringify(write),
      ).toContain(a)
  })

  it('finds a missing item', () => {
    for (const item of Object.keys(writes[0]?.items ?? {})) {
      const less = alterFirst(writes, (write) => ({
        ...write,
        items: Object.fromEntries(Object.entries(write.items).filter(([key]) => key !== item)),
      }))
      expect(findFault(changes, less, recorded), item).toContain(a)
    }
  })

  it('finds a missing domain', () => {
    for (const domain of writes[0]?.domains ?? []) {
      const less = alterFirst(writes, (write) => ({
        ...write,
        domains: write.domains.filter((other) => other !== domain),
      }))
      expect(findFault(changes, less, recorded), domain).toContain(domain)
    }
  })

  it('finds another value', () => {
    const other: Record<ItemKey, Value> = {
      timeout: time(99),
      ip_black_list: ips('203.0.113.9'),
      https: { cert_id: 9, force_https: 0 },
      visit_deny_whitelist: allow('/other'),
    }
    for (const item of Object.keys(writes[0]?.items ?? {})) {
      const wrong = alterFirst(writes, (write) => ({
        ...write,
        items: { ...write.items, [item]: { name: 'replace', payload: other[item] ?? null } },
      }))
      expect(findFault(changes, wrong, recorded), item).toContain(item)
    }
  })

  it('finds an extra item', () => {
    const more = alterFirst(writes, (write) => ({
      ...write,
      items: { ...write.items, rate_limit: { name: 'replace', payload: { max_rate_count: 1 } } },
    }))
    expect(findFault(changes, more, recorded)).toContain('rate_limit')
  })

  it('finds an extra domain, recorded or not', () => {
    const more = alterFirst(writes, (write) => ({ ...write, domains: [...write.domains, c] }))
    expect(findFault(changes, more, recorded)).toContain(c)
    expect(
      findFault(
        changes,
        more,
        new Map([
          ...recorded,
          [c, new Map([['connect_timeout', createItemState({ origin_connect_timeout: '9' })]])],
        ]),
      ),
    ).toContain(c)
  })
})

describe('findPlanFault', () => {
  it('finds a field that the service should keep', () => {
    const { changes, writes, recorded } = makeTestPlan(
      {},
      { [a]: { https: createItemState(certificate) } },
    )
    const named = alterFirst(writes, (write) => ({
      ...write,
      items: { https: { name: 'replace', payload: { ...certificate, http2: 'on' } } },
    }))
    expect(findFault(changes, named, recorded)).toContain('https')
  })

  it('finds a write of an item that is released, or emptied by another item', () => {
    const released = makeTestPlan({ [a]: { timeout: createItemState(time(5)) } }, { [a]: {} })
    const write = (items: Write['items']): Write => buildWrite({ domains: [a], items })
    expect(
      findFault(
        released.changes,
        [write({ timeout: { name: 'replace', payload: time(6) } })],
        released.recorded,
      ),
    ).toContain('timeout')
    const cleared = makeTestPlan(
      { [a]: { ip_white_list: createItemState(ips('192.0.2.7')) } },
      { [a]: { ip_black_list: createItemState(ips('192.0.2.1')) } },
    )
    const again = [
      ...cleared.writes,
      write({ ip_white_list: { name: 'replace', payload: ips('192.0.2.7') } }),
    ]
    expect(findPlanFault(cleared.changes, again, cleared.recorded)).not.toBeNull()
  })

  it('finds a delta on an in-doubt value', () => {
    const { changes, recorded } = makeTestPlan(
      { [a]: { ip_black_list: createInDoubtState(ips('192.0.2.1')) } },
      { [a]: { ip_black_list: createItemState(ips('192.0.2.1', '192.0.2.2')) } },
    )
    const append = buildWrite({
      domains: [a],
      items: {
        ip_black_list: { name: 'append', payload: { list: ['192.0.2.2'], mode: 'append' } },
      },
    })
    expect(findFault(changes, [append], recorded)).toContain('ip_black_list')
  })

  it('finds writes in the wrong order', () => {
    const { changes, writes, recorded } = makeTestPlan(
      { [a]: { timeout: createItemState(time(5)) } },
      { [a]: { timeout: createItemState(time(10)) } },
    )
    const [good] = writes as [Write]
    const late: Write = {
      ...good,
      id: 2,
      items: { timeout: { name: 'replace', payload: time(5) } },
    }
    expect(findPlanFault(changes, [late, good], recorded)).toBeNull()
    expect(findFault(changes, [good, late], recorded)).toContain('timeout')
  })
})

it('findPlanFault finds two items with the same name at the service in one write', () => {
  const caching = (days: number | string) =>
    createItemState({ bcache: 'on', code: ['404'], cache_time: days, cache_unit: 'day' })
  const { changes, writes, recorded } = makeTestPlan(
    {},
    { [a]: { cache_error_code: caching(1), error_bcache: caching('2') } },
  )
  expect(writes).toHaveLength(1)
  expect(findPlanFault(changes, writes, recorded)).toBeNull()
  expect(findPlanFault(changes, writes, recorded, { error_bcache: 'cache_error_code' })).toBe(
    'write 1 has cache_error_code and error_bcache, which have the same name',
  )
})
