import { describe, expect, it } from 'vitest'
import type { Change, Write } from '../../src/model/change.ts'
import {
  createConfirmedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/model/item.ts'
import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import { findPlanFault } from '../../src/plan/find-plan-fault.ts'
import { makePlan } from '../../src/plan/make-plan.ts'
import { buildWrite } from '../plans.ts'

const [a, b, c] = ['a.example.com', 'b.example.com', 'c.example.com']
const time = (seconds: number) => ({ time: String(seconds) })
const ips = (...list: string[]): Value => ({ list, mode: 'cover' })
const allow = (...urls: string[]): Value => urls.map((url) => ({ url, turn_on: true }))
const certificate = { cert_id: 1, force_https: 0 }
const unset: ItemState = { status: 'unset', candidates: [] }
const unknown = (...candidates: Value[]): ItemState => ({
  status: 'in-doubt',
  candidates,
  unknown: true,
})
type Sides = Record<string, Record<ItemKey, ItemState>>
const snapshot = (sides: Sides): Snapshot =>
  new Map(Object.entries(sides).map(([domain, items]) => [domain, new Map(Object.entries(items))]))

function planOf(
  recorded: Sides,
  desired: Sides,
): { changes: Change[]; writes: Write[]; recorded: Snapshot } {
  const [from, to] = [snapshot(recorded), snapshot(desired)]
  const { changes, writes } = makePlan({
    recorded: from,
    desired: to,
    ...diffSnapshots(from, to),
    grouping: { groups: 'all', together: [] },
    limits: { domainsPerWrite: 10, callsPerMinute: 30 },
    target: [],
    items: [],
    commit: null,
  })
  return { changes, writes, recorded: from }
}

/** One plan of every kind of change there is. */
const kinds: Record<string, [Sides, Sides]> = {
  set: [
    {},
    {
      [a]: { timeout: createConfirmedState(time(10)) },
      [b]: { timeout: createConfirmedState(time(10)) },
    },
  ],
  change: [
    { [a]: { timeout: createConfirmedState(time(5)) } },
    { [a]: { timeout: createConfirmedState(time(10)) } },
  ],
  'in doubt': [
    { [a]: { timeout: unknown(time(5), time(10)) } },
    { [a]: { timeout: createConfirmedState(time(10)) } },
  ],
  unset: [
    { [a]: { ip_black_list: createConfirmedState(ips('192.0.2.1')) } },
    { [a]: { ip_black_list: unset } },
  ],
  'unset of what is not recorded': [{}, { [a]: { ip_black_list: unset } }],
  'unset with a value left': [
    { [a]: { https: createConfirmedState({ ...certificate, http2: 'on' }) } },
    { [a]: { https: unset } },
  ],
  cleared: [
    { [a]: { ip_white_list: createConfirmedState(ips('192.0.2.7')) } },
    { [a]: { ip_black_list: createConfirmedState(ips('192.0.2.1')) } },
  ],
  'cleared in doubt': [
    { [a]: { ip_white_list: unknown(ips('192.0.2.7')) } },
    { [a]: { ip_black_list: createConfirmedState(ips('192.0.2.1')) } },
  ],
  switches: [
    { [a]: { visit_deny_whitelist: createConfirmedState(allow('/a', '/b')) } },
    { [a]: { visit_deny_whitelist: createConfirmedState(allow('/b', '/c')) } },
  ],
  'kept fields': [
    { [a]: { https: createConfirmedState({ ...certificate, ocsp: 'on' }) } },
    { [a]: { https: createConfirmedState({ cert_id: 2, force_https: 0 }) } },
  ],
  'kept fields that are not known': [{}, { [a]: { https: createConfirmedState(certificate) } }],
}

/** The disagreement that is found, in words that show in a failure. */
function fault(changes: Change[], writes: Write[], recorded: Snapshot): string {
  return findPlanFault(changes, writes, recorded) ?? 'no fault was found'
}

function sabotaged(writes: Write[], change: (write: Write) => Write): Write[] {
  return writes.map((write, i) => (i === 0 ? change(structuredClone(write)) : write))
}

describe.each(Object.entries(kinds))('a plan of kind "%s"', (_kind, [from, to]) => {
  const { changes, writes, recorded } = planOf(from, to)

  it('proves itself', () => expect(findPlanFault(changes, writes, recorded)).toBeNull())

  it('is disproved without one of its writes', () => {
    for (const write of writes)
      expect(
        fault(
          changes,
          writes.filter((other) => other !== write),
          recorded,
        ),
        JSON.stringify(write),
      ).toContain(a)
  })

  it('is disproved without one of its items', () => {
    for (const item of Object.keys(writes[0]?.items ?? {})) {
      const less = sabotaged(writes, (write) => ({
        ...write,
        items: Object.fromEntries(Object.entries(write.items).filter(([key]) => key !== item)),
      }))
      expect(fault(changes, less, recorded), item).toContain(a)
    }
  })

  it('is disproved without one of its domains', () => {
    for (const domain of writes[0]?.domains ?? []) {
      const less = sabotaged(writes, (write) => ({
        ...write,
        domains: write.domains.filter((other) => other !== domain),
      }))
      expect(fault(changes, less, recorded), domain).toContain(domain)
    }
  })

  it('is disproved with another value', () => {
    const other: Record<ItemKey, Value> = {
      timeout: time(99),
      ip_black_list: ips('203.0.113.9'),
      https: { cert_id: 9, force_https: 0 },
      visit_deny_whitelist: allow('/other'),
    }
    for (const item of Object.keys(writes[0]?.items ?? {})) {
      const wrong = sabotaged(writes, (write) => ({
        ...write,
        items: { ...write.items, [item]: { name: 'replace', payload: other[item] ?? null } },
      }))
      expect(fault(changes, wrong, recorded), item).toContain(item)
    }
  })

  it('is disproved with one item more', () => {
    const more = sabotaged(writes, (write) => ({
      ...write,
      items: { ...write.items, rate_limit: { name: 'replace', payload: { max_rate_count: 1 } } },
    }))
    expect(fault(changes, more, recorded)).toContain('rate_limit')
  })

  it('is disproved with one domain more, known or not', () => {
    const more = sabotaged(writes, (write) => ({ ...write, domains: [...write.domains, c] }))
    expect(fault(changes, more, recorded)).toContain(c)
    expect(
      fault(
        changes,
        more,
        new Map([
          ...recorded,
          [
            c,
            new Map([['connect_timeout', createConfirmedState({ origin_connect_timeout: '9' })]]),
          ],
        ]),
      ),
    ).toContain(c)
  })
})

describe('a plan is disproved', () => {
  it('when it names a field that the service should keep', () => {
    const { changes, writes, recorded } = planOf(
      {},
      { [a]: { https: createConfirmedState(certificate) } },
    )
    const named = sabotaged(writes, (write) => ({
      ...write,
      items: { https: { name: 'replace', payload: { ...certificate, http2: 'on' } } },
    }))
    expect(fault(changes, named, recorded)).toContain('https')
  })

  it('when it writes what is to be released, or what is to be emptied by another', () => {
    const released = planOf({ [a]: { timeout: createConfirmedState(time(5)) } }, { [a]: {} })
    const write = (items: Write['items']): Write => buildWrite({ domains: [a], items })
    expect(
      fault(
        released.changes,
        [write({ timeout: { name: 'replace', payload: time(6) } })],
        released.recorded,
      ),
    ).toContain('timeout')
    const cleared = planOf(
      { [a]: { ip_white_list: createConfirmedState(ips('192.0.2.7')) } },
      { [a]: { ip_black_list: createConfirmedState(ips('192.0.2.1')) } },
    )
    const again = [
      ...cleared.writes,
      write({ ip_white_list: { name: 'replace', payload: ips('192.0.2.7') } }),
    ]
    expect(findPlanFault(cleared.changes, again, cleared.recorded)).not.toBeNull()
  })

  it('when a delta starts from what is not certain', () => {
    const { changes, recorded } = planOf(
      { [a]: { ip_black_list: unknown(ips('192.0.2.1')) } },
      { [a]: { ip_black_list: createConfirmedState(ips('192.0.2.1', '192.0.2.2')) } },
    )
    const append = buildWrite({
      domains: [a],
      items: {
        ip_black_list: { name: 'append', payload: { list: ['192.0.2.2'], mode: 'append' } },
      },
    })
    expect(fault(changes, [append], recorded)).toContain('ip_black_list')
  })

  it('when two of its writes are in the wrong order', () => {
    const { changes, writes, recorded } = planOf(
      { [a]: { timeout: createConfirmedState(time(5)) } },
      { [a]: { timeout: createConfirmedState(time(10)) } },
    )
    const [good] = writes as [Write]
    const late: Write = {
      ...good,
      id: 2,
      items: { timeout: { name: 'replace', payload: time(5) } },
    }
    expect(findPlanFault(changes, [late, good], recorded)).toBeNull()
    expect(fault(changes, [good, late], recorded)).toContain('timeout')
  })
})
