/** A column number: one form of one item, shared by all rows that can take exactly this. */
export type Column = number
export type Row = number
/** What has to be covered: one need of one row, or one part of it. */
export type Cell = number

/**
 * Rows (domains), columns (forms of items) and the cells that have to be covered by rectangles: at
 * most `width` rows × columns that all of them take. Nothing in here knows what a domain or an item
 * is.
 */
export interface CoverProblem {
  width: number
  columns: ColumnKind[]
  /**
   * For each row the columns that it takes, and which of its cells each of them covers. Each cell
   * is covered by one column at least.
   */
  rows: Map<Column, Cell[]>[]
  cells: number
}

/** Columns of one item exclude each other in a rectangle, except parts of one mode. */
export interface ColumnKind {
  item: number
  /** 0 is a whole value; parts of a value have a mode from 1. */
  mode: number
}

/** Some rows with columns that all of them take. */
export interface Rectangle {
  rows: Row[]
  columns: Column[]
}
