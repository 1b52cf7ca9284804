import { formatJson } from '../../core/model/json.ts'
import {
  CancelledError,
  type EdgewiseError,
  type ErrorCode,
} from '../../core/model/edgewise-error.ts'
import { formatDiagnosticsText } from '../../outlets/report/diagnostics/text.ts'
import { buildErrorJson } from '../../outlets/report/diagnostics/json.ts'
import type { Paint } from '../../outlets/report/text/paint.ts'
import {
  escapeInvisible,
  escapeInvisibleInLines,
} from '../../outlets/report/text/escape-invisible.ts'
import type { Io } from '../io.ts'
import { wrapForStderr } from './output.ts'

/** Errors whose message has lines of its own: guards, or the text of git or a program. */
const withLines: ReadonlySet<ErrorCode> = new Set(['guarded', 'not-observed', 'record-unreachable'])

/** Prints an error: message and hint on stderr, or with `--json` one object on stdout. */
export function printError(error: EdgewiseError, io: Io, json: boolean, paint: Paint): void {
  if (json) {
    io.out(formatJson(buildErrorJson(error)))
    return
  }
  const style = { findLine: () => null, paint, columns: io.errColumns }
  if (error.diagnostics.length > 0) io.err(`${formatDiagnosticsText(error.diagnostics, style)}\n`)
  const escape = withLines.has(error.code) ? escapeInvisibleInLines : escapeInvisible
  const isCancelled = error instanceof CancelledError
  const text = isCancelled
    ? `${escape(error.message)}.`
    : `${paint.red('error:')} ${escape(error.message)}`
  io.err(`${wrapForStderr(text, io)}\n`)
  if (error.hint !== '') io.err(`${wrapForStderr(escapeInvisibleInLines(error.hint), io)}\n`)
}
