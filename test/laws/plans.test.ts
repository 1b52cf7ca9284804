import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../src/catalog/catalogue.ts'
import { fillKeptFields } from '../../src/catalog/item-spec.ts'
import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import { isSameJson } from '../../src/model/canonical-json.ts'
import type { ItemState, ItemKey, Snapshot } from '../../src/model/item.ts'
import type { Plan } from '../../src/model/plan.ts'
import type { Grouping } from '../../src/model/config.ts'
import { makePlan } from '../../src/plan/make-plan.ts'
import { buildPlanJson } from '../../src/report/plan/json.ts'
import { formatDomainFile, parseDomainFile } from '../../src/state/format/domain-file.ts'
import { fc, itOften, runs } from '../runs.ts'
import { arbitraryItems, arbitrarySnapshot, values } from './snapshots.ts'

const groupings: Grouping[] = [
  { groups: 'documented', together: [['origin', 'origin_host', 'new_origin']] },
  { groups: 'all', together: [] },
]
const grouping = fc.nat(1).map((i): Grouping => groupings[i] ?? { groups: 'all', together: [] })

function planOf(recorded: Snapshot, desired: Snapshot, how: Grouping): Plan {
  const limits = { domainsPerWrite: 10, callsPerMinute: 30 }
  return makePlan({
    recorded,
    desired,
    ...diffSnapshots(recorded, desired),
    grouping: how,
    limits,
    target: [],
    items: [],
    commit: null,
  })
}

/**
 * Every state that a domain may be in, folded through the plan's writes; what is recorded of it
 * afterwards.
 */
function after(recorded: Snapshot, plan: Plan): Snapshot {
  const result: Snapshot = new Map([...recorded].map(([domain, items]) => [domain, new Map(items)]))
  for (const change of plan.changes)
    if (change.action === 'release') result.get(change.domain)?.delete(change.item)
  for (const write of plan.writes) {
    for (const domain of write.domains) {
      const items = result.get(domain) ?? new Map<ItemKey, ItemState>()
      result.set(domain, items)
      for (const [item, form] of Object.entries(write.items)) {
        const spec = getItemSpec(item)
        const held = items.get(item)
        const possible =
          held === undefined || held.candidates.length === 0 ? [undefined] : held.candidates
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

describe('for any record and any manifests', () => {
  itOften('the writes give what is desired, and a plan after them is empty', () => {
    fc.assert(
      fc.property(
        arbitrarySnapshot(true),
        arbitrarySnapshot(false),
        grouping,
        (recorded, desired, how) => {
          const plan = planOf(recorded, desired, how)
          const end = after(recorded, plan)
          for (const [domain, items] of desired) {
            for (const [item, held] of items) {
              const value = end.get(domain)?.get(item)?.candidates[0]
              const wanted = held.candidates[0]
              if (wanted !== undefined)
                expect(
                  isSameJson(value, fillKeptFields(getItemSpec(item).keptFields, wanted, value)),
                  `${item} of ${domain}`,
                ).toBe(true)
            }
          }
          expect(planOf(end, desired, how).changes).toEqual([])
        },
      ),
      { numRuns: runs(45, 1_350) },
    )
  })

  itOften(
    'no write has over 10 domains, none is sent for what is equal, and no plan is under its bound',
    () => {
      fc.assert(
        fc.property(
          arbitrarySnapshot(true),
          arbitrarySnapshot(false),
          grouping,
          (recorded, desired, how) => {
            const { writes, changes, summary } = planOf(recorded, desired, how)
            const changed = new Set(changes.map((change) => `${change.domain} ${change.item}`))
            for (const write of writes) {
              expect(write.domains.length).toBeLessThanOrEqual(10)
              for (const domain of write.domains)
                for (const item of Object.keys(write.items))
                  expect(changed.has(`${domain} ${item}`)).toBe(true)
            }
            expect(summary.lowerBound).toBeLessThanOrEqual(writes.length)
          },
        ),
        { numRuns: runs(45, 1_350) },
      )
    },
  )

  itOften('the same input gives the same bytes, and what is printed reads back the same', () => {
    fc.assert(
      fc.property(
        arbitrarySnapshot(true),
        arbitrarySnapshot(false),
        grouping,
        (recorded, desired, how) => {
          const text = JSON.stringify(buildPlanJson(planOf(recorded, desired, how), (item) => item))
          const shuffled: Snapshot = new Map(
            [...desired]
              .toReversed()
              .map(([domain, items]) => [domain, new Map([...items].toReversed())]),
          )
          expect(
            JSON.stringify(
              buildPlanJson(
                planOf(new Map([...recorded].toReversed()), shuffled, how),
                (item) => item,
              ),
            ),
          ).toBe(text)
          expect(JSON.stringify(JSON.parse(text))).toBe(text)
        },
      ),
      { numRuns: runs(18, 540) },
    )
  })

  it('a record that is written reads back the same', () => {
    fc.assert(
      fc.property(arbitraryItems(true), (items) => {
        const recorded = new Map(
          [...items].map(([item, held]) => [
            item,
            { ...held, at: '2026-01-01T00:00:00.000Z', apply: 'a', origin: 'write' as const },
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

it('canonical values are canonical, whatever order their sets come in', () => {
  for (const [item, all] of values) {
    for (const value of all) expect(getItemSpec(item).canonicalize(value)).toEqual(value)
  }
})
