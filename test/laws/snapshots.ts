import { readdirSync, readFileSync } from 'node:fs'
import { catalogue, getItemSpec } from '../../src/catalog/catalogue.ts'
import { parseItem } from '../../src/catalog/parse-item.ts'
import { findConflicts } from '../../src/catalog/conflicts.ts'
import {
  createConfirmedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/model/item.ts'
import type { Json } from '../../src/model/json.ts'
import { fc } from '../runs.ts'

interface Case {
  payload: Json
  manifest: boolean | null
}

const domains = Array.from({ length: 14 }, (_, i) => `d${i}.example.com`)

/** Valid desired values by item: canonical and non-empty values of the conformance cases. */
export const values: ReadonlyMap<ItemKey, Value[]> = new Map(
  [...catalogue.keys()].map((item) => [
    item,
    ['items', 'own'].flatMap((folder) => loadValues(folder, item)),
  ]),
)

function loadValues(folder: string, item: ItemKey): Value[] {
  const url = new URL(`../conformance/${folder}/`, import.meta.url)
  if (!readdirSync(url).includes(`${item}.json`)) return []
  const cases = JSON.parse(readFileSync(new URL(`${item}.json`, url), 'utf8')) as Case[]
  return cases
    .filter((each) => each.manifest === true)
    .map(({ payload }) => parseItem(getItemSpec(item), payload, 'manifest', '').value)
    .filter((value) => value !== null && getItemSpec(item).reduce(undefined, value) !== undefined)
}

const arbitraryValue = (item: ItemKey) => fc.constantFrom(...(values.get(item) ?? []))

/** Arbitrary states of some items of a domain; `doubt` allows in-doubt states. */
export const arbitraryItems = (doubt: boolean): fc.Arbitrary<Map<ItemKey, ItemState>> =>
  fc.uniqueArray(fc.constantFrom(...catalogue.keys()), { maxLength: 7 }).chain((keys) => {
    const compatible = keys.filter(
      (item) =>
        !findConflicts(new Set(keys)).some(
          (conflict) => conflict.severity === 'error' && conflict.item === item,
        ),
    )
    return fc
      .tuple(
        ...compatible.map((item) =>
          arbitraryState(item, doubt).map((state): [ItemKey, ItemState] => [item, state]),
        ),
      )
      .map((entries) => new Map(entries))
  })

function arbitraryState(item: ItemKey, doubt: boolean): fc.Arbitrary<ItemState> {
  const certain = arbitraryValue(item).map(createConfirmedState)
  const unset: fc.Arbitrary<ItemState> = fc.constant({ status: 'unset', candidates: [] })
  if (!doubt)
    return getItemSpec(item).unset === undefined
      ? certain
      : fc.oneof({ arbitrary: certain, weight: 5 }, { arbitrary: unset, weight: 1 })
  const inDoubt = fc
    .tuple(fc.array(arbitraryValue(item), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([candidates, unknown]): ItemState => ({
      status: 'in-doubt',
      candidates,
      ...(unknown ? { unknown } : {}),
    }))
  return fc.oneof({ arbitrary: certain, weight: 4 }, { arbitrary: inDoubt, weight: 1 })
}

/**
 * Arbitrary snapshot with few kinds of domains and many domains of each kind, like a real fleet.
 */
export const arbitrarySnapshot = (doubt: boolean): fc.Arbitrary<Snapshot> =>
  fc
    .tuple(
      fc.array(arbitraryItems(doubt), { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(3), { minLength: domains.length, maxLength: domains.length }),
    )
    .map(
      ([kinds, choice]) =>
        new Map(
          domains.map((domain, i) => [domain, new Map(kinds[(choice[i] ?? 0) % kinds.length])]),
        ),
    )
