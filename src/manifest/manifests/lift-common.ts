import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import { groupBy, addUp } from '../../core/model/lists.ts'
import { canonicalizeJson } from '../../core/model/text/canonical-json.ts'

/** Configurations of domains with their common parts extracted. */
export interface LiftedConfigs {
  /**
   * Common parts. Each item of a domain is either in one of its parts or in its own configuration.
   */
  common: JsonObject[]
  /** By domain: the common parts it uses (indexes into `common`) and its own configuration. */
  domains: Map<Domain, { takes: number[]; config: JsonObject }>
}

/** Minimum number of domains that share a part; below that a part does not help readers. */
const minDomains = 3
/** Maximum number of common parts. */
export const maxParts = 4
/** Cost of naming a part, in characters. */
const nameCost = 12

/**
 * Extracts whole items that at least three domains, and at least half of those with the item, have
 * with the same value. A domain uses a part only if all of the part fits, so nothing has to be
 * removed again. Greedy: the part that saves most characters comes first, at most four.
 * Deterministic.
 *
 * @param configs by domain, its items as in a manifest
 * @param excluded items that are never extracted
 */
export function liftCommon(
  configs: ReadonlyMap<Domain, JsonObject>,
  excluded: ReadonlySet<ItemKey> = new Set(),
): LiftedConfigs {
  const remaining = new Map(
    [...configs].map(([domain, config]) => [domain, listItems(config, excluded)]),
  )
  const lifted: LiftedConfigs = {
    common: [],
    domains: new Map(
      [...configs].map(([domain, config]) => [domain, { takes: [], config: { ...config } }]),
    ),
  }
  const shared = listSharedValues(groupClasses(remaining.values()))
  while (lifted.common.length < maxParts) {
    const part = findBestPart(groupClasses(remaining.values()), shared)
    if (part === null) break
    const config: JsonObject = {}
    for (const [domain, items] of remaining) {
      if (![...part].every(([item, value]) => items.get(item) === value)) continue
      const entry = lifted.domains.get(domain)
      if (entry === undefined) continue
      entry.takes.push(lifted.common.length)
      for (const item of part.keys()) {
        config[item] = entry.config[item] ?? null
        delete entry.config[item]
        items.delete(item)
      }
    }
    lifted.common.push(config)
  }
  return lifted
}

/** Item → key of its value: the item and the text of the value. */
type Items = Map<ItemKey, string>
/** Domains with the same items and values. */
type Class = { items: Items; size: number }

function listItems(config: JsonObject, excluded: ReadonlySet<ItemKey>): Items {
  const entries = Object.entries(config).filter(([item]) => !excluded.has(item))
  return new Map(entries.map(([item, value]) => [item, `${item} ${canonicalizeJson(value)}`]))
}

function groupClasses(all: Iterable<Items>): Class[] {
  const alike = groupBy(all, (items) => [...items.values()].toSorted().join('\n'))
  return [...alike.values()].map((same): Class => ({
    items: same[0] ?? new Map<ItemKey, string>(),
    size: same.length,
  }))
}

/** Finds the items and values that save most characters when extracted; null if none save any. */
function findBestPart(classes: Class[], shared: [ItemKey, string][]): Items | null {
  let best: { part: Items; saved: number } | null = null
  for (const [item, value] of shared) {
    const part: Items = new Map([[item, value]])
    let within = classes.filter(({ items }) => items.get(item) === value)
    while (countDomains(within) >= minDomains) {
      const saved = countSaved(part, countDomains(within))
      if (saved > (best?.saved ?? 0)) best = { part: new Map(part), saved }
      const next = findMostCommon(shared, part, within)
      if (next === null) break
      part.set(...next)
      within = within.filter(({ items }) => items.get(next[0]) === next[1])
    }
  }
  return best?.part ?? null
}

/**
 * Lists the values that enough domains have, sorted; at most two values of an item, since each
 * needs half of its domains.
 */
function listSharedValues(classes: Class[]): [ItemKey, string][] {
  const countByItem = new Map<ItemKey, number>()
  const countByValue = new Map<string, { item: ItemKey; count: number }>()
  for (const { items, size } of classes) {
    for (const [item, value] of items) {
      countByItem.set(item, (countByItem.get(item) ?? 0) + size)
      countByValue.set(value, { item, count: (countByValue.get(value)?.count ?? 0) + size })
    }
  }
  return [...countByValue]
    .filter(
      ([, { item, count }]) => count >= minDomains && count * 2 >= (countByItem.get(item) ?? 0),
    )
    .map(([value, { item }]): [ItemKey, string] => [item, value])
    .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
}

/** Finds the value that most of these domains have besides the part. */
function findMostCommon(
  shared: [ItemKey, string][],
  part: Items,
  within: Class[],
): [ItemKey, string] | null {
  let best: { found: [ItemKey, string]; count: number } | null = null
  for (const [item, value] of shared) {
    if (part.has(item)) continue
    const count = countDomains(within.filter(({ items }) => items.get(item) === value))
    if (count > (best?.count ?? 0)) best = { found: [item, value], count }
  }
  return best?.found ?? null
}

function countDomains(classes: Class[]): number {
  return addUp(classes, ({ size }) => size)
}

function countSaved(part: Items, domains: number): number {
  const characters = addUp(part.values(), (text) => text.length)
  return characters * (domains - 1) - nameCost * domains
}
