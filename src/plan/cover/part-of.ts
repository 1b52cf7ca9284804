import type { Cell, Column, CoverProblem, Rectangle, Row } from './cover-problem.ts'

/** A part of a cover problem with numbers of its own. */
export interface Part {
  problem: CoverProblem
  /** A rectangle of the part in the numbers of the whole. */
  outer(rectangle: Rectangle): Rectangle
  /** What the part has of a rectangle of the whole, in its own numbers. */
  inner(rectangle: Rectangle): Rectangle
}

/** The part of a problem that has only these rows and has to cover only these of their cells. */
export function partOf(problem: CoverProblem, rows: Row[], wanted: (cell: Cell) => boolean): Part {
  const columnOf = new Map<Column, Column>()
  const cellOf = new Map<Cell, Cell>()
  const needed: Map<Column, Cell[]>[] = rows.map((row) => {
    const own = new Map<Column, Cell[]>()
    for (const [column, cells] of problem.rows[row] ?? []) {
      const left = cells.filter(wanted)
      if (left.length > 0) own.set(column, left)
    }
    return own
  })
  const used = [...new Set(needed.flatMap((own) => [...own.keys()]))].toSorted((a, b) => a - b)
  for (const column of used) columnOf.set(column, columnOf.size)
  const renumbered = needed.map((own) => {
    const entries = [...own].map(([column, cells]): [Column, Cell[]] => [
      columnOf.get(column) ?? 0,
      cells.map((cell) => numberOf(cellOf, cell)),
    ])
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
    outer: (rectangle) => ({
      rows: rectangle.rows.map((row) => rows[row] ?? 0),
      columns: rectangle.columns.map((column) => used[column] ?? 0),
    }),
    inner: (rectangle) => ({
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
