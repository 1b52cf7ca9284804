import { getItemSpec } from '../catalog/catalogue.ts'
import type { Form, FormName } from '../model/change.ts'
import type { Grouping } from '../model/config.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { compareKeys, groupBy } from '../model/lists.ts'
import { canonicalizeJson, createNumbering } from '../model/text/canonical-json.ts'
import { type BundleNeed, buildCoverProblem } from './bundle-columns.ts'
import type { CoverProblem, Rectangle } from './cover/cover-problem.ts'
import { type NeedBundle, listBundles } from './groups.ts'
import type { Need } from './needs.ts'

/** The cover problem of one group of items; `toWrite` turns a rectangle into domains and forms. */
export interface GroupProblem {
  problem: CoverProblem
  toWrite(rectangle: Rectangle): { domains: Domain[]; items: Record<ItemKey, Form> }
}

/** Maximum number of parts. Beyond it each need is met by one delta or whole, to save time. */
const maxParts = 200_000
const modes: FormName[] = ['append', 'add', 'remove', 'switch']

/**
 * Builds one cover problem for each group of items that may share a write. The order is stable and
 * independent of the order of the needs.
 */
export function buildGroupProblems(
  needs: Need[],
  grouping: Grouping,
  domainsPerWrite: number,
): GroupProblem[] {
  const bundles = [...groupBy(needs, (need) => need.domain)]
    .toSorted(compareKeys)
    .flatMap(([domain, own]) => listBundles(domain, own, grouping))
  return [...groupBy(bundles, ({ group }) => group)]
    .toSorted(compareKeys)
    .map(([, own]) => buildGroupProblem(own, domainsPerWrite))
}

function buildGroupProblem(bundles: NeedBundle[], width: number): GroupProblem {
  const domains = [...new Set(bundles.map(({ domain }) => domain))]
  const rowByDomain = new Map(domains.map((domain, row) => [domain, row]))
  const formsByKey = new Map<string, Record<ItemKey, Form>>()
  const keys = new Map<string, string>()
  const number = createNumbering()
  const hasParts =
    bundles.reduce((sum, { needs }) => sum + (needs[0]?.parts.length ?? 0), 0) <= maxParts
  const bundleNeeds = bundles.map(({ domain, needs }): BundleNeed => {
    const bundle = needs.map((need) => need.item).join(' ')
    const addForms = (items: Record<ItemKey, Form>, mode: number): string => {
      const forms = Object.values(items)
      const short = JSON.stringify([
        bundle,
        mode,
        forms.map((form) => [form.name, number(form.payload)]),
      ])
      // Equal keys, which may be long, are one text.
      const key = keys.get(short) ?? `${bundle}\n${mode}\n${forms.map(formatForm).join('\n')}`
      keys.set(short, key)
      formsByKey.set(key, items)
      return key
    }
    const [only, ...more] = needs
    const parts =
      only === undefined || more.length > 0 ? [] : hasParts ? only.parts : joinByName(only)
    return {
      row: rowByDomain.get(domain) ?? 0,
      bundle,
      whole: addForms(Object.fromEntries(needs.map((need) => [need.item, need.whole])), 0),
      parts: parts.map((form) => {
        const mode = 1 + modes.indexOf(form.name)
        return { key: addForms({ [only?.item ?? '']: form }, mode), mode }
      }),
    }
  })
  const { problem, formKeys } = buildCoverProblem(bundleNeeds, domains.length, width)
  return {
    problem,
    toWrite: ({ rows, columns }) => ({
      domains: rows.map((row) => domains[row] ?? '').toSorted(),
      items: joinItems(
        columns.flatMap((column) => formKeys[column] ?? []).map((key) => formsByKey.get(key) ?? {}),
      ),
    }),
  }
}

function formatForm({ name, payload }: Form): string {
  return `${name} ${canonicalizeJson(payload)}`
}

function joinByName({ item, parts }: Need): Form[] {
  const { joinDeltas } = getItemSpec(item)
  return joinDeltas === undefined
    ? parts
    : [...groupBy(parts, (part) => part.name).values()].map((same) => joinDeltas(same))
}

/** Joins the forms of several columns: one payload per item. */
function joinItems(columns: Record<ItemKey, Form>[]): Record<ItemKey, Form> {
  const forms = groupBy(
    columns.flatMap((items) => Object.entries(items)),
    ([item]) => item,
  )
  const sorted = [...forms].toSorted(compareKeys)
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
