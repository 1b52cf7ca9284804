import type { Cell, Column, CoverProblem, Rectangle, Row } from './cover-problem.ts'

/** A part of a cover problem, with its own numbers of rows, columns and cells. */
export interface Subproblem {
  problem: CoverProblem
  /** Translates a rectangle of the subproblem into the numbers of the whole problem. */
  toOuter(rectangle: Rectangle): Rectangle
  /** Restricts a rectangle of the whole problem to the subproblem, in its numbers. */
  toInner(rectangle: Rectangle): Rectangle
}

/** Cuts the subproblem of these rows; that of all rows is the problem itself. */
export function cutRows(problem: CoverProblem, rows: Row[]): Subproblem {
  if (rows.length < problem.rows.length) return cutSubproblem(problem, rows, () => true)
  return { problem, toOuter: (rectangle) => rectangle, toInner: (rectangle) => rectangle }
}

/**
 * Cuts the subproblem of these rows with the cells that `isWanted` accepts. Columns without such a
 * cell are left out; a remaining column may have rows where it covers nothing.
 */
export function cutSubproblem(
  problem: CoverProblem,
  rows: Row[],
  isWanted: (cell: Cell) => boolean,
): Subproblem {
  const cellNumbers = new Map<Cell, Cell>()
  const needed = rows.map((row) => {
    const own = [...(problem.rows[row] ?? [])]
    return own.map(([column, cells]): [Column, Cell[]] => [column, cells.filter(isWanted)])
  })
  const used = [
    ...new Set(
      needed.flatMap((own) => own.flatMap(([column, cells]) => (cells.length > 0 ? [column] : []))),
    ),
  ].toSorted((a, b) => a - b)
  const columnNumbers = new Map(used.map((column, i): [Column, Column] => [column, i]))
  const renumbered = needed.map((own) => {
    const entries = own.flatMap(([column, cells]): [Column, Cell[]][] => {
      const number = columnNumbers.get(column)
      return number === undefined
        ? []
        : [[number, cells.map((cell) => assignNumber(cellNumbers, cell))]]
    })
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
