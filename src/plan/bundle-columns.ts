import type { Cell, Column, ColumnKind, CoverProblem, Row } from './cover/cover-problem.ts'

/** What a domain needs of one bundle: to be met by the whole, or by all parts. */
export interface BundleNeed {
  row: Row
  bundle: string
  /** Keys stand for forms: equal forms have equal keys. */
  whole: string
  /** Parts of one mode may stand in one rectangle: see `ColumnKind`. */
  parts: { key: string; mode: number }[]
}

/**
 * The cover problem of one group's needs: columns numbered by bundle, whole values before parts;
 * parts that the same domains take are one column.
 *
 * @param rows how many domains there are
 * @param width the most domains of a write
 * @returns the problem, and the keys of each column's forms
 */
export function buildCoverProblem(
  all: BundleNeed[],
  rows: number,
  width: number,
): { problem: CoverProblem; keysOf: string[][] } {
  const needs = withUsefulParts(all)
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
    ([nameA, a], [nameB, b]) =>
      compare(a.bundle, b.bundle) || a.mode - b.mode || compare(nameA, nameB),
  )
  const items = [...new Set(order.map(([, { bundle }]) => bundle))]
  const number = new Map(order.map(([name], column) => [name, column]))
  const entries: [Column, Cell[]][][] = Array.from({ length: rows }, () => [])
  let cells = 0
  for (const { row, whole, parts } of named) {
    const own = parts.length === 0 ? [cells++] : parts.map(() => cells++)
    entries[row]?.push(
      [number.get(whole) ?? 0, own],
      ...parts.map((part, i): [Column, Cell[]] => [number.get(part) ?? 0, [own[i] ?? 0]]),
    )
  }
  return {
    problem: {
      width,
      columns: order.map(([, { bundle, mode }]): ColumnKind => ({
        item: items.indexOf(bundle),
        mode,
      })),
      rows: entries.map((own) => new Map(own.toSorted(([a], [b]) => a - b))),
      cells,
    },
    keysOf: order.map(([, column]) => [...column.keys].toSorted()),
  }
}

/**
 * Parts that no more domains share than the whole value save nothing, and a whole value is the
 * safer write.
 */
function withUsefulParts(needs: BundleNeed[]): BundleNeed[] {
  const takers = new Map<string, number>()
  for (const { whole, parts } of needs)
    for (const key of [whole, ...parts.map((part) => part.key)])
      takers.set(key, (takers.get(key) ?? 0) + 1)
  return needs.map((need) =>
    need.parts.some((part) => (takers.get(part.key) ?? 0) > (takers.get(need.whole) ?? 0))
      ? need
      : { ...need, parts: [] },
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
