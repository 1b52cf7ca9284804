import { itemSpec } from '../catalog/catalogue.ts'
import { canonicalJson } from '../model/canonical-json.ts'
import type { Form, FormName } from '../model/change.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Cell, Column, ColumnKind, CoverProblem, Rectangle, Row } from './cover/cover-problem.ts'
import { bundlesOf, type Grouping } from './groups.ts'
import type { Need } from './needs.ts'

/** The needs of one group of items as a cover problem, and what its rectangles are in domains and forms. */
export interface GroupProblem {
  problem: CoverProblem
  meaning(rectangle: Rectangle): { domains: Domain[]; items: Record<ItemKey, Form> }
}

/** What a domain needs of one bundle: to be met by the whole, or by all parts. */
interface BundleNeed {
  row: Row
  bundle: string
  whole: string
  parts: { key: string; mode: number }[]
}

/** Parts beyond so many take more time than they can save; the needs are then met by one delta each, or whole. */
const mostParts = 200_000
const modes: FormName[] = ['append', 'add', 'remove', 'switch']

/** One problem for each group of items that may share a write, in a stable order whatever the order of the needs is. */
export function groupProblems(needs: Need[], grouping: Grouping, domainsPerWrite: number): GroupProblem[] {
  const groups = new Map<string, { domain: Domain; needs: Need[] }[]>()
  const byDomain = [...groupBy(needs, (need) => need.domain)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [domain, own] of byDomain) {
    const byItem = new Map(own.map((need) => [need.item, need]))
    for (const { items, group } of bundlesOf([...byItem.keys()], grouping)) {
      const bundle = { domain, needs: items.flatMap((item) => byItem.get(item) ?? []) }
      const known = groups.get(group)
      if (known === undefined) groups.set(group, [bundle])
      else known.push(bundle)
    }
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, bundles]) => groupProblem(bundles, domainsPerWrite))
}

function groupProblem(bundles: { domain: Domain; needs: Need[] }[], width: number): GroupProblem {
  const domains = [...new Set(bundles.map(({ domain }) => domain))]
  const rowOf = new Map(domains.map((domain, row) => [domain, row]))
  const formsOf = new Map<string, Record<ItemKey, Form>>()
  const keyOf = keys()
  const split = bundles.reduce((sum, { needs }) => sum + (needs[0]?.parts.length ?? 0), 0) <= mostParts
  const all = bundles.map(({ domain, needs }): BundleNeed => {
    const bundle = needs.map((need) => need.item).join(' ')
    const remember = (items: Record<ItemKey, Form>, mode: number): string => {
      const key = `${bundle}\n${mode}\n${Object.values(items).map(keyOf).join('\n')}`
      formsOf.set(key, items)
      return key
    }
    const [only, ...more] = needs
    const parts = only === undefined || more.length > 0 ? [] : split ? only.parts : joinedByName(only)
    return {
      row: rowOf.get(domain) ?? 0,
      bundle,
      whole: remember(Object.fromEntries(needs.map((need) => [need.item, need.whole])), 0),
      parts: parts.map((form) => {
        const mode = 1 + modes.indexOf(form.name)
        return { key: remember({ [only?.item ?? '']: form }, mode), mode }
      }),
    }
  })
  const { problem, keysOf } = coverProblem(withUsefulParts(all), domains.length, width)
  return {
    problem,
    meaning: ({ rows, columns }) => ({
      domains: rows.map((row) => domains[row] ?? '').toSorted(),
      items: itemsOf(columns.flatMap((column) => keysOf[column] ?? []).map((key) => formsOf.get(key) ?? {})),
    }),
  }
}

/** A payload as a short text that is the same for equal payloads; the same object is not written out twice. */
function keys(): (form: Form) => string {
  const known = new WeakMap<object, string>()
  return ({ name, payload }) => {
    if (typeof payload !== 'object' || payload === null) return `${name} ${canonicalJson(payload)}`
    const found = known.get(payload) ?? canonicalJson(payload)
    known.set(payload, found)
    return `${name} ${found}`
  }
}

function joinedByName({ item, parts }: Need): Form[] {
  const { joined } = itemSpec(item)
  return joined === undefined ? parts : [...groupBy(parts, (part) => part.name).values()].map((same) => joined(same))
}

/** The forms of several columns as one payload an item. */
function itemsOf(columns: Record<ItemKey, Form>[]): Record<ItemKey, Form> {
  const forms = groupBy(
    columns.flatMap((items) => Object.entries(items)),
    ([item]) => item,
  )
  const sorted = [...forms].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sorted.flatMap(([item, own]) => {
      const [first, ...more] = own.map(([, form]) => form)
      if (first === undefined) return []
      return [[item, more.length === 0 ? first : (itemSpec(item).joined?.([first, ...more]) ?? first)]]
    }),
  )
}

/** Parts that no more domains share than the whole value save nothing, and a whole value is the safer write. */
function withUsefulParts(needs: BundleNeed[]): BundleNeed[] {
  const takers = new Map<string, number>()
  for (const { whole, parts } of needs)
    for (const key of [whole, ...parts.map((part) => part.key)]) takers.set(key, (takers.get(key) ?? 0) + 1)
  return needs.map((need) =>
    need.parts.some((part) => (takers.get(part.key) ?? 0) > (takers.get(need.whole) ?? 0)) ? need : { ...need, parts: [] },
  )
}

/** Columns numbered by bundle, whole values before parts; parts that the same domains take are one column. */
function coverProblem(needs: BundleNeed[], rows: number, width: number): { problem: CoverProblem; keysOf: string[][] } {
  const takers = new Map<string, Row[]>()
  for (const { row, parts } of needs) {
    for (const { key } of parts) {
      const known = takers.get(key)
      if (known === undefined) takers.set(key, [row])
      else known.push(row)
    }
  }
  const columnKeys = new Map<string, { bundle: string; mode: number; keys: Set<string> }>()
  const columnNames = new Map<string, string>()
  const enter = (name: string, bundle: string, mode: number, key: string): string => {
    const known = columnKeys.get(name)
    if (known === undefined) columnKeys.set(name, { bundle, mode, keys: new Set([key]) })
    else known.keys.add(key)
    return name
  }
  const partName = (bundle: string, key: string, mode: number): string => {
    const name = columnNames.get(key) ?? `${bundle}\n${mode}\n${(takers.get(key) ?? []).join()}`
    columnNames.set(key, name)
    return enter(name, bundle, mode, key)
  }
  const named = needs.map(({ row, bundle, whole, parts }) => ({
    row,
    whole: enter(whole, bundle, 0, whole),
    parts: [...new Set(parts.map(({ key, mode }) => partName(bundle, key, mode)))],
  }))
  const order = [...columnKeys].toSorted(
    ([nameA, a], [nameB, b]) => compare(a.bundle, b.bundle) || a.mode - b.mode || compare(nameA, nameB),
  )
  const items = [...new Set(order.map(([, { bundle }]) => bundle))]
  const number = new Map(order.map(([name], column) => [name, column]))
  const entries: [Column, Cell[]][][] = Array.from({ length: rows }, () => [])
  let cells = 0
  for (const { row, whole, parts } of named) {
    const own = parts.length === 0 ? [cells++] : parts.map(() => cells++)
    entries[row]?.push([number.get(whole) ?? 0, own], ...parts.map((part, i): [Column, Cell[]] => [number.get(part) ?? 0, [own[i] ?? 0]]))
  }
  return {
    problem: {
      width,
      columns: order.map(([, { bundle, mode }]): ColumnKind => ({ item: items.indexOf(bundle), mode })),
      rows: entries.map((own) => new Map(own.toSorted(([a], [b]) => a - b))),
      cells,
    },
    keysOf: order.map(([, column]) => [...column.keys].toSorted()),
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
