import { getItemSpec } from '../catalog/catalogue.ts'
import { canonicalizeJson } from '../model/canonical-json.ts'
import type { Form, FormName } from '../model/change.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { buildCoverProblem, type BundleNeed } from './bundle-columns.ts'
import type { CoverProblem, Rectangle } from './cover/cover-problem.ts'
import { buildBundles } from './groups.ts'
import { type Grouping } from '../model/config.ts'
import type { Need } from './needs.ts'

/**
 * The needs of one group of items as a cover problem, and what its rectangles are in domains and
 * forms.
 */
export interface GroupProblem {
  problem: CoverProblem
  toWrite(rectangle: Rectangle): { domains: Domain[]; items: Record<ItemKey, Form> }
}

/**
 * Parts beyond so many take more time than they can save; the needs are then met by one delta each,
 * or whole.
 */
const mostParts = 200_000
const modes: FormName[] = ['append', 'add', 'remove', 'switch']

/**
 * One problem for each group of items that may share a write, in a stable order whatever the order
 * of the needs is.
 */
export function buildGroupProblems(
  needs: Need[],
  grouping: Grouping,
  domainsPerWrite: number,
): GroupProblem[] {
  const groups = new Map<string, { domain: Domain; needs: Need[] }[]>()
  const byDomain = [...groupBy(needs, (need) => need.domain)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  for (const [domain, own] of byDomain) {
    const byItem = new Map(own.map((need) => [need.item, need]))
    for (const { items, group } of buildBundles([...byItem.keys()], grouping)) {
      const bundle = { domain, needs: items.flatMap((item) => byItem.get(item) ?? []) }
      const known = groups.get(group)
      if (known === undefined) groups.set(group, [bundle])
      else known.push(bundle)
    }
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, bundles]) => groupProblem(bundles, domainsPerWrite))
}

function groupProblem(bundles: { domain: Domain; needs: Need[] }[], width: number): GroupProblem {
  const domains = [...new Set(bundles.map(({ domain }) => domain))]
  const rowOf = new Map(domains.map((domain, row) => [domain, row]))
  const formsOf = new Map<string, Record<ItemKey, Form>>()
  const keyOf = keys()
  const split =
    bundles.reduce((sum, { needs }) => sum + (needs[0]?.parts.length ?? 0), 0) <= mostParts
  const all = bundles.map(({ domain, needs }): BundleNeed => {
    const bundle = needs.map((need) => need.item).join(' ')
    const remember = (items: Record<ItemKey, Form>, mode: number): string => {
      const key = `${bundle}\n${mode}\n${Object.values(items).map(keyOf).join('\n')}`
      formsOf.set(key, items)
      return key
    }
    const [only, ...more] = needs
    const parts =
      only === undefined || more.length > 0 ? [] : split ? only.parts : joinedByName(only)
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
  const { problem, keysOf } = buildCoverProblem(all, domains.length, width)
  return {
    problem,
    toWrite: ({ rows, columns }) => ({
      domains: rows.map((row) => domains[row] ?? '').toSorted(),
      items: itemsOf(
        columns.flatMap((column) => keysOf[column] ?? []).map((key) => formsOf.get(key) ?? {}),
      ),
    }),
  }
}

/**
 * A payload as a short text that is the same for equal payloads; the same object is not written out
 * twice.
 */
function keys(): (form: Form) => string {
  const known = new WeakMap<object, string>()
  return ({ name, payload }) => {
    if (typeof payload !== 'object' || payload === null)
      return `${name} ${canonicalizeJson(payload)}`
    const found = known.get(payload) ?? canonicalizeJson(payload)
    known.set(payload, found)
    return `${name} ${found}`
  }
}

function joinedByName({ item, parts }: Need): Form[] {
  const { joinDeltas } = getItemSpec(item)
  return joinDeltas === undefined
    ? parts
    : [...groupBy(parts, (part) => part.name).values()].map((same) => joinDeltas(same))
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
      return [
        [
          item,
          more.length === 0 ? first : (getItemSpec(item).joinDeltas?.([first, ...more]) ?? first),
        ],
      ]
    }),
  )
}
