import type { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Json } from '../../model/json.ts'
import { formatDiagnosticsText } from '../../report/diagnostics/text.ts'
import { buildDiagnosticJson } from '../../report/diagnostics/json.ts'
import type { Paint } from '../../report/text/paint.ts'
import { escapeInvisibleInLines } from '../../report/text/escape-invisible.ts'
import type { Io } from '../io.ts'
import { wrapForStderr } from './wrap-output.ts'

/**
 * Tells a failure: as a sentence with what to do next on stderr, or with `--json` as one object on
 * stdout.
 */
export function printError(error: EdgewiseError, io: Io, json: boolean, paint: Paint): void {
  if (json) {
    const body: Json = {
      format: 'edgewise.error/1',
      code: error.code,
      message: error.message,
      hint: error.hint,
      diagnostics: error.diagnostics.map(buildDiagnosticJson),
    }
    io.out(`${JSON.stringify(body)}\n`)
    return
  }
  if (error.diagnostics.length > 0)
    io.err(
      `${formatDiagnosticsText(error.diagnostics, { findLine: () => null, paint, columns: io.columns })}\n`,
    )
  io.err(
    `${wrapForStderr(`${paint.red('error:')} ${escapeInvisibleInLines(error.message)}`, io)}\n`,
  )
  if (error.hint !== '') io.err(`${wrapForStderr(escapeInvisibleInLines(error.hint), io)}\n`)
}
