import type { CoverProblem } from './cover-problem.ts'

/**
 * A number of rectangles that no cover can be under, by counting alone: a column that n rows can't
 * do without takes ⌈n / width⌉ rectangles of its own, and whole values of one item never share one;
 * all rows take ⌈rows / width⌉.
 */
export function computeCountingBound({ columns: kinds, rows, width }: CoverProblem): number {
  const sole = kinds.map(() => 0)
  for (const columns of rows) {
    const ways = new Map<number, number>()
    for (const cells of columns.values())
      for (const cell of cells) ways.set(cell, (ways.get(cell) ?? 0) + 1)
    for (const [column, cells] of columns)
      if (cells.some((cell) => ways.get(cell) === 1)) sole[column] = (sole[column] ?? 0) + 1
  }
  const wholes = new Map<number, number>()
  let most = Math.ceil(rows.filter((row) => row.size > 0).length / width)
  for (const [column, { item, mode }] of kinds.entries()) {
    const own = Math.ceil((sole[column] ?? 0) / width)
    const sum = mode === 0 ? (wholes.get(item) ?? 0) + own : own
    if (mode === 0) wholes.set(item, sum)
    most = Math.max(most, sum)
  }
  return most
}
