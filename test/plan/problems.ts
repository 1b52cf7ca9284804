import type { Form, Write } from '../../src/core/model/change.ts'
import type { Grouping } from '../../src/core/model/config.ts'
import type { Domain, ItemKey } from '../../src/core/model/item.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { canonicalizeJson } from '../../src/core/model/text/canonical-json.ts'
import type { WriteProblem } from '../../src/core/plan/group-writes.ts'
import { findGroup } from '../../src/core/plan/groups.ts'
import type { Need } from '../../src/core/plan/needs.ts'
import { loadSolver } from '../../src/operations/runtime/load-solver.ts'
import { fc } from '../runs.ts'

/** Two items of the documented group, two that are alone. */
export const items: ItemKey[] = ['https', 'origin', 'rate_limit', 'timeout']

export const replace = (value: number): Form => ({ name: 'replace', payload: { value } })
export const domain = (i: number): Domain => `d${String(i).padStart(5, '0')}.example.com`
export const need = (i: number, item: ItemKey, whole: Form, parts: Form[] = []): Need => ({
  domain: domain(i),
  item,
  whole,
  parts,
})
/** Builds one delta for each entry. */
export const append = (...entries: string[]): Form[] =>
  entries.map((entry) => ({ name: 'append', payload: { list: [entry], mode: 'append' } }))

/** The solver, loaded once for all tests. */
export const solver = await loadSolver()

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

/** Arbitrary problems; `withParts` adds lists that may grow entry by entry. */
export function problems(
  domains: number,
  values: number,
  withParts: boolean,
): fc.Arbitrary<WriteProblem> {
  const whole = fc.integer({ min: 1, max: values })
  const entries = fc.subarray(['192.0.2.1', '192.0.2.2', '192.0.2.3'], { minLength: 1 })
  const domainNeeds = fc.record(
    {
      ...Object.fromEntries(items.map((item) => [item, whole])),
      ...(withParts ? { ip_black_list: fc.tuple(whole, entries) } : {}),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Record<ItemKey, number | [number, string[]]>>
  return fc.record({
    needs: fc
      .array(domainNeeds, { maxLength: domains })
      .map((all) =>
        all.flatMap((own, i) =>
          Object.entries(own).map(([item, value]) =>
            typeof value === 'number'
              ? need(i, item, replace(value))
              : need(i, item, replace(value[0]), append(...value[1])),
          ),
        ),
      ),
    grouping: groupings,
    domainsPerWrite: fc.integer({ min: 1, max: 4 }),
    effort: fc.constant('normal' as const),
    solver: fc.constant(null),
  })
}

/**
 * Finds the minimum number of writes by brute force: every set of domains × every choice, item by
 * item, of a whole value or of parts of one form that all of them need. For few needs without
 * `together`.
 */
export function findOptimum({
  needs,
  grouping,
  domainsPerWrite,
}: Pick<WriteProblem, 'needs' | 'grouping' | 'domainsPerWrite'>): number {
  const cells = needs.flatMap((own): { own: Need; part: Form | null }[] =>
    own.parts.length === 0 ? [{ own, part: null }] : own.parts.map((part) => ({ own, part })),
  )
  const domains = [...new Set(needs.map((each) => each.domain))]
  const rectangles = new Set<number>()
  const grow = (chosen: Domain[], from: number): void => {
    if (chosen.length > 0) for (const mask of listMasks(chosen)) rectangles.add(mask)
    if (chosen.length === domainsPerWrite) return
    for (let i = from; i < domains.length; i++) grow([...chosen, domains[i] ?? ''], i + 1)
  }
  /**
   * Lists the sets of cells, as bit masks, that one write to these domains can meet, by group.
   */
  const listMasks = (chosen: Domain[]): number[] => {
    const groups = new Map<string, number[]>()
    for (const item of new Set(needs.map((each) => each.item))) {
      const own = chosen.flatMap((name) =>
        needs.filter((each) => each.domain === name && each.item === item),
      )
      if (own.length < chosen.length) continue
      const group = findGroup(item, grouping.groups)
      const itemMasks = listItemMasks(own)
      groups.set(
        group,
        (groups.get(group) ?? [0]).flatMap((mask) => itemMasks.map((itemMask) => mask | itemMask)),
      )
    }
    return [...groups.values()].flat()
  }
  const buildMask = (own: Need[], isMet: (cell: (typeof cells)[number]) => boolean): number =>
    cells.reduce(
      (mask, cell, i) => (own.includes(cell.own) && isMet(cell) ? mask | (1 << i) : mask),
      0,
    )
  const listItemMasks = (own: Need[]): number[] => {
    const isSameWhole = own.every(
      (each) => JSON.stringify(each.whole) === JSON.stringify(own[0]?.whole),
    )
    const shared = (own[0]?.parts ?? [])
      .map((part) => JSON.stringify(part))
      .filter((text) =>
        own.every((each) => each.parts.some((part) => JSON.stringify(part) === text)),
      )
    const names = new Set(shared.map((text) => (JSON.parse(text) as Form).name))
    return [
      0,
      ...(isSameWhole ? [buildMask(own, () => true)] : []),
      ...[...names].map((name) =>
        buildMask(own, ({ part }) => part?.name === name && shared.includes(JSON.stringify(part))),
      ),
    ]
  }
  grow([], 0)
  const all = 2 ** cells.length - 1
  let [reached, writes] = [new Set([0]), 0]
  while (!reached.has(all)) {
    reached = new Set(
      [...reached].flatMap((mask) => [...rectangles].map((rectangle) => mask | rectangle)),
    )
    writes++
  }
  return writes
}

/** Finds needs that the writes do not meet, and items that they send without need. */
export function findFaults({ needs }: WriteProblem, writes: Write[]): string[] {
  const open = new Map(
    needs.map((each) => [
      `${each.domain} ${each.item}`,
      {
        each,
        known: new Set(each.parts.map((part) => toText(part))),
        parts: new Set(each.parts.map((part) => toText(part))),
        isMet: false,
      },
    ]),
  )
  const faults: string[] = []
  for (const write of writes) {
    for (const name of write.domains) {
      for (const [item, form] of Object.entries(write.items)) {
        const found = open.get(`${name} ${item}`)
        const entries =
          form.name === 'append' ? ((form.payload as JsonObject)['list'] as string[]) : []
        if (found !== undefined && toText(form) === toText(found.each.whole)) found.isMet = true
        else if (found === undefined || entries.length === 0) faults.push(`${name} gets ${item}`)
        else {
          for (const part of append(...entries)) {
            if (!found.known.has(toText(part))) faults.push(`${name} gets ${toText(part)}`)
            found.parts.delete(toText(part))
          }
          found.isMet ||= found.parts.size === 0
        }
      }
    }
  }
  return [
    ...faults,
    ...[...open].filter(([, { isMet }]) => !isMet).map(([name]) => `${name} is not met`),
  ]
}

function toText(value: unknown): string {
  return canonicalizeJson(value as Json)
}
