import { pickDefined, type JsonObject } from '../../model/json.ts'
import { compareDiagnostics, type Diagnostic, type Place } from '../../model/problem.ts'

/**
 * The text of `validate --json`: `edgewise.diagnostics/1`. Valid is what has no errors; warnings
 * may remain.
 */
export function formatDiagnosticsJson(diagnostics: readonly Diagnostic[]): string {
  const report: JsonObject = {
    format: 'edgewise.diagnostics/1',
    valid: diagnostics.every((diagnostic) => diagnostic.severity !== 'error'),
    diagnostics: diagnostics.toSorted(compareDiagnostics).map(buildDiagnosticJson),
  }
  return `${JSON.stringify(report, null, 2)}\n`
}

/** One diagnostic as it stands in machine output; what it has not is left out. */
export function buildDiagnosticJson(diagnostic: Diagnostic): JsonObject {
  const {
    severity,
    code,
    summary,
    detail,
    file,
    document,
    domain,
    item,
    pointer,
    related = [],
  } = diagnostic
  return pickDefined({
    severity,
    code,
    summary,
    detail,
    file,
    document,
    ...range(diagnostic),
    domain,
    item,
    pointer,
    related:
      related.length === 0
        ? undefined
        : related.map((place) => ({ file: place.file, ...range(place), message: place.message })),
  })
}

function range({ line, column, endLine, endColumn }: Place): JsonObject {
  return { line, column, endLine, endColumn }
}
