import { expect } from 'vitest'
import { catalogue, getItemSpec } from '../../src/catalog/catalogue.ts'
import { fillKeptFields } from '../../src/catalog/item-spec.ts'
import { parseItem } from '../../src/catalog/parse-item.ts'
import { findConflicts } from '../../src/catalog/conflicts.ts'
import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import {
  createConfirmedState,
  unrecordedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/model/item.ts'
import type { Plan } from '../../src/model/plan.ts'
import { makePlan } from '../../src/plan/make-plan.ts'
import { fc, itOften, runs } from '../runs.ts'
import { arbitraryPayload } from './values.ts'

const domains = Array.from({ length: 12 }, (_, i) => `d${i}.example.com`)
const deltasOnly = 'visit_deny_whitelist'
/** Most often those with other forms than whole values. */
const keys = [
  ...catalogue.keys(),
  ...Array.from({ length: 5 }, () => [
    deltasOnly,
    'ip_black_list',
    'add_response_head',
    'https',
  ]).flat(),
]

/**
 * A canonical value with which the item is not empty; null where the payload turned out not to be
 * valid.
 */
function valueOf(item: ItemKey): fc.Arbitrary<Value | null> {
  const spec = getItemSpec(item)
  return arbitraryPayload(item).map((payload) => {
    const { value } = parseItem(spec, payload, 'manifest', 'www.example.com')
    return value === null ? null : (spec.reduce(undefined, value) ?? null)
  })
}

function recordedOf(item: ItemKey): fc.Arbitrary<ItemState | null> {
  const sure = valueOf(item).map((value) => (value === null ? null : createConfirmedState(value)))
  const doubted = fc
    .tuple(fc.array(valueOf(item), { maxLength: 3 }), fc.boolean())
    .map(([values, unknown]): ItemState | null => {
      const candidates = values.filter((value) => value !== null)
      return candidates.length === 0 && !unknown
        ? null
        : { status: 'in-doubt', candidates, ...(unknown ? { unknown } : {}) }
    })
  return fc.oneof(sure, doubted)
}

function itemsOf(
  held: (item: ItemKey) => fc.Arbitrary<ItemState | null>,
): fc.Arbitrary<Map<ItemKey, ItemState>> {
  return fc
    .uniqueArray(fc.constantFrom(...keys), { maxLength: 6 })
    .chain((items) =>
      fc.tuple(...items.map((item) => held(item).map((each) => [item, each] as const))),
    )
    .map((entries) => {
      const bad = findConflicts(new Set(entries.map(([item]) => item))).filter(
        (each) => each.severity === 'error',
      )
      return new Map(
        entries.flatMap(([item, each]) =>
          each === null || bad.some((conflict) => conflict.item === item) ? [] : [[item, each]],
        ),
      )
    })
}

function snapshotOf(
  held: (item: ItemKey) => fc.Arbitrary<ItemState | null>,
): fc.Arbitrary<Snapshot> {
  return fc
    .tuple(
      fc.array(itemsOf(held), { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
    )
    .map(
      ([kinds, choice]) =>
        new Map(
          domains.map((domain, i) => [domain, new Map(kinds[(choice[i] ?? 0) % kinds.length])]),
        ),
    )
}

const desiredOf = (item: ItemKey) =>
  valueOf(item).map((value) => (value === null ? null : createConfirmedState(value)))

function planOf(recorded: Snapshot, desired: Snapshot, groups: 'all' | 'documented'): Plan {
  return makePlan({
    recorded,
    desired,
    ...diffSnapshots(recorded, desired),
    grouping: { groups, together: [['origin', 'origin_host']] },
    limits: { domainsPerWrite: 10, callsPerMinute: 30 },
    target: [],
    items: [],
    commit: null,
  })
}

itOften('folded over every value that may be held, the writes give what is desired', () => {
  let folded = 0
  fc.assert(
    fc.property(
      snapshotOf(recordedOf),
      snapshotOf(desiredOf),
      fc.constantFrom('all', 'documented'),
      (recorded, desired, groups) => {
        const { writes } = planOf(recorded, desired, groups)
        for (const [domain, items] of desired) {
          for (const [item, { candidates }] of items) {
            const spec = getItemSpec(item)
            const wanted = candidates[0] ?? null
            const payloads = writes
              .filter((write) => write.domains.includes(domain))
              .map((write) => write.items[item]?.payload)
              .filter((payload) => payload !== undefined)
            for (const start of possible(
              recorded.get(domain)?.get(item) ?? unrecordedState,
              item,
            )) {
              const end = payloads.reduce<Value | undefined>(
                (held, payload) => spec.reduce(held, payload),
                start,
              )
              expect([domain, item, end]).toEqual([
                domain,
                item,
                fillKeptFields(spec.keptFields, wanted, start),
              ])
              folded++
            }
          }
        }
      },
    ),
    { numRuns: runs(30, 360) },
  )
  expect(folded).toBeGreaterThan(runs(250, 3_000))
})

/**
 * Every state an item may be in. What was never recorded of an item without whole values stays
 * beyond any write's reach.
 */
function possible(held: ItemState, item: ItemKey): (Value | undefined)[] {
  const some = getItemSpec(item).schema.examples?.[0]
  const unknown =
    item === deltasOnly || some === undefined
      ? [undefined]
      : [undefined, getItemSpec(item).canonicalize(some)]
  return held.unknown === true ? [...held.candidates, ...unknown] : held.candidates
}
