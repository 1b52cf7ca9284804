import { describe, expect, it } from 'vitest'
import { detectDrift } from '../../src/core/diff/detect-drift.ts'
import { createItemState, type ItemState } from '../../src/core/model/item.ts'
import { parseObserved } from '../../src/manifest/observed/observed.ts'
import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import type { FoundDrift } from '../../src/operations/observation/find-drift.ts'
import type { Managed } from '../../src/operations/observation/observe-live.ts'
import { createFleetReader } from '../../src/server/leader/compare-drift.ts'

const vault = new SecretVault('test', () => null)
const name = (i: number) => `d${i}.example.com`

/** A fleet with one item of each domain, and what the service has. */
function createFleet(size: number) {
  let now = Date.UTC(2026, 0, 1)
  const recorded = new Map<string, Map<string, ItemState & { at: string }>>()
  const service = new Map<string, JsonObject>()
  const record = (domain: string, time: string) => {
    const at = new Date(now).toISOString()
    recorded.set(domain, new Map([['timeout', { ...createItemState({ time }), at }]]))
  }
  for (let i = 0; i < size; i++) {
    record(name(i), '60')
    service.set(name(i), { timeout: { time: '60' } })
  }
  const reader = createFleetReader(() => now)
  const read: string[][] = []
  return {
    service,
    record,
    reader,
    read,
    /** Checks with so many reads, a minute later. */
    check: async (count: number): Promise<FoundDrift['drift']> => {
      now += 60_000
      const { observe } = reader.buildRequest(async (managed: Managed) => {
        read.push([...managed.keys()])
        const names = [...managed.keys()].filter((each) => service.has(each))
        return Object.fromEntries(names.map((each) => [each, service.get(each) ?? {}]))
      }, count)
      const managed = new Map([...recorded].map(([domain, items]) => [domain, [...items.keys()]]))
      const data = (await observe?.(managed)) ?? {}
      const known = { recorded, desired: recorded, itemKeys: {}, vault, maker: 'foreign' as const }
      const { observed } = parseObserved(data, known)
      const drift = detectDrift(recorded, recorded, observed)
      return reader.merge({ drift, observed, notes: [], unmanaged: [] }).drift
    },
    /** Stops to manage a domain until it is called. */
    drop: (domain: string) => {
      const items = recorded.get(domain) ?? new Map()
      recorded.delete(domain)
      return () => void recorded.set(domain, items)
    },
    findOldest: () => reader.findOldest(recorded.keys()),
  }
}

const listLive = (drift: FoundDrift['drift']) => drift.live.map(({ domain }) => domain).toSorted()
const countVerified = ({ items }: FoundDrift['drift']) =>
  items.filter(({ confidence }) => confidence === 'verified').length

describe('reading round the fleet', () => {
  it('reads all domains in turn, those first that were read longest ago', async () => {
    const fleet = createFleet(5)
    expect(countVerified(await fleet.check(2))).toBe(2)
    expect(fleet.findOldest()).toBeNull()
    expect(countVerified(await fleet.check(2))).toBe(4)
    expect(countVerified(await fleet.check(2))).toBe(5)
    expect(fleet.read).toEqual([
      [name(0), name(1)],
      [name(2), name(3)],
      [name(4), name(0)],
    ])
    expect(fleet.findOldest()).not.toBeNull()
  })

  it('keeps what it has found of a domain until it reads it again', async () => {
    const fleet = createFleet(3)
    fleet.service.set(name(0), { timeout: { time: '99' } })
    expect(listLive(await fleet.check(1))).toEqual([name(0)])
    const later = await fleet.check(1)
    expect(listLive(later)).toEqual([name(0)])
    expect(later.items[0]).toMatchObject({ kinds: ['live'], live: [{ value: '99' }] })
    fleet.service.set(name(0), { timeout: { time: '60' } })
    expect(listLive(await fleet.check(1))).toEqual([name(0)])
    expect(listLive(await fleet.check(1))).toEqual([])
  })

  it('claims nothing of an item that was recorded after its read', async () => {
    const fleet = createFleet(2)
    fleet.service.set(name(0), { timeout: { time: '99' } })
    expect(listLive(await fleet.check(1))).toEqual([name(0)])
    const before = await fleet.check(1)
    expect(countVerified(before)).toBe(2)
    // An apply between two checks.
    fleet.record(name(0), '99')
    const after = await fleet.check(0)
    expect(listLive(after)).toEqual([])
    expect(after.items[0]?.confidence).toBe('assumed')
    expect(after.items[1]?.confidence).toBe('verified')
  })

  it('forgets a domain that is no longer managed', async () => {
    const fleet = createFleet(2)
    fleet.service.set(name(0), { timeout: { time: '99' } })
    await fleet.check(2)
    const manageAgain = fleet.drop(name(0))
    expect(listLive(await fleet.check(1))).toEqual([])
    manageAgain()
    expect((await fleet.check(0)).items[0]?.confidence).toBe('assumed')
  })

  it('names the domains that the service did not have', async () => {
    const fleet = createFleet(2)
    fleet.service.delete(name(0))
    const first = await fleet.check(1)
    expect([first.unanswered, first.items[0]?.confidence]).toEqual([[name(0)], 'assumed'])
    expect((await fleet.check(1)).unanswered).toEqual([name(0)])
    fleet.service.set(name(0), { timeout: { time: '60' } })
    expect((await fleet.check(1)).unanswered).toBeUndefined()
  })

  it('counts the domains that it has not read yet', async () => {
    const fleet = createFleet(3)
    const counts: unknown[] = []
    for (let check = 0; check < 4; check++) counts.push((await fleet.check(1)).unread)
    expect(counts).toEqual([2, 1, 0, 0])
  })

  it('counts nothing of a read that failed', async () => {
    const fleet = createFleet(2)
    const failing = fleet.reader.buildRequest(() => Promise.reject(new Error('gone')), 2)
    await expect(failing.observe?.(new Map([[name(0), ['timeout']]]))).rejects.toThrow('gone')
    expect(countVerified(await fleet.check(0))).toBe(0)
  })
})
