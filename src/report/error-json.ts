import type { EdgewiseError } from '../model/edgewise-error.ts'
import type { JsonObject } from '../model/json.ts'
import { buildDiagnosticJson } from './diagnostics/json.ts'

/** Builds the JSON of an error, `edgewise.error/1`. */
export function buildErrorJson(error: EdgewiseError): JsonObject {
  return {
    format: 'edgewise.error/1',
    code: error.code,
    message: error.message,
    hint: error.hint,
    diagnostics: error.diagnostics.map(buildDiagnosticJson),
  }
}
