import { canonicalJson } from '../model/canonical-json.ts'
import type { ItemKey } from '../model/item.ts'
import { groupOf } from './groups.ts'
import type { WriteProblem } from './group-writes.ts'

/**
 * A number of writes that no plan can be under. An item with n domains to one payload needs ⌈n / domainsPerWrite⌉ writes
 * of its own, and different payloads never share one; items that may travel together share them at best, so of those the
 * largest counts, and items that never meet in a write add up. A need with several forms may share what it can.
 */
export function lowerBound({ needs, grouping, domainsPerWrite }: WriteProblem): number {
  const items = new Map<ItemKey, { payloads: Map<string, number>; several: number }>()
  for (const { item, forms } of needs) {
    const entry = items.get(item) ?? { payloads: new Map<string, number>(), several: 0 }
    const [only] = forms
    if (forms.length === 1 && only !== undefined) {
      const key = canonicalJson(only.payload)
      entry.payloads.set(key, (entry.payloads.get(key) ?? 0) + 1)
    } else {
      entry.several++
    }
    items.set(item, entry)
  }
  const components = componentsOf([...items.keys()], grouping)
  const largest = new Map<string, number>()
  for (const [item, { payloads, several }] of items) {
    const sure = [...payloads.values()].reduce((sum, n) => sum + Math.ceil(n / domainsPerWrite), 0)
    const bound = Math.max(sure, Math.ceil(several / domainsPerWrite))
    const component = components.get(item) ?? item
    largest.set(component, Math.max(largest.get(component) ?? 0, bound))
  }
  return [...largest.values()].reduce((sum, n) => sum + n, 0)
}

/** Items that can meet in a write, directly or through `together`, have the same component. */
function componentsOf(items: ItemKey[], grouping: WriteProblem['grouping']): Map<ItemKey, string> {
  const component = new Map(items.map((item) => [item, groupOf(item, grouping.groups)]))
  const lists = typeof grouping.groups === 'string' ? [] : grouping.groups
  for (const set of [...lists, ...grouping.together]) {
    const present = set.filter((item) => component.has(item))
    const names = new Set(present.map((item) => component.get(item)))
    const [first] = names
    if (first === undefined) continue
    for (const [item, name] of component) if (names.has(name)) component.set(item, first)
  }
  return component
}
