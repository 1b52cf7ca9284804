import { clamp } from './window.ts'

/** A cell of the matrix by its row and column. */
interface Position {
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
  return { row: clamp(next.row, 0, rows - 1), column: clamp(next.column, 0, columns - 1) }
}
