import { formatJson, pickDefined, type JsonObject } from '../../../core/model/json.ts'
import {
  compareDiagnostics,
  type Diagnostic,
  type Place,
  type RuleFinding,
} from '../../../core/model/problem.ts'
import type { EdgewiseError } from '../../../core/model/edgewise-error.ts'

/**
 * Builds the JSON of diagnostics, `edgewise.diagnostics/1`. `valid` means no errors; warnings may
 * remain.
 */
export function buildDiagnosticsJson(diagnostics: readonly Diagnostic[]) {
  return {
    format: 'edgewise.diagnostics/1',
    valid: diagnostics.every((diagnostic) => diagnostic.severity !== 'error'),
    diagnostics: diagnostics.toSorted(compareDiagnostics).map(buildDiagnosticJson),
  }
}

/** Formats diagnostics as JSON. */
export function formatDiagnosticsJson(diagnostics: readonly Diagnostic[]): string {
  return formatJson(buildDiagnosticsJson(diagnostics), 2)
}

/** Builds the JSON of a diagnostic; absent fields are omitted. */
function buildDiagnosticJson(diagnostic: Diagnostic): JsonObject {
  const { severity, code, summary, detail, file, document } = diagnostic
  const { domain, item, pointer, related = [], count, finding } = diagnostic
  return pickDefined({
    severity,
    code,
    summary,
    detail,
    file,
    document,
    ...buildRange(diagnostic),
    domain,
    item,
    pointer,
    related:
      related.length === 0
        ? undefined
        : related.map((place) => ({
            file: place.file,
            ...buildRange(place),
            message: place.message,
          })),
    count,
    finding: finding && buildFindingJson(finding),
  })
}

/** What is null is left out. */
function buildFindingJson({ rule, other, proof, witness, ...rest }: RuleFinding): JsonObject {
  const format = ({ pattern, ...place }: RuleFinding['rule']) =>
    pickDefined({ ...place, pattern: pattern ?? undefined })
  return pickDefined({
    domains: rest.domains,
    rule: format(rule),
    other: other.map(format),
    rests: rest.rests,
    proof: proof ?? undefined,
    witness: witness ?? undefined,
  })
}

function buildRange({ line, column, endLine, endColumn }: Place): JsonObject {
  return { line, column, endLine, endColumn }
}

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
