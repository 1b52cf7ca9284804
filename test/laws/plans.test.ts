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
const arbitraryGrouping = fc
  .nat(1)
  .map((i): Grouping => groupings[i] ?? { groups: 'all', together: [] })

function makeTestPlan(recorded: Snapshot, desired: Snapshot, grouping: Grouping): Plan {
  const limits = { domainsPerWrite: 10, callsPerMinute: 30 }
  return makePlan({
    recorded,
    desired,
    ...diffSnapshots(recorded, desired),
    grouping,
    limits,
    target: [],
    items: [],
    commit: null,
  })
}

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

describe('any recorded and any desired state', () => {
  itOften('has writes that give the desired state, and an empty plan after them', () => {
    fc.assert(
      fc.property(
        arbitrarySnapshot(true),
        arbitrarySnapshot(false),
        arbitraryGrouping,
        (recorded, desired, grouping) => {
          const plan = makeTestPlan(recorded, desired, grouping)
          const end = applyPlan(recorded, plan)
          for (const [domain, items] of desired) {
            for (const [item, state] of items) {
              const value = end.get(domain)?.get(item)?.candidates[0]
              const desiredValue = state.candidates[0]
              if (desiredValue !== undefined)
                expect(
                  isSameJson(
                    value,
                    fillKeptFields(getItemSpec(item).keptFields, desiredValue, value),
                  ),
                  `${item} of ${domain}`,
                ).toBe(true)
            }
          }
          expect(makeTestPlan(end, desired, grouping).changes).toEqual([])
        },
      ),
      { numRuns: runs(45, 1_350) },
    )
  })

  itOften(
    'has no write over 10 domains, none without a change, and no plan below its bound',
    () => {
      fc.assert(
        fc.property(
          arbitrarySnapshot(true),
          arbitrarySnapshot(false),
          arbitraryGrouping,
          (recorded, desired, grouping) => {
            const { writes, changes, summary } = makeTestPlan(recorded, desired, grouping)
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

  itOften('gives the same bytes for the same input; parsing inverts printing', () => {
    fc.assert(
      fc.property(
        arbitrarySnapshot(true),
        arbitrarySnapshot(false),
        arbitraryGrouping,
        (recorded, desired, grouping) => {
          const text = JSON.stringify(
            buildPlanJson(makeTestPlan(recorded, desired, grouping), (item) => item),
          )
          const shuffled: Snapshot = new Map(
            [...desired]
              .toReversed()
              .map(([domain, items]) => [domain, new Map([...items].toReversed())]),
          )
          expect(
            JSON.stringify(
              buildPlanJson(
                makeTestPlan(new Map([...recorded].toReversed()), shuffled, grouping),
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
