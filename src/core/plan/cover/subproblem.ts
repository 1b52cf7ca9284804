import type { Cell, Column, CoverProblem, Rectangle, Row } from './cover-problem.ts'

/** A part of a cover problem, with its own numbers of rows, columns and cells. */
export interface Subproblem {
  problem: CoverProblem
  /** Translates a rectangle of the subproblem into the numbers of the whole problem. */
  toOuter(rectangle: Rectangle): Rectangle
  /** Restricts a rectangle of the whole problem to the subproblem, in its numbers. */
  toInner(rectangle: Rectangle): Rectangle
}

/**
 * Cuts the subproblem of these rows, without the columns that none of them takes. That of all rows
 * is the problem itself.
 */
export function cutRows(problem: CoverProblem, rows: Row[]): Subproblem {
  if (rows.length === problem.rows.length)
    return { problem, toOuter: (rectangle) => rectangle, toInner: (rectangle) => rectangle }
  const cellNumbers = new Map<Cell, Cell>()
  const taken = rows.map((row) => [...(problem.rows[row] ?? [])])
  const used = [...new Set(taken.flatMap((own) => own.map(([column]) => column)))].toSorted(
    (a, b) => a - b,
  )
  const columnNumbers = new Map(used.map((column, i): [Column, Column] => [column, i]))
  const renumbered = taken.map((own) => {
    const entries = own.map(([column, cells]): [Column, Cell[]] => [
      columnNumbers.get(column) ?? 0,
      cells.map((cell) => assignNumber(cellNumbers, cell)),
    ])
    return new Map(entries)
  })
  const rowNumbers = new Map(rows.map((row, i) => [row, i]))
  return {
    problem: {
      width: problem.width,
      columns: used.map((column) => problem.columns[column] ?? { item: 0, mode: 0 }),
      rows: renumbered,
      cells: cellNumbers.size,
    },
    toOuter: (rectangle) => ({
      rows: rectangle.rows.map((row) => rows[row] ?? 0),
      columns: rectangle.columns.map((column) => used[column] ?? 0),
    }),
    toInner: (rectangle) => ({
      rows: rectangle.rows.flatMap((row) => rowNumbers.get(row) ?? []),
      columns: rectangle.columns.flatMap((column) => columnNumbers.get(column) ?? []),
    }),
  }
}

function assignNumber(numbers: Map<number, number>, value: number): number {
  const known = numbers.get(value)
  if (known !== undefined) return known
  numbers.set(value, numbers.size)
  return numbers.size - 1
}
