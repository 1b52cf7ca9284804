import { readdirSync, readFileSync } from 'node:fs'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { findConflicts } from '../../src/core/catalog/conflicts.ts'
import {
  createItemState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
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
    .map(({ payload }) => parseItem(getItemSpec(item), payload, 'manifest').value)
    .filter((value) => value !== null && getItemSpec(item).reduce(undefined, value) !== undefined)
}

const arbitraryValue = (item: ItemKey) => fc.constantFrom(...(values.get(item) ?? []))

/** Arbitrary values of some items of one domain, which do not exclude each other; null: none. */
export function arbitraryEntries<T>(
  keys: ItemKey[],
  maxLength: number,
  draw: (item: ItemKey) => fc.Arbitrary<T | null>,
): fc.Arbitrary<Map<ItemKey, T>> {
  return fc
    .uniqueArray(fc.constantFrom(...keys), { maxLength })
    .chain((items) =>
      fc.tuple(...items.map((item) => draw(item).map((value) => [item, value] as const))),
    )
    .map((entries) => {
      const drawn = entries.flatMap(([item, value]) =>
        value === null ? [] : [[item, value] as const],
      )
      const bad = findConflicts(new Set(drawn.map(([item]) => item))).filter(
        ({ severity }) => severity === 'error',
      )
      return new Map(drawn.filter(([item]) => !bad.some((conflict) => conflict.item === item)))
    })
}

/** Arbitrary domains of few kinds, with many domains of each kind, like a real fleet. */
export function arbitraryFleet<T>(
  names: Domain[],
  kind: fc.Arbitrary<T>,
  maxKinds = 4,
): fc.Arbitrary<[Domain, T][]> {
  return fc
    .tuple(
      fc.array(kind, { minLength: 1, maxLength: maxKinds }),
      fc.array(fc.nat(), { minLength: names.length, maxLength: names.length }),
    )
    .map(([kinds, choice]) =>
      names.map((domain, i) => [domain, kinds[(choice[i] ?? 0) % kinds.length] as T]),
    )
}

/** Arbitrary states of some items of a domain; `doubt` allows in-doubt states. */
export const arbitraryItems = (doubt: boolean): fc.Arbitrary<Map<ItemKey, ItemState>> =>
  arbitraryEntries([...catalogue.keys()], 7, (item) => arbitraryState(item, doubt))

function arbitraryState(item: ItemKey, doubt: boolean): fc.Arbitrary<ItemState> {
  const certain = arbitraryValue(item).map(createItemState)
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

export const arbitrarySnapshot = (doubt: boolean): fc.Arbitrary<Snapshot> =>
  toSnapshots(arbitraryFleet(domains, arbitraryItems(doubt)))

/** Copies the items of each domain. */
export const toSnapshots = (
  fleets: fc.Arbitrary<[Domain, Map<ItemKey, ItemState>][]>,
): fc.Arbitrary<Snapshot> =>
  fleets.map((fleet) => new Map(fleet.map(([domain, items]) => [domain, new Map(items)])))
