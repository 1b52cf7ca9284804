import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'
import { chunkRows, findWholeColumns } from './obvious-covers.ts'
import { buildRowClasses } from './row-classes.ts'

/**
 * Rows of one class that are the only ones to take some column, which nothing can replace: whatever
 * covers that column can have no other rows, and may as well have all columns of the class. So
 * those rectangles are part of some best cover, and settle their rows entirely. What is settled so
 * may leave other columns to one class only.
 *
 * @returns the rows of such rectangles, each of one class, and the rows that are left
 */
export function findForcedRectangles(problem: CoverProblem): { forced: Row[][]; left: Row[] } {
  const classes = buildRowClasses(problem).map(({ rows, columns }) => ({
    rows,
    columns: [...columns.keys()],
    sole: findWholeColumns(problem, rows[0] ?? 0) === null ? [] : soleColumns(columns),
  }))
  const takers = new Map<Column, Set<number>>()
  for (const [i, { columns }] of classes.entries()) {
    for (const column of columns) {
      const known = takers.get(column)
      if (known === undefined) takers.set(column, new Set([i]))
      else known.add(i)
    }
  }
  const settled = new Set<number>()
  const queue = classes.map((_, i) => i)
  for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
    const own = classes[i]
    if (
      own === undefined ||
      settled.has(i) ||
      !own.sole.some((column) => takers.get(column)?.size === 1)
    )
      continue
    settled.add(i)
    for (const column of own.columns) {
      const others = takers.get(column)
      others?.delete(i)
      if (others?.size === 1) queue.push(...others)
    }
  }
  return {
    forced: classes.flatMap(({ rows }, i) =>
      settled.has(i) ? chunkRows(rows, problem.width) : [],
    ),
    left: classes.flatMap(({ rows }, i) => (settled.has(i) ? [] : rows)).toSorted((a, b) => a - b),
  }
}

/** The columns without which some cell can't be covered. */
function soleColumns(columns: Map<Column, Cell[]>): Column[] {
  const ways = new Map<Cell, number>()
  for (const cells of columns.values())
    for (const cell of cells) ways.set(cell, (ways.get(cell) ?? 0) + 1)
  return [...columns].flatMap(([column, cells]) =>
    cells.some((cell) => ways.get(cell) === 1) ? [column] : [],
  )
}
