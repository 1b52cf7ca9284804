import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'

/** A cover problem laid out for speed: look-ups by row and column without hashing. */
export interface Table {
  problem: CoverProblem
  /** Row × column → place in `spans`, or -1 where the row does not take the column. */
  place: Int32Array
  /** Begin and end, in `cells`, of what a row covers by a column. */
  spans: Int32Array
  cells: Int32Array
  /** Row → its columns, ascending. */
  columnsOf: Int32Array[]
  rowOf: Int32Array
  /** For each column the rows that take it. */
  takers: Row[][]
  /** For each cell the columns that cover it. */
  coveredBy: Column[][]
  /** Whether any item can go in rival ways, so that a choice has to be made. */
  rivals: boolean
}

export function tableOf(problem: CoverProblem): Table {
  const width = problem.columns.length
  const entries = problem.rows.reduce((sum, row) => sum + row.size, 0)
  const place = new Int32Array(problem.rows.length * width).fill(-1)
  const spans = new Int32Array(entries + 1)
  const flat: Cell[] = []
  const takers: Row[][] = problem.columns.map(() => [])
  const coveredBy: Column[][] = Array.from({ length: problem.cells }, () => [])
  const rowOf = new Int32Array(problem.cells)
  let entry = 0
  const columnsOf = problem.rows.map((columns, row) => {
    for (const [column, cells] of columns) {
      place[row * width + column] = entry++
      for (const cell of cells) {
        flat.push(cell)
        coveredBy[cell]?.push(column)
        rowOf[cell] = row
      }
      spans[entry] = flat.length
      takers[column]?.push(row)
    }
    return Int32Array.from(columns.keys()).toSorted()
  })
  const rivals = coveredBy.some((columns) => columns.length > 1) || problem.columns.some((kind) => kind.mode !== 0)
  return { problem, place, spans, cells: Int32Array.from(flat), columnsOf, rowOf, takers, coveredBy, rivals }
}

/** The cells that a row covers by a column; none where it does not take it. */
export function cellsOf({ problem, place, spans, cells }: Table, row: Row, column: Column): Int32Array {
  const entry = place[row * problem.columns.length + column] ?? -1
  return entry < 0 ? cells.subarray(0, 0) : cells.subarray(spans[entry], spans[entry + 1])
}

/** The columns that all of these rows take. Of rival ways of one item that with the most `worth` is left. */
export function sharedColumns(table: Table, rows: Row[], worth: (row: Row, column: Column) => number): Column[] {
  const { problem, place, columnsOf } = table
  const [first, ...others] = rows
  if (first === undefined) return []
  const shared: Column[] = []
  for (const column of columnsOf[first] ?? []) {
    if (others.every((row) => (place[row * problem.columns.length + column] ?? -1) >= 0)) shared.push(column)
  }
  return table.rivals ? withoutRivals(problem, rows, shared, worth) : shared
}

/** Columns of one item exclude each other, except parts of one mode. */
function withoutRivals(
  { columns: kinds }: CoverProblem,
  rows: Row[],
  columns: Column[],
  worth: (row: Row, column: Column) => number,
): Column[] {
  const way = (column: Column): number => (kinds[column]?.mode === 0 ? -1 - column : (kinds[column]?.mode ?? 0))
  const worths = new Map<string, number>()
  const best = new Map<number, { way: number; worth: number }>()
  for (const column of columns) {
    const item = kinds[column]?.item ?? -1
    const key = `${item} ${way(column)}`
    const sum = rows.reduce((total, row) => total + worth(row, column), worths.get(key) ?? 0)
    worths.set(key, sum)
    const known = best.get(item)
    if (known === undefined || known.way === way(column) || sum > known.worth) best.set(item, { way: way(column), worth: sum })
  }
  return columns.filter((column) => best.get(kinds[column]?.item ?? -1)?.way === way(column))
}
