/** Number of a column: one form of one item, shared by all rows that take exactly this form. */
export type Column = number
/** Number of a row: a domain. */
export type Row = number
/** Number of a cell, which has to be covered: one need of one row, or one part of a need. */
export type Cell = number

/**
 * A biclique cover problem: cover all cells with as few rectangles as possible. A rectangle has at
 * most `width` rows (domains), and columns (forms of items) that all of these rows take. The
 * optimiser knows nothing of domains and items.
 */
export interface CoverProblem {
  width: number
  columns: ColumnKind[]
  /**
   * For each row: the columns that it takes, with the cells that each of them covers. At least one
   * column covers each cell.
   */
  rows: Map<Column, Cell[]>[]
  cells: number
}

/**
 * Kind of a column. Columns of one item exclude each other in a rectangle, except parts of a mode.
 */
export interface ColumnKind {
  item: number
  /** 0 for a whole value; from 1 for the parts of a value. */
  mode: number
}

/** Rows, and columns that all of them take. */
export interface Rectangle {
  rows: Row[]
  columns: Column[]
}

/** Tests whether a rectangle may have both columns: alternatives of an item exclude each other. */
export function isCompatible(kinds: ColumnKind[], a: Column, b: Column): boolean {
  const [one, other] = [kinds[a], kinds[b]]
  return one?.item !== other?.item || (one?.mode === other?.mode && one?.mode !== 0)
}
