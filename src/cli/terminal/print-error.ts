import type { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Json } from '../../model/json.ts'
import { formatDiagnosticsText } from '../../report/diagnostics/text.ts'
import { diagnosticJson } from '../../report/diagnostics/json.ts'
import type { Paint } from '../../report/text/paint.ts'
import { visibleLines } from '../../report/text/escape-invisible.ts'
import type { Io } from '../io.ts'
import { errSentences } from './wrap-output.ts'

/**
 * Tells a failure: as a sentence with what to do next on stderr, or with `--json` as one object on
 * stdout.
 */
export function tellError(error: EdgewiseError, io: Io, json: boolean, paint: Paint): void {
  if (json) {
    const body: Json = {
      format: 'edgewise.error/1',
      code: error.code,
      message: error.message,
      hint: error.hint,
      diagnostics: error.diagnostics.map(diagnosticJson),
    }
    io.out(`${JSON.stringify(body)}\n`)
    return
  }
  if (error.diagnostics.length > 0)
    io.err(
      `${formatDiagnosticsText(error.diagnostics, { lineOf: () => null, paint, columns: io.columns })}\n`,
    )
  io.err(`${errSentences(`${paint.red('error:')} ${visibleLines(error.message)}`, io)}\n`)
  if (error.hint !== '') io.err(`${errSentences(visibleLines(error.hint), io)}\n`)
}
