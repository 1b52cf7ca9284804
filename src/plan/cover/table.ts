import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'

/** Cover problem as a table: look-ups by row and column need no hashing and no allocation. */
export interface Table {
  problem: CoverProblem
  /** Row × column → entry; entry 0, for a column that the row does not take, covers nothing. */
  entry: Int32Array
  /** Entry → index of its first cell in `cells`; the cells end at those of the next entry. */
  begin: Int32Array
  cells: Int32Array
  /** Row → its columns, ascending. */
  columnsByRow: Int32Array[]
  rowByCell: Int32Array
  /** Column → the rows that take it. */
  takers: Row[][]
  /** Cell → the columns that cover it. */
  coveredBy: Column[][]
  /**
   * Column → its item, and its alternative of the item: a whole value, or all parts of one mode.
   */
  itemByColumn: Int32Array
  alternativeByColumn: Int32Array
  /** Whether any item has several alternatives, which exclude each other in a rectangle. */
  hasAlternatives: boolean
  /** Buffers of `pickAlternatives`: worth of each alternative, best alternative of each item. */
  worths: Float64Array
  best: Int32Array
}

export function buildTable(problem: CoverProblem): Table {
  const width = problem.columns.length
  const entries = problem.rows.reduce((sum, row) => sum + row.size, 0)
  const entry = new Int32Array(problem.rows.length * width)
  const begin = new Int32Array(entries + 2)
  const flat: Cell[] = []
  const takers: Row[][] = problem.columns.map(() => [])
  const coveredBy: Column[][] = Array.from({ length: problem.cells }, () => [])
  const rowByCell = new Int32Array(problem.cells)
  let last = 0
  const columnsByRow = problem.rows.map((columns, row) => {
    for (const [column, cells] of columns) {
      entry[row * width + column] = ++last
      for (const cell of cells) {
        flat.push(cell)
        coveredBy[cell]?.push(column)
        rowByCell[cell] = row
      }
      begin[last + 1] = flat.length
      takers[column]?.push(row)
    }
    return Int32Array.from(columns.keys()).toSorted()
  })
  const alternatives = new Map<string, number>()
  const alternativeByColumn = problem.columns.map(({ item, mode }, column) => {
    const name = mode === 0 ? `${column}` : `${item} ${mode}`
    return (
      alternatives.get(name) ?? (alternatives.set(name, alternatives.size), alternatives.size - 1)
    )
  })
  return {
    problem,
    entry,
    begin,
    cells: Int32Array.from(flat),
    columnsByRow,
    rowByCell,
    takers,
    coveredBy,
    itemByColumn: Int32Array.from(problem.columns, ({ item }) => item),
    alternativeByColumn: Int32Array.from(alternativeByColumn),
    hasAlternatives:
      coveredBy.some((columns) => columns.length > 1) ||
      problem.columns.some((kind) => kind.mode !== 0),
    worths: new Float64Array(alternatives.size),
    best: new Int32Array(1 + problem.columns.reduce((max, { item }) => Math.max(max, item), 0)),
  }
}

/** Finds the entry of a row and a column; 0 if the row does not take the column. */
export function findEntry({ problem, entry }: Table, row: Row, column: Column): number {
  return entry[row * problem.columns.length + column] ?? 0
}

/** Finds the columns that all of these rows take, of each item the alternative with most worth. */
export function findSharedColumns(
  table: Table,
  rows: Row[],
  computeWorth: (row: Row, column: Column) => number,
): Column[] {
  const [first, ...others] = rows
  if (first === undefined) return []
  const shared: Column[] = []
  for (const column of table.columnsByRow[first] ?? []) {
    if (others.every((row) => findEntry(table, row, column) > 0)) shared.push(column)
  }
  return table.hasAlternatives ? pickAlternatives(table, rows, shared, computeWorth) : shared
}

/** Picks of each item the alternative with most worth: alternatives exclude each other. */
function pickAlternatives(
  table: Table,
  rows: Row[],
  columns: Column[],
  computeWorth: (row: Row, column: Column) => number,
): Column[] {
  const { itemByColumn, alternativeByColumn, worths, best } = table
  for (const column of columns) {
    worths[alternativeByColumn[column] ?? 0] = 0
    best[itemByColumn[column] ?? 0] = -1
  }
  for (const column of columns) {
    const [item, alternative] = [itemByColumn[column] ?? 0, alternativeByColumn[column] ?? 0]
    let sum = worths[alternative] ?? 0
    for (const row of rows) sum += computeWorth(row, column)
    worths[alternative] = sum
    const known = best[item] ?? -1
    if (known < 0 || sum > (worths[known] ?? 0)) best[item] = alternative
  }
  return columns.filter((column) => best[itemByColumn[column] ?? 0] === alternativeByColumn[column])
}
