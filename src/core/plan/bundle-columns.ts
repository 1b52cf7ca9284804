import { compare, groupByEach } from '../model/lists.ts'
import type { Cell, Column, ColumnKind, CoverProblem, Row } from './cover/cover-problem.ts'

/** A domain's need of one bundle: met by the whole value, or by all of its parts. */
export interface BundleNeed {
  row: Row
  bundle: string
  /** Key of the form of the whole value; equal forms have equal keys. */
  whole: string
  /** Parts of one mode may share a rectangle: see `ColumnKind`. */
  parts: { key: string; mode: number }[]
}

/**
 * Builds the cover problem of one group's needs. Columns are numbered by bundle, whole values
 * before parts. Parts that the same domains take are one column.
 *
 * @param rows number of domains
 * @param width maximum number of domains of a write
 * @returns the problem, and the keys of each column's forms
 */
export function buildCoverProblem(
  allNeeds: BundleNeed[],
  rows: number,
  width: number,
): { problem: CoverProblem; formKeys: string[][] } {
  const needs = dropUselessParts(allNeeds)
  const takers = groupByEach(needs, ({ parts }) => parts.map(({ key }) => key))
  const columnKeys = new Map<string, { bundle: string; mode: number; keys: Set<string> }>()
  const columnNames = new Map<string, string>()
  const addColumn = (name: string, bundle: string, mode: number, key: string): string => {
    const known = columnKeys.get(name)
    if (known === undefined) columnKeys.set(name, { bundle, mode, keys: new Set([key]) })
    else known.keys.add(key)
    return name
  }
  const namePart = (bundle: string, key: string, mode: number): string => {
    const name =
      columnNames.get(key) ??
      `${bundle}\n${mode}\n${(takers.get(key) ?? []).map(({ row }) => row).join()}`
    columnNames.set(key, name)
    return addColumn(name, bundle, mode, key)
  }
  const named = needs.map(({ row, bundle, whole, parts }) => ({
    row,
    whole: addColumn(whole, bundle, 0, whole),
    parts: [...new Set(parts.map(({ key, mode }) => namePart(bundle, key, mode)))],
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
    formKeys: order.map(([, column]) => [...column.keys].toSorted()),
  }
}

/**
 * Drops the parts of a need if no more domains share them than the whole value: they save nothing,
 * and a whole value is the safer write.
 */
function dropUselessParts(needs: BundleNeed[]): BundleNeed[] {
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
