/** Rows from `first` up to, not including, `end`. */
interface RowWindow {
  first: number
  end: number
}

/** Rows that are rendered above and below the visible ones. */
const spareRows = 8

/** Computes the rows to render of a scrolled list; heights and `top` are pixels. */
export function computeWindow(
  top: number,
  height: number,
  rowHeight: number,
  count: number,
): RowWindow {
  const first = Math.floor(Math.max(0, top) / rowHeight) - spareRows
  const end = Math.ceil((Math.max(0, top) + height) / rowHeight) + spareRows
  return { first: clamp(first, count), end: clamp(end, count) }
}

/** Computes the scroll position at which a row is visible below a header; unchanged if it is. */
export function scrollToRow(
  row: number,
  top: number,
  height: number,
  rowHeight: number,
  headerHeight: number,
): number {
  const [from, to] = [row * rowHeight, (row + 1) * rowHeight]
  if (from < top) return from
  return to > top + height - headerHeight ? to - height + headerHeight : top
}

/** Limits a number to a range from 0. */
export function clamp(value: number, max: number): number {
  return Math.min(Math.max(value, 0), max)
}

/** A cell of the matrix by its row and column. */
export interface Position {
  row: number
  column: number
}

/**
 * Computes the cell that a key moves to, as in a grid of ARIA: Home and End in the row, with
 * control in the grid; `page` rows for PageUp and PageDown. Null for another key.
 */
export function moveCell(
  { row, column }: Position,
  key: string,
  hasControl: boolean,
  { rows, columns }: { rows: number; columns: number },
  page: number,
): Position | null {
  const steps: Record<string, Position> = {
    ArrowUp: { row: row - 1, column },
    ArrowDown: { row: row + 1, column },
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    PageUp: { row: row - Math.max(1, page), column },
    PageDown: { row: row + Math.max(1, page), column },
    Home: { row: hasControl ? 0 : row, column: 0 },
    End: { row: hasControl ? rows : row, column: columns },
  }
  const next = Object.hasOwn(steps, key) ? steps[key] : undefined
  if (next === undefined || rows === 0 || columns === 0) return null
  return { row: clamp(next.row, rows - 1), column: clamp(next.column, columns - 1) }
}
