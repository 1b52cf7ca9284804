/** Rows from `first` up to, not including, `end`. */
export interface RowWindow {
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
  return { first: clamp(first, 0, count), end: clamp(end, 0, count) }
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

/** Limits a number to a range. */
export function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}
