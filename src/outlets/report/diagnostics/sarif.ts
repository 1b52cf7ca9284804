import { formatJson, type JsonObject } from '../../../core/model/json.ts'
import type { Suppressed } from '../../../core/checks/suppressions.ts'
import { compareDiagnostics, type Diagnostic, type Place } from '../../../core/model/problem.ts'
import { diagnosticDescriptions } from '../generated/diagnostics.ts'
import { escapeInvisibleInLines } from '../text/escape-invisible.ts'

/** Metadata of a SARIF log. */
export interface SarifContext {
  /** Version of edgewise. */
  version: string
  /** Workspace's folder: code scanning needs paths from the root of the repository. */
  folder?: string
  /** Findings that comments allow; code scanning closes them. */
  suppressed?: readonly Suppressed[]
}

/**
 * Formats diagnostics as a SARIF 2.1.0 log with one run. Its rules are the codes that occur,
 * sorted.
 */
export function formatDiagnosticsSarif(
  diagnostics: readonly Diagnostic[],
  { version, folder = '', suppressed = [] }: SarifContext,
): string {
  const reasons = new Map(suppressed.map(({ diagnostic, reason }) => [diagnostic, reason]))
  const all = [...diagnostics, ...reasons.keys()]
  const codes = [...new Set(all.map((diagnostic) => diagnostic.code))].toSorted()
  const rules = codes.map((code) => ({
    id: code,
    shortDescription: { text: diagnosticDescriptions[code].replaceAll('`', '') },
  }))
  const results = all.toSorted(compareDiagnostics).map((diagnostic) => ({
    ...buildResult(diagnostic, codes.indexOf(diagnostic.code), folder),
    ...buildSuppressions(reasons.get(diagnostic)),
  }))
  const log: JsonObject = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'edgewise', version, rules } },
        columnKind: 'utf16CodeUnits',
        results,
      },
    ],
  }
  return formatJson(log, 2)
}

function buildResult(diagnostic: Diagnostic, ruleIndex: number, folder: string): JsonObject {
  const { code, severity, summary, detail, domain, item, related = [], count } = diagnostic
  const names = [domain, item].filter((name) => name !== undefined)
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: buildMessage(detail === '' ? summary : `${summary}\n${detail}`),
    ...(count === undefined || code === 'too-many-problems' ? {} : { occurrenceCount: count }),
    locations: [
      {
        physicalLocation: buildPhysicalLocation(diagnostic, folder),
        ...(names.length === 0
          ? {}
          : { logicalLocations: [{ fullyQualifiedName: names.join('/') }] }),
      },
    ],
    ...(related.length === 0
      ? {}
      : {
          relatedLocations: related.map((place, id) => ({
            id,
            physicalLocation: buildPhysicalLocation(place, folder),
            message: buildMessage(place.message),
          })),
        }),
  }
}

function buildSuppressions(reason: string | undefined): JsonObject {
  if (reason === undefined) return {}
  const justification = escapeInvisibleInLines(reason)
  return { suppressions: [{ kind: 'inSource', status: 'accepted', justification }] }
}

function buildPhysicalLocation(
  { file, line, column, endLine, endColumn }: Place,
  folder: string,
): JsonObject {
  return {
    artifactLocation: { uri: encodeUri(folder === '' ? file : `${folder}/${file}`) },
    region: { startLine: line, startColumn: column, endLine, endColumn },
  }
}

/** Builds a message; escapes link syntax in text from files. */
function buildMessage(text: string): JsonObject {
  return { text: escapeInvisibleInLines(text).replaceAll('](', '\\](') }
}

function encodeUri(path: string): string {
  // A lone surrogate has no encoding; a file name that is not Unicode can contain one.
  return path
    .replace(/\p{Cs}/gu, '\ufffd')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
}
