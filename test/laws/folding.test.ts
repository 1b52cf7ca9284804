import { expect } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { fillKeptFields } from '../../src/core/catalog/item-spec.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import {
  createItemState,
  unrecordedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/core/model/item.ts'
import { fc, itLong, runs } from '../runs.ts'
import { planSnapshots } from '../plan/plan-snapshots.ts'
import { arbitraryEntries, arbitraryFleet, toSnapshots } from './snapshots.ts'
import { arbitraryPayload } from './values.ts'

const domains = Array.from({ length: 12 }, (_, i) => `d${i}.example.com`)
const deltasOnly = 'visit_deny_whitelist'
/** Items to draw from; those with other forms than whole values are more frequent. */
const keys = [
  ...catalogue.keys(),
  ...Array.from({ length: 5 }, () => [
    deltasOnly,
    'ip_black_list',
    'add_response_head',
    'https',
  ]).flat(),
]

/** Arbitrary canonical non-empty value; null if the drawn payload was invalid. */
function arbitraryValue(item: ItemKey): fc.Arbitrary<Value | null> {
  const spec = getItemSpec(item)
  return arbitraryPayload(item).map((payload) => {
    const { value } = parseItem(spec, payload, 'manifest')
    return value === null ? null : (spec.reduce(undefined, value) ?? null)
  })
}

function arbitraryRecorded(item: ItemKey): fc.Arbitrary<ItemState | null> {
  const certain = arbitraryValue(item).map((value) =>
    value === null ? null : createItemState(value),
  )
  const inDoubt = fc
    .tuple(fc.array(arbitraryValue(item), { maxLength: 3 }), fc.boolean())
    .map(([values, unknown]): ItemState | null => {
      const candidates = values.filter((value) => value !== null)
      return candidates.length === 0 && !unknown
        ? null
        : { status: 'in-doubt', candidates, ...(unknown ? { unknown } : {}) }
    })
  return fc.oneof(certain, inDoubt)
}

const arbitrarySnapshot = (
  state: (item: ItemKey) => fc.Arbitrary<ItemState | null>,
): fc.Arbitrary<Snapshot> => toSnapshots(arbitraryFleet(domains, arbitraryEntries(keys, 6, state)))

const arbitraryDesired = (item: ItemKey) =>
  arbitraryValue(item).map((value) => (value === null ? null : createItemState(value)))

itLong('the writes, folded over every possible value, give the desired state', () => {
  let folded = 0
  fc.assert(
    fc.property(
      arbitrarySnapshot(arbitraryRecorded),
      arbitrarySnapshot(arbitraryDesired),
      fc.constantFrom('all' as const, 'documented' as const),
      (recorded, desired, groups) => {
        const grouping = { groups, together: [['origin', 'origin_host']] }
        const { writes } = planSnapshots(recorded, desired, { grouping })
        for (const [domain, items] of desired) {
          for (const [item, { candidates }] of items) {
            const spec = getItemSpec(item)
            const target = candidates[0] ?? null
            const payloads = writes
              .filter((write) => write.domains.includes(domain))
              .map((write) => write.items[item]?.payload)
              .filter((payload) => payload !== undefined)
            for (const start of listPossibleValues(
              recorded.get(domain)?.get(item) ?? unrecordedState,
              item,
            )) {
              const end = payloads.reduce<Value | undefined>(
                (state, payload) => spec.reduce(state, payload),
                start,
              )
              expect([domain, item, end]).toEqual([
                domain,
                item,
                fillKeptFields(spec.keptFields, target, start),
              ])
              folded++
            }
          }
        }
      },
    ),
    { numRuns: runs(15, 360) },
  )
  expect(folded).toBeGreaterThan(runs(120, 3_000))
})

/**
 * Lists the values that an item may have. For an item with deltas only, unrecorded entries are left
 * out, since no write can remove them.
 */
function listPossibleValues(state: ItemState, item: ItemKey): (Value | undefined)[] {
  const example = getItemSpec(item).schema.examples?.[0]
  const unknown =
    item === deltasOnly || example === undefined
      ? [undefined]
      : [undefined, getItemSpec(item).canonicalize(example)]
  return state.unknown === true ? [...state.candidates, ...unknown] : state.candidates
}
