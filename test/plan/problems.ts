import fc from 'fast-check'
import type { Form } from '../../src/model/change.ts'
import type { Domain, ItemKey } from '../../src/model/item.ts'
import type { WriteProblem } from '../../src/plan/group-writes.ts'
import { groupOf, type Grouping } from '../../src/plan/groups.ts'
import type { Need } from '../../src/plan/needs.ts'

/** Two of the documented group, two of their own. */
export const items: ItemKey[] = ['https', 'origin', 'rate_limit', 'timeout']

export const replace = (value: number): Form => ({ name: 'replace', payload: { value } })
export const domain = (i: number): Domain => `d${String(i).padStart(5, '0')}.example.com`
export const need = (i: number, item: ItemKey, ...forms: Form[]): Need => ({ domain: domain(i), item, forms })

export const groupings: fc.Arbitrary<Grouping> = fc.record({
  groups: fc.constantFrom<Grouping['groups']>(
    'documented',
    'all',
    [['https', 'timeout']],
    [
      ['https', 'timeout'],
      ['origin', 'rate_limit'],
    ],
    [],
  ),
  together: fc.constantFrom<ItemKey[][]>(
    [],
    [['https', 'timeout']],
    [['origin', 'https', 'rate_limit']],
    [
      ['https', 'rate_limit'],
      ['origin', 'timeout'],
    ],
  ),
})

/** Random needs; `forms` is how many ways there may be. */
export function problems(domains: number, values: number, forms: number): fc.Arbitrary<WriteProblem> {
  const ways = fc.uniqueArray(fc.integer({ min: 1, max: values }), { minLength: 1, maxLength: forms })
  const one = fc.record(Object.fromEntries(items.map((item) => [item, ways])), { requiredKeys: [] })
  return fc.record({
    needs: fc
      .array(one, { maxLength: domains })
      .map((all) =>
        all.flatMap((own, i) => Object.entries(own).map(([item, payloads]) => need(i, item, ...(payloads ?? []).map(replace)))),
      ),
    grouping: groupings,
    domainsPerWrite: fc.integer({ min: 1, max: 4 }),
  })
}

/** Which of these items can meet in a write: of one group, or bound by `together`, directly or over others of them. */
function meet(grouping: Grouping, present: ItemKey[]): (a: ItemKey, b: ItemKey) => boolean {
  const parts = new Map(present.map((item) => [item, item]))
  const join = (a: ItemKey, b: ItemKey): void => {
    const [from, to] = [parts.get(a), parts.get(b)]
    for (const [item, part] of parts) if (part === from) parts.set(item, to ?? part)
  }
  for (const a of present) for (const b of present) if (groupOf(a, grouping.groups) === groupOf(b, grouping.groups)) join(a, b)
  for (const set of grouping.together) {
    const bound = set.filter((item) => parts.has(item))
    for (const item of bound) join(item, bound[0] ?? item)
  }
  return (a, b) => parts.get(a) === parts.get(b)
}

/**
 * The fewest writes that meet all needs, found by trying everything: every set of domains × every choice of items and
 * payloads that all of them need. Takes more liberties than a planner may (a need may be met twice, sets that must not be
 * seen apart may be parted), so that a bound under it is a bound under every plan.
 */
export function optimum({ needs, grouping, domainsPerWrite }: WriteProblem): number {
  const together = meet(grouping, [...new Set(needs.map((each) => each.item))])
  const domains = [...new Set(needs.map((each) => each.domain))]
  const rectangles = new Set<number>()
  const grow = (chosen: Domain[], from: number): void => {
    if (chosen.length > 0) for (const mask of masksOf(chosen, needs, together)) rectangles.add(mask)
    if (chosen.length === domainsPerWrite) return
    for (let i = from; i < domains.length; i++) grow([...chosen, domains[i] ?? ''], i + 1)
  }
  grow([], 0)
  const all = 2 ** needs.length - 1
  let [reached, writes] = [new Set([0]), 0]
  while (!reached.has(all)) {
    reached = new Set([...reached].flatMap((mask) => [...rectangles].map((rectangle) => mask | rectangle)))
    writes++
  }
  return writes
}

/** The needs that one write to these domains can meet, as bits, for every choice of payloads; the largest of each suffice. */
function masksOf(domains: Domain[], needs: Need[], together: (a: ItemKey, b: ItemKey) => boolean): number[] {
  const options = items.map((item) => {
    const own = domains.map((name) => needs.findIndex((each) => each.domain === name && each.item === item))
    if (own.includes(-1)) return { item, masks: [] as number[] }
    const common = (needs[own[0] ?? 0]?.forms ?? []).filter((form) =>
      own.every((i) => needs[i]?.forms.some((other) => JSON.stringify(other) === JSON.stringify(form))),
    )
    return { item, masks: common.length === 0 ? [] : [own.reduce((mask, i) => mask | (1 << i), 0)] }
  })
  return options.flatMap(({ item, masks }) =>
    masks.map((mask) => options.filter((other) => together(item, other.item)).reduce((sum, other) => sum | (other.masks[0] ?? 0), mask)),
  )
}
