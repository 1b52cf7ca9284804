import { escapeData } from '../../../core/model/text/github-log.ts'
import { compareDiagnostics, type Diagnostic } from '../../../core/model/problem.ts'
import { escapeInvisible, escapeInvisibleInLines } from '../text/escape-invisible.ts'

/**
 * Formats diagnostics as workflow commands of GitHub Actions, one per line, which become
 * annotations. `folder` is the workspace's folder: annotations need paths from the root of the
 * repository.
 */
export function formatDiagnosticsGithub(diagnostics: readonly Diagnostic[], folder = ''): string {
  return diagnostics
    .toSorted(compareDiagnostics)
    .map((diagnostic) => `${formatCommand(diagnostic, folder)}\n`)
    .join('')
}

function formatCommand(diagnostic: Diagnostic, folder: string): string {
  const {
    file,
    line,
    column,
    endLine,
    endColumn,
    severity,
    summary,
    detail,
    related = [],
  } = diagnostic
  const properties = {
    file: folder === '' ? file : `${folder}/${file}`,
    line,
    endLine,
    // GitHub accepts columns only for a range within one line.
    ...(line === endLine ? { col: column, endColumn } : {}),
    title: summary,
  }
  const places = related.map(
    (place) => `${place.file}:${place.line}:${place.column} ${place.message}`,
  )
  const message = [detail === '' ? summary : detail, ...places].join('\n')
  const list = Object.entries(properties).map(
    ([name, value]) => `${name}=${escapeProperty(escapeInvisible(String(value)))}`,
  )
  const command = severity === 'note' ? 'notice' : severity
  return `::${command} ${list.join(',')}::${escapeData(escapeInvisibleInLines(message))}`
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
