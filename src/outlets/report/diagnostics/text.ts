import {
  countProblems,
  compareDiagnostics,
  type Diagnostic,
  type Place,
} from '../../../core/model/problem.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'
import { measureWidth, splitGraphemes } from '../text/display-width.ts'

/** Style of diagnostics as text. */
export interface TextStyle {
  /** Finds the first source line of a place; null if the file can't be loaded any more. */
  findLine(this: void, place: Place): string | null
  paint: Paint
  /** Width of the terminal; Infinity disables wrapping and truncation. */
  columns: number
}

const indent = '  '

/**
 * Formats diagnostics as text, by file and line: `file:line:column  error  summary`, the detail,
 * the source line with carets under the range, related places the same way, and the totals. Empty
 * without diagnostics. Control characters of files are escaped.
 */
export function formatDiagnosticsText(
  diagnostics: readonly Diagnostic[],
  style: TextStyle,
): string {
  if (diagnostics.length === 0) return ''
  const blocks = diagnostics
    .toSorted(compareDiagnostics)
    .map((diagnostic) => formatBlock(diagnostic, style))
  return `${[...blocks, style.paint.bold(formatCounts(diagnostics))].join('\n\n')}\n`
}

function formatBlock(diagnostic: Diagnostic, style: TextStyle): string {
  const { paint, columns } = style
  // A line with a value that may be a secret is not shown.
  const frame = diagnostic.code === 'secret-suspected' ? () => [] : formatFrames
  const mark = { error: paint.red, warning: paint.yellow, note: paint.cyan }[diagnostic.severity]
  return [
    `${paint.bold(formatPlace(diagnostic))}  ${mark(diagnostic.severity)}  ` +
      escapeInvisible(diagnostic.summary),
    ...(diagnostic.detail === ''
      ? []
      : [wrap(escapeInvisible(diagnostic.detail), columns, indent)]),
    ...frame(diagnostic, style, mark),
    ...(diagnostic.related ?? []).flatMap((related) => [
      `${indent}${paint.bold(formatPlace(related))}  ${escapeInvisible(related.message)}`,
      // The lines of many manifests that use a profile would hide the line to correct.
      ...(diagnostic.count === undefined ? frame(related, style, paint.cyan) : []),
    ]),
  ].join('\n')
}

function formatPlace(place: Place): string {
  return `${escapeInvisible(place.file)}:${place.line}:${place.column}`
}

function formatFrames(
  place: Place,
  { findLine, paint, columns }: TextStyle,
  mark: (text: string) => string,
): string[] {
  const line = findLine(place)
  return line === null ? [] : [formatCodeFrame(place, line, { paint, columns, mark })]
}

/** Formats `2 errors, 1 warning, 1 note in 3 files`. */
function formatCounts(diagnostics: readonly Diagnostic[]): string {
  const files = new Set(diagnostics.map((diagnostic) => diagnostic.file)).size
  const found = (['error', 'warning', 'note'] as const).flatMap((severity) => {
    const count = countProblems(diagnostics.filter((each) => each.severity === severity))
    return count === 0 ? [] : [pluralize(count, severity)]
  })
  return `${found.join(', ')} in ${pluralize(files, 'file')}`
}

/** Style of a code frame. */
interface FrameStyle {
  paint: Paint
  /** Width of the terminal; less than 24 counts as 24. */
  columns: number
  /** Colour of the carets. */
  mark(this: void, text: string): string
}

/** Unbreakable part of the line: a grapheme as printed. */
interface Cell {
  /** Start in the line, in UTF-16 units from 0. */
  from: number
  to: number
  shown: string
  /** Start on the screen, in columns from 0. */
  x: number
  width: number
}

const tabStop = 4
const minColumns = 24
const minRoom = 12
/** Maximum width, also without a terminal. */
const maxColumns = 160
/** Maximum characters on each side of the start of a range. */
const maxReach = 400

/**
 * Formats the source line of a place with its number, and carets under the range; both fit into the
 * columns. A range over several lines shows its first line. A long line is truncated around the
 * carets, with `…` for omitted text.
 */
export function formatCodeFrame(
  place: Place,
  line: string,
  { paint, columns, mark }: FrameStyle,
): string {
  const gutter = `${indent}${place.line} | `
  const room = Math.max(
    minRoom,
    Math.max(minColumns, Math.min(columns, maxColumns)) - gutter.length,
  )
  const { text, from, to } = extractNear(place, line.replace(/\r?\n?$/, ''))
  const cells = splitCells(from === text.length ? `${text} ` : text)
  const marked = cells.filter((cell) => cell.to > from && cell.from < Math.max(to, from + 1))

  const shown = selectCells(cells, marked[0]?.x ?? 0, findEnd(marked), room)
  const kept = marked.filter(
    (cell) => cell.x >= shown.x && cell.x + cell.width <= findEnd(shown.cells),
  )
  const left = (kept[0]?.x ?? shown.x) - shown.x + shown.before.length
  const carets = '^'.repeat(Math.max(1, findEnd(kept) - (kept[0]?.x ?? 0)))
  const source = (
    shown.before +
    shown.cells.map((cell) => cell.shown).join('') +
    shown.after
  ).trimEnd()
  const below = `${' '.repeat(gutter.length - 2)}| `
  return (
    `${`${paint.dim(gutter)}${source}`.trimEnd()}\n${paint.dim(below)}${' '.repeat(left)}` +
    mark(carets)
  )
}

/**
 * Extracts the part of a line around a range, to bound the cost of a huge line. Offsets count from
 * 0.
 */
function extractNear(place: Place, line: string): { text: string; from: number; to: number } {
  const from = Math.min(place.column - 1, line.length)
  const to = place.endLine > place.line ? line.length : place.endColumn - 1
  const start = from <= maxReach ? 0 : from - maxReach
  const before = start > 0 ? '…' : ''
  const after = line.length - from > maxReach ? '…' : ''
  const text = before + line.slice(start, from + maxReach) + after
  const moved = before.length - start
  return { text, from: from + moved, to: Math.min(to + moved, text.length) }
}

function splitCells(text: string): Cell[] {
  const cells: Cell[] = []
  let from = 0
  let x = 0
  for (const part of splitGraphemes(text).flatMap(splitWide)) {
    const shown = part === '\t' ? ' '.repeat(tabStop - (x % tabStop)) : escapeInvisible(part)
    const width = measureWidth(shown)
    cells.push({ from, to: from + part.length, shown, x, width })
    from += part.length
    x += width
  }
  return cells
}

/** Splits a grapheme wider than two columns (escapes, malicious input) into its characters. */
function splitWide(grapheme: string): string[] {
  return measureWidth(escapeInvisible(grapheme)) > 2 ? Array.from(grapheme) : [grapheme]
}

/** Selects the cells around the carets that fit into `room` columns. */
function selectCells(
  cells: Cell[],
  start: number,
  end: number,
  room: number,
): { before: string; after: string; cells: Cell[]; x: number } {
  const total = findEnd(cells)
  if (total <= room) return { before: '', after: '', cells, x: 0 }
  // The carets are a third from the left, or further right near the end of the line.
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

function findEnd(cells: Cell[]): number {
  const last = cells.at(-1)
  return last === undefined ? 0 : last.x + last.width
}
