import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'

/** Number of a pair of a row and a column that it takes, in the order of the rows. */
export type Entry = number

/**
 * Cover problem in flat arrays. The entries of a row are contiguous, by ascending column.
 */
export interface FlatProblem {
  width: number
  cells: number
  /** Row → its first entry; one extra element at the end. */
  rowStart: Int32Array
  columnByEntry: Int32Array
  /** Row × column → entry, or -1; null for a problem too large for it. */
  table: Int32Array | null
  /** Entry → index of its first cell in `cellList`; one extra element at the end. */
  cellStart: Int32Array
  cellList: Int32Array
  rowByCell: Int32Array
  /** Column → the rows that take it. */
  takers: Row[][]
  /** Cell → the columns that cover it. */
  coveredBy: Column[][]
  itemByColumn: Int32Array
  /** Column → alternative of its item: a whole value, or all parts of one mode. */
  alternativeByColumn: Int32Array
  /** Whether any item has several alternatives, which exclude each other in a rectangle. */
  hasAlternatives: boolean
}

/** Maximum number of pairs of a row and a column for a table of them. */
const maxTable = 2 ** 20

/** Copies a cover problem into flat arrays. */
export function flatten({ width, columns, rows, cells }: CoverProblem): FlatProblem {
  const entries = rows.reduce((sum, row) => sum + row.size, 0)
  const rowStart = new Int32Array(rows.length + 1)
  const columnByEntry = new Int32Array(entries)
  const cellStart = new Int32Array(entries + 1)
  const size = rows.length * columns.length
  const table = size > maxTable ? null : new Int32Array(size).fill(-1)
  const cellList: Cell[] = []
  const rowByCell = new Int32Array(cells)
  const takers: Row[][] = columns.map(() => [])
  const coveredBy: Column[][] = Array.from({ length: cells }, () => [])
  let entry = 0
  for (const [row, columnCells] of rows.entries()) {
    for (const column of [...columnCells.keys()].toSorted((a, b) => a - b)) {
      columnByEntry[entry] = column
      if (table !== null) table[row * columns.length + column] = entry
      takers[column]?.push(row)
      for (const cell of columnCells.get(column) ?? []) {
        cellList.push(cell)
        coveredBy[cell]?.push(column)
        rowByCell[cell] = row
      }
      cellStart[++entry] = cellList.length
    }
    rowStart[row + 1] = entry
  }
  const alternatives = new Map<string, number>()
  const alternativeByColumn = columns.map(({ item, mode }, column) => {
    const name = mode === 0 ? `${column}` : `${item} ${mode}`
    const alternative = alternatives.get(name) ?? alternatives.size
    alternatives.set(name, alternative)
    return alternative
  })
  return {
    width,
    cells,
    rowStart,
    columnByEntry,
    table,
    cellStart,
    cellList: Int32Array.from(cellList),
    rowByCell,
    takers,
    coveredBy,
    itemByColumn: Int32Array.from(columns, ({ item }) => item),
    alternativeByColumn: Int32Array.from(alternativeByColumn),
    hasAlternatives:
      columns.some(({ mode }) => mode !== 0) ||
      coveredBy.some((columnCells) => columnCells.length > 1),
  }
}

/** Finds the entry of a row and a column; -1 if the row does not take the column. */
export function findEntry(
  { rowStart, columnByEntry, table, takers }: FlatProblem,
  row: Row,
  column: Column,
): Entry {
  if (table !== null) return table[row * takers.length + column] ?? -1
  let low = rowStart[row] ?? 0
  let high = rowStart[row + 1] ?? 0
  while (high - low > 8) {
    const middle = (low + high) >> 1
    if ((columnByEntry[middle] ?? 0) <= column) low = middle
    else high = middle
  }
  for (let entry = low; entry < high; entry++) if (columnByEntry[entry] === column) return entry
  return -1
}

/** Finds the columns that all of these rows take, ascending. */
export function findSharedColumns({ rowStart, columnByEntry }: FlatProblem, rows: Row[]): Column[] {
  const first = rows[0] ?? 0
  const shared: Column[] = []
  for (let i = rowStart[first] ?? 0; i < (rowStart[first + 1] ?? 0); i++) {
    shared.push(columnByEntry[i] ?? 0)
  }
  for (let k = 1; k < rows.length && shared.length > 0; k++) {
    const row = rows[k] ?? 0
    const end = rowStart[row + 1] ?? 0
    let entry = rowStart[row] ?? 0
    let kept = 0
    for (const column of shared) {
      while (entry < end && (columnByEntry[entry] ?? 0) < column) entry++
      if (entry < end && columnByEntry[entry] === column) shared[kept++] = column
    }
    shared.length = kept
  }
  return shared
}

/** Picks columns that fit in one rectangle: of each item the alternative with most worth. */
export function pickAlternatives(
  { hasAlternatives, alternativeByColumn, itemByColumn }: FlatProblem,
  columns: Column[],
  computeWorth: (column: Column) => number,
): Column[] {
  if (!hasAlternatives) return columns
  const worthByAlternative = new Map<number, number>()
  for (const column of columns) {
    const alternative = alternativeByColumn[column] ?? 0
    worthByAlternative.set(
      alternative,
      (worthByAlternative.get(alternative) ?? 0) + computeWorth(column),
    )
  }
  const bestByItem = new Map<number, number>()
  for (const column of columns) {
    const [item, alternative] = [itemByColumn[column] ?? 0, alternativeByColumn[column] ?? 0]
    const known = bestByItem.get(item)
    if (
      known === undefined ||
      (worthByAlternative.get(alternative) ?? 0) > (worthByAlternative.get(known) ?? 0)
    ) {
      bestByItem.set(item, alternative)
    }
  }
  return columns.filter(
    (column) => bestByItem.get(itemByColumn[column] ?? 0) === alternativeByColumn[column],
  )
}
