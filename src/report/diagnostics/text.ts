import { compareDiagnostics, type Diagnostic, type Place } from '../../model/problem.ts'
import { pluralize } from '../../model/words.ts'
import { formatCodeFrame } from './code-frame.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible, escapeInvisibleInLines } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

/** How diagnostics are shown to people. */
export interface TextStyle {
  /** The line that a place begins in, or null where the file can't be read any more. */
  findLine(this: void, place: Place): string | null
  paint: Paint
  /** Width of the terminal; Infinity where nothing is to be wrapped or cut. */
  columns: number
}

const indent = '  '

/**
 * Diagnostics for people, by file and line: `file:line:column  error  summary`, the detail, the
 * line with carets under the range, related places the same way, and at the end how many there are.
 * Empty without diagnostics. Nothing from a file can drive the terminal.
 */
export function formatDiagnosticsText(
  diagnostics: readonly Diagnostic[],
  style: TextStyle,
): string {
  if (diagnostics.length === 0) return ''
  const blocks = diagnostics
    .toSorted(compareDiagnostics)
    .map((diagnostic) => block(diagnostic, style))
  return `${[...blocks, style.paint.bold(counts(diagnostics))].join('\n\n')}\n`
}

function block(diagnostic: Diagnostic, style: TextStyle): string {
  const { paint, columns } = style
  const mark = diagnostic.severity === 'error' ? paint.red : paint.yellow
  return [
    `${paint.bold(at(diagnostic))}  ${mark(diagnostic.severity)}  ${escapeInvisible(diagnostic.summary)}`,
    ...(diagnostic.detail === ''
      ? []
      : [wrap(escapeInvisibleInLines(diagnostic.detail), columns, indent)]),
    ...frame(diagnostic, style, mark),
    ...(diagnostic.related ?? []).flatMap((related) => [
      `${indent}${paint.bold(at(related))}  ${escapeInvisible(related.message)}`,
      ...frame(related, style, paint.cyan),
    ]),
  ].join('\n')
}

function at(place: Place): string {
  return `${escapeInvisible(place.file)}:${place.line}:${place.column}`
}

function frame(
  place: Place,
  { findLine, paint, columns }: TextStyle,
  mark: (text: string) => string,
): string[] {
  const line = findLine(place)
  return line === null ? [] : [formatCodeFrame(place, line, { paint, columns, mark })]
}

/** `2 errors, 1 warning in 3 files`. */
function counts(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length
  const warnings = diagnostics.length - errors
  const files = new Set(diagnostics.map((diagnostic) => diagnostic.file)).size
  const found = [
    ...(errors === 0 ? [] : [pluralize(errors, 'error')]),
    ...(warnings === 0 ? [] : [pluralize(warnings, 'warning')]),
  ]
  return `${found.join(', ')} in ${pluralize(files, 'file')}`
}
