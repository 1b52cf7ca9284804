import type { CoverProblem } from './cover-problem.ts'

/**
 * Computes a lower bound of the number of rectangles by counting. A column that n rows need takes
 * ⌈n / width⌉ rectangles, whole values of one item never share a rectangle, and all rows together
 * take ⌈rows / width⌉.
 */
export function computeCountingBound({ columns: kinds, rows, width }: CoverProblem): number {
  const sole = kinds.map(() => 0)
  for (const columns of rows) {
    const coveringColumns = new Map<number, number>()
    for (const cells of columns.values())
      for (const cell of cells) coveringColumns.set(cell, (coveringColumns.get(cell) ?? 0) + 1)
    for (const [column, cells] of columns)
      if (cells.some((cell) => coveringColumns.get(cell) === 1))
        sole[column] = (sole[column] ?? 0) + 1
  }
  const wholeBounds = new Map<number, number>()
  let bound = Math.ceil(rows.filter((row) => row.size > 0).length / width)
  for (const [column, { item, mode }] of kinds.entries()) {
    const columnBound = Math.ceil((sole[column] ?? 0) / width)
    const sum = mode === 0 ? (wholeBounds.get(item) ?? 0) + columnBound : columnBound
    if (mode === 0) wholeBounds.set(item, sum)
    bound = Math.max(bound, sum)
  }
  return bound
}
