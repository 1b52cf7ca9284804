import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'

/** Number of a row's column: its place among all columns of all rows. */
export type Entry = number

/**
 * Cover problem in flat arrays, for problems too large for a table of rows × columns. The entries
 * of a row stand together, by ascending column.
 */
export interface FlatProblem {
  width: number
  cells: number
  /** Row → its first entry; one more at the end. */
  rowStart: Int32Array
  columnOf: Int32Array
  /** Entry → where, in `cellList`, what it covers begins; one more at the end. */
  cellStart: Int32Array
  cellList: Int32Array
  rowOfCell: Int32Array
  /** Column → the rows that take it. */
  takers: Row[][]
  /** Cell → the columns that cover it. */
  coveredBy: Column[][]
  itemOf: Int32Array
  /** Column → its way of giving the item: whole values exclude all else, parts other modes. */
  alternativeOf: Int32Array
  /** Whether any item can go in rival ways, so that a choice has to be made. */
  hasAlternatives: boolean
}

/** Lays a cover problem out in flat arrays. */
export function flatten({ width, columns, rows, cells }: CoverProblem): FlatProblem {
  const entries = rows.reduce((sum, row) => sum + row.size, 0)
  const rowStart = new Int32Array(rows.length + 1)
  const columnOf = new Int32Array(entries)
  const cellStart = new Int32Array(entries + 1)
  const cellList: Cell[] = []
  const rowOfCell = new Int32Array(cells)
  const takers: Row[][] = columns.map(() => [])
  const coveredBy: Column[][] = Array.from({ length: cells }, () => [])
  let entry = 0
  for (const [row, own] of rows.entries()) {
    for (const column of [...own.keys()].toSorted((a, b) => a - b)) {
      columnOf[entry] = column
      takers[column]?.push(row)
      for (const cell of own.get(column) ?? []) {
        cellList.push(cell)
        coveredBy[cell]?.push(column)
        rowOfCell[cell] = row
      }
      cellStart[++entry] = cellList.length
    }
    rowStart[row + 1] = entry
  }
  const ways = new Map<string, number>()
  const wayOf = columns.map(({ item, mode }, column) => {
    const name = mode === 0 ? `${column}` : `${item} ${mode}`
    const way = ways.get(name) ?? ways.size
    ways.set(name, way)
    return way
  })
  return {
    width,
    cells,
    rowStart,
    columnOf,
    cellStart,
    cellList: Int32Array.from(cellList),
    rowOfCell,
    takers,
    coveredBy,
    itemOf: Int32Array.from(columns, ({ item }) => item),
    alternativeOf: Int32Array.from(wayOf),
    hasAlternatives:
      columns.some(({ mode }) => mode !== 0) || coveredBy.some((own) => own.length > 1),
  }
}

/** Finds the entry of a row and a column; -1 where the row does not take the column. */
export function findEntry({ rowStart, columnOf }: FlatProblem, row: Row, column: Column): Entry {
  let low = rowStart[row] ?? 0
  let high = rowStart[row + 1] ?? 0
  while (high - low > 8) {
    const middle = (low + high) >> 1
    if ((columnOf[middle] ?? 0) <= column) low = middle
    else high = middle
  }
  for (let entry = low; entry < high; entry++) if (columnOf[entry] === column) return entry
  return -1
}

/** Finds the columns that all of these rows take, ascending. */
export function findSharedColumns({ rowStart, columnOf }: FlatProblem, rows: Row[]): Column[] {
  const first = rows[0] ?? 0
  const shared: Column[] = []
  for (let i = rowStart[first] ?? 0; i < (rowStart[first + 1] ?? 0); i++) {
    shared.push(columnOf[i] ?? 0)
  }
  for (let k = 1; k < rows.length && shared.length > 0; k++) {
    const row = rows[k] ?? 0
    const end = rowStart[row + 1] ?? 0
    let entry = rowStart[row] ?? 0
    let kept = 0
    for (const column of shared) {
      while (entry < end && (columnOf[entry] ?? 0) < column) entry++
      if (entry < end && columnOf[entry] === column) shared[kept++] = column
    }
    shared.length = kept
  }
  return shared
}
