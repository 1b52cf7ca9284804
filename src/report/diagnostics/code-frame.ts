import type { Place } from '../../model/problem.ts'
import type { Paint } from '../text/paint.ts'
import { measureWidth, splitGraphemes } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** What a code frame is drawn with. */
export interface FrameStyle {
  paint: Paint
  /** Width of the terminal; less than 24 counts as 24. */
  columns: number
  /** Colour of the carets. */
  mark(this: void, text: string): string
}

/** A part of the line that is never cut: a grapheme as it is shown. */
interface Cell {
  /** Where it stands in the line, in UTF-16 units from 0. */
  from: number
  to: number
  shown: string
  /** Where it stands on the screen, in columns from 0. */
  x: number
  width: number
}

const indent = '  '
const tabStop = 4
const leastColumns = 24
const leastRoom = 12
/** Characters on each side of a range's beginning that are looked at. */
const reach = 400

/**
 * The line of a place with its number, and below it carets under the range; both fit into the
 * columns. Of a range over several lines the first is shown. A long line is cut around the carets,
 * with `…` where something is missing.
 */
export function formatCodeFrame(
  place: Place,
  line: string,
  { paint, columns, mark }: FrameStyle,
): string {
  const gutter = `${indent}${place.line} | `
  const room = Math.max(leastRoom, Math.max(leastColumns, columns) - gutter.length)
  const { text, from, to } = near(place, line.replace(/\r?\n?$/, ''))
  const cells = cellsOf(from === text.length ? `${text} ` : text)
  const marked = cells.filter((cell) => cell.to > from && cell.from < Math.max(to, from + 1))

  const shown = cut(cells, marked[0]?.x ?? 0, endOf(marked), room)
  const kept = marked.filter(
    (cell) => cell.x >= shown.x && cell.x + cell.width <= endOf(shown.cells),
  )
  const left = (kept[0]?.x ?? shown.x) - shown.x + shown.before.length
  const carets = '^'.repeat(Math.max(1, endOf(kept) - (kept[0]?.x ?? 0)))
  const source = (
    shown.before +
    shown.cells.map((cell) => cell.shown).join('') +
    shown.after
  ).trimEnd()
  const below = `${' '.repeat(gutter.length - 2)}| `
  return `${`${paint.dim(gutter)}${source}`.trimEnd()}\n${paint.dim(below)}${' '.repeat(left)}${mark(carets)}`
}

/**
 * The part of a line around a range, so that a line of megabytes costs no more than a long one.
 * Offsets count from 0.
 */
function near(place: Place, line: string): { text: string; from: number; to: number } {
  const from = Math.min(place.column - 1, line.length)
  const to = place.endLine > place.line ? line.length : place.endColumn - 1
  const start = from <= reach ? 0 : from - reach
  const before = start > 0 ? '…' : ''
  const after = line.length - from > reach ? '…' : ''
  const text = before + line.slice(start, from + reach) + after
  const moved = before.length - start
  return { text, from: from + moved, to: Math.min(to + moved, text.length) }
}

function cellsOf(text: string): Cell[] {
  const cells: Cell[] = []
  let from = 0
  let x = 0
  for (const part of splitGraphemes(text).flatMap(atoms)) {
    const shown = part === '\t' ? ' '.repeat(tabStop - (x % tabStop)) : escapeInvisible(part)
    const width = measureWidth(shown)
    cells.push({ from, to: from + part.length, shown, x, width })
    from += part.length
    x += width
  }
  return cells
}

/**
 * A grapheme that is shown wider than two columns, for its escapes or by malice, falls into its
 * characters.
 */
function atoms(grapheme: string): string[] {
  return measureWidth(escapeInvisible(grapheme)) > 2 ? Array.from(grapheme) : [grapheme]
}

/** The cells that are shown when the line has to fit into a room: those around the carets. */
function cut(
  cells: Cell[],
  start: number,
  end: number,
  room: number,
): { before: string; after: string; cells: Cell[]; x: number } {
  const total = endOf(cells)
  if (total <= room) return { before: '', after: '', cells, x: 0 }
  // The carets stand a third from the left, further right where the line ends before the room does.
  const left =
    end < room ? 0 : Math.max(0, Math.min(start - Math.floor(room / 3), total - room + 1))
  const first = cells.findIndex((cell) => cell.x >= left)
  const x = cells[first]?.x ?? 0
  const before = first > 0 ? '…' : ''
  const rest = cells.slice(first)
  if (total - x + before.length <= room) return { before, after: '', cells: rest, x }
  return {
    before,
    after: '…',
    cells: rest.filter((cell) => cell.x + cell.width - x <= room - before.length - 1),
    x,
  }
}

function endOf(cells: Cell[]): number {
  const last = cells.at(-1)
  return last === undefined ? 0 : last.x + last.width
}
