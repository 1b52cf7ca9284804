// @module-tag often
import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { fillKeptFields } from '../../src/core/catalog/item-spec.ts'
import { isSameJson } from '../../src/core/model/json.ts'
import type { ItemState, ItemKey, Snapshot } from '../../src/core/model/item.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import type { Grouping } from '../../src/core/model/config.ts'
import { buildPlanJson } from '../../src/outlets/report/plan/json.ts'
import { formatDomainFile, parseDomainFile } from '../../src/state/format/domain-file.ts'
import { fc, itOften, runs } from '../runs.ts'
import { planSnapshots } from '../plan/plan-snapshots.ts'
import { arbitraryItems, arbitrarySnapshot, values } from './snapshots.ts'

const groupings: Grouping[] = [
  { groups: 'documented', together: [['origin', 'origin_host', 'new_origin']] },
  { groups: 'all', together: [] },
]
const arbitraryGrouping = fc
  .nat(1)
  .map((i): Grouping => groupings[i] ?? { groups: 'all', together: [] })

/** Applies a plan: folds its writes over all candidates and returns the state to be recorded. */
function applyPlan(recorded: Snapshot, plan: Plan): Snapshot {
  const result: Snapshot = new Map([...recorded].map(([domain, items]) => [domain, new Map(items)]))
  for (const change of plan.changes)
    if (change.action === 'release') result.get(change.domain)?.delete(change.item)
  for (const write of plan.writes) {
    for (const domain of write.domains) {
      const items = result.get(domain) ?? new Map<ItemKey, ItemState>()
      result.set(domain, items)
      for (const [item, form] of Object.entries(write.items)) {
        const spec = getItemSpec(item)
        const state = items.get(item)
        const possible =
          state === undefined || state.candidates.length === 0 ? [undefined] : state.candidates
        const next = possible
          .map((value) => spec.reduce(value, form.payload))
          .filter((value) => value !== undefined)
        const [first] = next
        items.set(
          item,
          first === undefined
            ? { status: 'unset', candidates: [] }
            : { status: form.name === 'unset' ? 'unset' : 'confirmed', candidates: [first] },
        )
        for (const cleared of spec.clearedItems) items.delete(cleared)
      }
    }
  }
  return result
}

/** Expects that each item has its desired value; fields that the service keeps may stay. */
function expectDesired(end: Snapshot, desired: Snapshot): void {
  for (const [domain, items] of desired) {
    for (const [item, { candidates }] of items) {
      const value = end.get(domain)?.get(item)?.candidates[0]
      const [wanted] = candidates
      if (wanted !== undefined)
        expect(
          isSameJson(value, fillKeptFields(getItemSpec(item).keptFields, wanted, value)),
          `${item} of ${domain}`,
        ).toBe(true)
    }
  }
}

/** Expects writes of up to 10 domains, each item with a change, and right counts. */
function expectSound({ writes, changes, summary, basis }: Plan): void {
  const changed = new Set(changes.map((change) => `${change.domain} ${change.item}`))
  for (const write of writes) {
    expect(write.domains.length).toBeLessThanOrEqual(10)
    for (const domain of write.domains)
      for (const item of Object.keys(write.items))
        expect(changed.has(`${domain} ${item}`)).toBe(true)
  }
  const domains = [...new Set(changes.map(({ domain }) => domain))].toSorted()
  const { set, change, unset, release } = summary
  expect(summary).toMatchObject({ writes: writes.length, domains: domains.length })
  expect(set + change + unset + release).toBe(changes.length)
  expect(summary.lowerBound).toBeLessThanOrEqual(writes.length)
  expect(Object.keys(basis.desired).toSorted()).toEqual(domains)
  expect(Object.keys(basis.recorded).toSorted()).toEqual(domains)
}

const reverse = (snapshot: Snapshot): Snapshot =>
  new Map(
    [...snapshot].toReversed().map(([domain, items]) => [domain, new Map([...items].toReversed())]),
  )

describe('any recorded and any desired state', () => {
  itOften(
    'has sound writes that give the desired state, the same for any order, and none after',
    () =>
      fc.assert(
        fc.property(
          arbitrarySnapshot(true),
          arbitrarySnapshot(false),
          arbitraryGrouping,
          (recorded, desired, grouping) => {
            const plan = planSnapshots(recorded, desired, { grouping })
            expectSound(plan)
            const end = applyPlan(recorded, plan)
            expectDesired(end, desired)
            expect(planSnapshots(end, desired, { grouping }).changes).toEqual([])
            const print = (each: Plan) => JSON.stringify(buildPlanJson(each, (item) => item))
            const other = planSnapshots(reverse(recorded), reverse(desired), { grouping })
            expect(print(other)).toBe(print(plan))
            expect(JSON.stringify(JSON.parse(print(plan)))).toBe(print(plan))
          },
        ),
        { numRuns: runs(18, 1_350) },
      ),
  )

  it('is loaded as it was saved', () => {
    fc.assert(
      fc.property(arbitraryItems(true), (items) => {
        const recorded = new Map(
          [...items].map(([item, state]) => [
            item,
            { ...state, at: '2026-01-01T00:00:00.000Z', apply: 'a', origin: 'write' as const },
          ]),
        )
        expect(parseDomainFile('record', formatDomainFile('a.example.com', recorded))).toEqual({
          domain: 'a.example.com',
          items: recorded,
        })
      }),
    )
  })
})

it('canonical values are canonical for any order of their sets', () => {
  for (const [item, all] of values) {
    for (const value of all) expect(getItemSpec(item).canonicalize(value)).toEqual(value)
  }
})
