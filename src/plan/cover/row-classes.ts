import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'

/** Rows that take the same columns in the same way: for a bound they are one row, so many times. */
export interface RowClass {
  rows: Row[]
  /** For each column the cells that it covers, counted within the class. */
  columns: Map<Column, Cell[]>
  cells: number
}

/**
 * All rows of a problem in classes, by the first of each; cells are numbered anew within a class.
 */
export function buildRowClasses({ rows }: CoverProblem): RowClass[] {
  const classes = new Map<string, RowClass>()
  for (const [row, columns] of rows.entries()) {
    const local = new Map<Cell, Cell>()
    const own = new Map<Column, Cell[]>()
    for (const [column, cells] of columns) {
      own.set(
        column,
        cells.map((cell) => {
          const known = local.get(cell) ?? local.size
          local.set(cell, known)
          return known
        }),
      )
    }
    const key = JSON.stringify([...own])
    const found = classes.get(key)
    if (found === undefined) classes.set(key, { rows: [row], columns: own, cells: local.size })
    else found.rows.push(row)
  }
  return [...classes.values()]
}

/** Columns that are the only way for every row that takes them, with the number of those rows. */
export function findIrreplaceableColumns(classes: RowClass[]): Map<Column, number> {
  const rows = new Map<Column, number>()
  const replaceable = new Set<Column>()
  for (const each of classes) {
    const ways = new Map<Cell, number>()
    for (const cells of each.columns.values())
      for (const cell of cells) ways.set(cell, (ways.get(cell) ?? 0) + 1)
    for (const [column, cells] of each.columns) {
      rows.set(column, (rows.get(column) ?? 0) + each.rows.length)
      if (cells.some((cell) => (ways.get(cell) ?? 0) > 1)) replaceable.add(column)
    }
  }
  for (const column of replaceable) rows.delete(column)
  return rows
}
