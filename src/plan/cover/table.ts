import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'

/**
 * A cover problem laid out for speed: look-ups by row and column without hashing, and without
 * making anything.
 */
export interface Table {
  problem: CoverProblem
  /**
   * Row × column → entry; 0 is that of a column which the row does not take, and covers nothing.
   */
  entry: Int32Array
  /**
   * Entry → where, in `cells`, what it covers begins; it ends where that of the next entry begins.
   */
  begin: Int32Array
  cells: Int32Array
  /** Row → its columns, ascending. */
  columnsOf: Int32Array[]
  rowOf: Int32Array
  /** For each column the rows that take it. */
  takers: Row[][]
  /** For each cell the columns that cover it. */
  coveredBy: Column[][]
  /**
   * Column → its item, and its way of giving the item: whole values exclude all else of an item,
   * parts those of another mode.
   */
  itemOf: Int32Array
  alternativeOf: Int32Array
  /** Whether any item can go in rival ways, so that a choice has to be made. */
  hasAlternatives: boolean
  /** What a choice is worked out in: of each way its worth, of each item its best way. */
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
  const rowOf = new Int32Array(problem.cells)
  let last = 0
  const columnsOf = problem.rows.map((columns, row) => {
    for (const [column, cells] of columns) {
      entry[row * width + column] = ++last
      for (const cell of cells) {
        flat.push(cell)
        coveredBy[cell]?.push(column)
        rowOf[cell] = row
      }
      begin[last + 1] = flat.length
      takers[column]?.push(row)
    }
    return Int32Array.from(columns.keys()).toSorted()
  })
  const ways = new Map<string, number>()
  const wayOf = problem.columns.map(({ item, mode }, column) => {
    const name = mode === 0 ? `${column}` : `${item} ${mode}`
    return ways.get(name) ?? (ways.set(name, ways.size), ways.size - 1)
  })
  return {
    problem,
    entry,
    begin,
    cells: Int32Array.from(flat),
    columnsOf,
    rowOf,
    takers,
    coveredBy,
    itemOf: Int32Array.from(problem.columns, ({ item }) => item),
    alternativeOf: Int32Array.from(wayOf),
    hasAlternatives:
      coveredBy.some((columns) => columns.length > 1) ||
      problem.columns.some((kind) => kind.mode !== 0),
    worths: new Float64Array(ways.size),
    best: new Int32Array(1 + problem.columns.reduce((most, { item }) => Math.max(most, item), 0)),
  }
}

/** The entry of a row and a column; 0 where the row does not take the column. */
export function findEntry({ problem, entry }: Table, row: Row, column: Column): number {
  return entry[row * problem.columns.length + column] ?? 0
}

/**
 * The columns that all of these rows take. Of rival ways of one item that with the most `worth` is
 * left.
 */
export function findSharedColumns(
  table: Table,
  rows: Row[],
  worth: (row: Row, column: Column) => number,
): Column[] {
  const [first, ...others] = rows
  if (first === undefined) return []
  const shared: Column[] = []
  for (const column of table.columnsOf[first] ?? []) {
    if (others.every((row) => findEntry(table, row, column) > 0)) shared.push(column)
  }
  return table.hasAlternatives ? withoutRivals(table, rows, shared, worth) : shared
}

/** Columns of one item exclude each other, except parts of one mode. */
function withoutRivals(
  table: Table,
  rows: Row[],
  columns: Column[],
  worth: (row: Row, column: Column) => number,
): Column[] {
  const { itemOf, alternativeOf, worths, best } = table
  for (const column of columns) {
    worths[alternativeOf[column] ?? 0] = 0
    best[itemOf[column] ?? 0] = -1
  }
  for (const column of columns) {
    const [item, way] = [itemOf[column] ?? 0, alternativeOf[column] ?? 0]
    let sum = worths[way] ?? 0
    for (const row of rows) sum += worth(row, column)
    worths[way] = sum
    const known = best[item] ?? -1
    if (known < 0 || sum > (worths[known] ?? 0)) best[item] = way
  }
  return columns.filter((column) => best[itemOf[column] ?? 0] === alternativeOf[column])
}
