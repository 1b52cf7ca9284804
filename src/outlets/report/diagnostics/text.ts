import {
  countProblems,
  compareDiagnostics,
  type Diagnostic,
  type Place,
} from '../../../core/model/problem.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { formatCodeFrame } from './code-frame.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

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
