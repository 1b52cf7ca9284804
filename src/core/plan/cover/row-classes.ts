import type { Cell, Column, CoverProblem, Row } from './cover-problem.ts'

/** Rows that take the same columns for the same cells; a bound treats them as one row. */
export interface RowClass {
  rows: Row[]
  /** Column → cells that it covers, numbered within the class. */
  columns: Map<Column, Cell[]>
  cells: number
}

/** Groups all rows of a problem into classes, in the order of their first rows. */
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

/**
 * Finds columns that no other column can replace in any row; returns column → number of its rows.
 */
export function findIrreplaceableColumns(classes: RowClass[]): Map<Column, number> {
  const rows = new Map<Column, number>()
  const replaceable = new Set<Column>()
  for (const each of classes) {
    const coveringColumns = countCoveringColumns(each.columns)
    for (const [column, cells] of each.columns) {
      rows.set(column, (rows.get(column) ?? 0) + each.rows.length)
      if (cells.some((cell) => (coveringColumns.get(cell) ?? 0) > 1)) replaceable.add(column)
    }
  }
  for (const column of replaceable) rows.delete(column)
  return rows
}

/** Counts for each cell of a row the columns that cover it. */
export function countCoveringColumns(columns: ReadonlyMap<Column, Cell[]>): Map<Cell, number> {
  const counts = new Map<Cell, number>()
  for (const cells of columns.values())
    for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1)
  return counts
}
