import { append } from '../../model/append.ts'
import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'
import { chunkRows, findWholeColumns } from './obvious-covers.ts'
import { buildRowClasses } from './row-classes.ts'

/**
 * Finds rectangles that are part of some optimal cover. If one class of rows is the only one with
 * an irreplaceable column, the rectangles of that column have no other rows and may have all
 * columns of the class. They cover the class, which may leave another column to a single class.
 *
 * @returns the rows of these rectangles, each of one class, and the remaining rows
 */
export function findForcedRectangles(problem: CoverProblem): { forced: Row[][]; left: Row[] } {
  const classes = buildRowClasses(problem).map(({ rows, columns }) => ({
    rows,
    columns: [...columns.keys()],
    soleColumns: findWholeColumns(problem, rows[0] ?? 0) === null ? [] : findSoleColumns(columns),
  }))
  const takers = new Map<Column, Set<number>>()
  for (const [i, { columns }] of classes.entries()) {
    for (const column of columns) {
      const known = takers.get(column)
      if (known === undefined) takers.set(column, new Set([i]))
      else known.add(i)
    }
  }
  const covered = new Set<number>()
  const queue = classes.map((_, i) => i)
  for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
    const own = classes[i]
    if (
      own === undefined ||
      covered.has(i) ||
      !own.soleColumns.some((column) => takers.get(column)?.size === 1)
    )
      continue
    covered.add(i)
    for (const column of own.columns) {
      const others = takers.get(column)
      others?.delete(i)
      if (others?.size === 1) append(queue, others)
    }
  }
  return {
    forced: classes.flatMap(({ rows }, i) =>
      covered.has(i) ? chunkRows(rows, problem.width) : [],
    ),
    left: classes.flatMap(({ rows }, i) => (covered.has(i) ? [] : rows)).toSorted((a, b) => a - b),
  }
}

/** Finds the columns that are the only one for some cell. */
function findSoleColumns(columns: Map<Column, Cell[]>): Column[] {
  const coveringColumns = new Map<Cell, number>()
  for (const cells of columns.values())
    for (const cell of cells) coveringColumns.set(cell, (coveringColumns.get(cell) ?? 0) + 1)
  return [...columns].flatMap(([column, cells]) =>
    cells.some((cell) => coveringColumns.get(cell) === 1) ? [column] : [],
  )
}
