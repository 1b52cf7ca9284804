import type { Cell, Column, CoverProblem, Rectangle, Row } from './cover-problem.ts'

/** A part of a cover problem with numbers of its own. */
export interface Subproblem {
  problem: CoverProblem
  /** A rectangle of the part in the numbers of the whole. */
  toOuter(rectangle: Rectangle): Rectangle
  /** What the part has of a rectangle of the whole, in its own numbers. */
  toInner(rectangle: Rectangle): Rectangle
}

/** Cuts out the part that has only these rows; all of a problem is the problem itself. */
export function cutRows(problem: CoverProblem, rows: Row[]): Subproblem {
  if (rows.length < problem.rows.length) return cutSubproblem(problem, rows, () => true)
  return { problem, toOuter: (rectangle) => rectangle, toInner: (rectangle) => rectangle }
}

/**
 * Cuts out the part of a problem that has only these rows and has to cover only these of their
 * cells. Columns of which nothing is wanted in any row are left out; in others a row may cover
 * nothing.
 */
export function cutSubproblem(
  problem: CoverProblem,
  rows: Row[],
  wanted: (cell: Cell) => boolean,
): Subproblem {
  const cellOf = new Map<Cell, Cell>()
  const needed = rows.map((row) => {
    const own = [...(problem.rows[row] ?? [])]
    return own.map(([column, cells]): [Column, Cell[]] => [column, cells.filter(wanted)])
  })
  const used = [
    ...new Set(
      needed.flatMap((own) => own.flatMap(([column, cells]) => (cells.length > 0 ? [column] : []))),
    ),
  ].toSorted((a, b) => a - b)
  const columnOf = new Map(used.map((column, i): [Column, Column] => [column, i]))
  const renumbered = needed.map((own) => {
    const entries = own.flatMap(([column, cells]): [Column, Cell[]][] => {
      const number = columnOf.get(column)
      return number === undefined ? [] : [[number, cells.map((cell) => numberOf(cellOf, cell))]]
    })
    return new Map(entries)
  })
  const rowOf = new Map(rows.map((row, i) => [row, i]))
  return {
    problem: {
      width: problem.width,
      columns: used.map((column) => problem.columns[column] ?? { item: 0, mode: 0 }),
      rows: renumbered,
      cells: cellOf.size,
    },
    toOuter: (rectangle) => ({
      rows: rectangle.rows.map((row) => rows[row] ?? 0),
      columns: rectangle.columns.map((column) => used[column] ?? 0),
    }),
    toInner: (rectangle) => ({
      rows: rectangle.rows.flatMap((row) => rowOf.get(row) ?? []),
      columns: rectangle.columns.flatMap((column) => columnOf.get(column) ?? []),
    }),
  }
}

function numberOf(numbers: Map<number, number>, value: number): number {
  const known = numbers.get(value)
  if (known !== undefined) return known
  numbers.set(value, numbers.size)
  return numbers.size - 1
}
