import { canonicalizeJson } from '../model/canonical-json.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { JsonObject } from '../model/json.ts'

/** Configurations of domains with what many of them share lifted out. */
export interface LiftedConfigs {
  /**
   * Parts that domains share; each item of a domain stands in one of them, or in its own
   * configuration.
   */
  common: JsonObject[]
  /**
   * Of each domain, which common parts it takes (by their place in `common`), and what is its own.
   */
  domains: Map<Domain, { takes: number[]; config: JsonObject }>
}

/** Fewer domains are quicker read each by itself. */
const fewestDomains = 3
/** So many common parts are lifted at most. */
export const maxParts = 4
/** Characters that it takes to name a part. */
const nameCost = 12

/**
 * Lifts whole items out that at least three domains, and at least half of those that have the item,
 * hold with the same value. A domain takes a part only where all of it fits, so that nothing has to
 * be taken out again; of what could be lifted the part that saves most is lifted first, at most
 * four. The same input gives the same parts.
 *
 * @param configs of each domain its items as they stand in a manifest
 * @param excluded items that stay where they are
 */
export function liftCommon(
  configs: ReadonlyMap<Domain, JsonObject>,
  excluded: ReadonlySet<ItemKey> = new Set(),
): LiftedConfigs {
  const left = new Map([...configs].map(([domain, config]) => [domain, itemsOf(config, excluded)]))
  const lifted: LiftedConfigs = {
    common: [],
    domains: new Map(
      [...configs].map(([domain, config]) => [domain, { takes: [], config: { ...config } }]),
    ),
  }
  const shared = sharedValues(classesOf(left.values()))
  while (lifted.common.length < maxParts) {
    const part = bestPart(classesOf(left.values()), shared)
    if (part === null) break
    const config: JsonObject = {}
    for (const [domain, items] of left) {
      if (![...part].every(([item, value]) => items.get(item) === value)) continue
      const own = lifted.domains.get(domain)
      if (own === undefined) continue
      own.takes.push(lifted.common.length)
      for (const item of part.keys()) {
        config[item] = own.config[item] ?? null
        delete own.config[item]
        items.delete(item)
      }
    }
    lifted.common.push(config)
  }
  return lifted
}

/** Item → name of its value: the item and the text of the value. */
type Items = Map<ItemKey, string>
/** Domains with the same items and values. */
type Class = { items: Items; size: number }

function itemsOf(config: JsonObject, excluded: ReadonlySet<ItemKey>): Items {
  const entries = Object.entries(config).filter(([item]) => !excluded.has(item))
  return new Map(entries.map(([item, value]) => [item, `${item} ${canonicalizeJson(value)}`]))
}

function classesOf(all: Iterable<Items>): Class[] {
  const alike = groupBy(all, (items) => [...items.values()].toSorted().join('\n'))
  return [...alike.values()].map((same): Class => ({
    items: same[0] ?? new Map<ItemKey, string>(),
    size: same.length,
  }))
}

/**
 * The items and values that save most characters when they are lifted; null where nothing is worth
 * it.
 */
function bestPart(classes: Class[], shared: [ItemKey, string][]): Items | null {
  let best: { part: Items; saved: number } | null = null
  for (const [item, value] of shared) {
    const part: Items = new Map([[item, value]])
    let within = classes.filter(({ items }) => items.get(item) === value)
    while (sizeOf(within) >= fewestDomains) {
      const saved = savedBy(part, sizeOf(within))
      if (saved > (best?.saved ?? 0)) best = { part: new Map(part), saved }
      const next = mostCommon(shared, part, within)
      if (next === null) break
      part.set(...next)
      within = within.filter(({ items }) => items.get(next[0]) === next[1])
    }
  }
  return best?.part ?? null
}

/** Values that enough domains have, sorted; of an item at most the two that halve it. */
function sharedValues(classes: Class[]): [ItemKey, string][] {
  const ofItem = new Map<ItemKey, number>()
  const ofValue = new Map<string, { item: ItemKey; count: number }>()
  for (const { items, size } of classes) {
    for (const [item, value] of items) {
      ofItem.set(item, (ofItem.get(item) ?? 0) + size)
      ofValue.set(value, { item, count: (ofValue.get(value)?.count ?? 0) + size })
    }
  }
  return [...ofValue]
    .filter(([, { item, count }]) => count >= fewestDomains && count * 2 >= (ofItem.get(item) ?? 0))
    .map(([value, { item }]): [ItemKey, string] => [item, value])
    .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
}

/** The value that most of these domains have beside the part. */
function mostCommon(
  shared: [ItemKey, string][],
  part: Items,
  within: Class[],
): [ItemKey, string] | null {
  let most: { found: [ItemKey, string]; count: number } | null = null
  for (const [item, value] of shared) {
    if (part.has(item)) continue
    const count = sizeOf(within.filter(({ items }) => items.get(item) === value))
    if (count > (most?.count ?? 0)) most = { found: [item, value], count }
  }
  return most?.found ?? null
}

function sizeOf(classes: Class[]): number {
  return classes.reduce((sum, { size }) => sum + size, 0)
}

function savedBy(part: Items, domains: number): number {
  const characters = [...part.values()].reduce((sum, text) => sum + text.length, 0)
  return characters * (domains - 1) - nameCost * domains
}
