import type { JsonObject } from '../../model/json.ts'
import { compareDiagnostics, type Diagnostic, type Place } from '../../model/problem.ts'
import { ruleDescriptions } from './rule-descriptions.ts'
import { escapeInvisibleInLines } from '../text/escape-invisible.ts'

/** What a SARIF log says beside the diagnostics. */
export interface SarifContext {
  /** Version of edgewise. */
  version: string
  /**
   * The workspace's folder within the repository, since code scanning finds files from the
   * repository's root.
   */
  folder?: string
}

/** Diagnostics as a SARIF 2.1.0 log with one run. Its rules are the codes that occur, sorted. */
export function formatDiagnosticsSarif(
  diagnostics: readonly Diagnostic[],
  { version, folder = '' }: SarifContext,
): string {
  const codes = [...new Set(diagnostics.map((diagnostic) => diagnostic.code))].toSorted()
  const rules = codes.map((code) => ({
    id: code,
    shortDescription: { text: ruleDescriptions[code] },
  }))
  const results = diagnostics
    .toSorted(compareDiagnostics)
    .map((diagnostic) => result(diagnostic, codes.indexOf(diagnostic.code), folder))
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
  return `${JSON.stringify(log, null, 2)}\n`
}

function result(diagnostic: Diagnostic, ruleIndex: number, folder: string): JsonObject {
  const { code, severity, summary, detail, domain, item, related = [] } = diagnostic
  const names = [domain, item].filter((name) => name !== undefined)
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: message(detail === '' ? summary : `${summary}\n${detail}`),
    locations: [
      {
        physicalLocation: physicalLocation(diagnostic, folder),
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
            physicalLocation: physicalLocation(place, folder),
            message: message(place.message),
          })),
        }),
  }
}

function physicalLocation(
  { file, line, column, endLine, endColumn }: Place,
  folder: string,
): JsonObject {
  return {
    artifactLocation: { uri: uriOf(folder === '' ? file : `${folder}/${file}`) },
    region: { startLine: line, startColumn: column, endLine, endColumn },
  }
}

/** A message in which nothing from a file is taken for a link. */
function message(text: string): JsonObject {
  return { text: escapeInvisibleInLines(text).replaceAll('](', '\\](') }
}

function uriOf(path: string): string {
  // Half a surrogate pair has no encoding; a file name that is not Unicode can bring one.
  return path
    .replace(/\p{Cs}/gu, '\ufffd')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
}
