import type { Tested } from '../../../core/tests/results.ts'
import { formatDiagnosticsGithub } from '../diagnostics/github.ts'
import { describeFailure } from './text.ts'

/**
 * Formats failures as annotations of GitHub Actions, at what the test expects.
 *
 * @param folder of the workspace in its repository
 */
export function formatTestsGithub({ results }: Tested, folder: string): string {
  const found = results.flatMap(({ name, failures }) =>
    failures.map((failure) => ({ name, failure })),
  )
  return formatDiagnosticsGithub(
    found.map(({ name, failure }) => ({
      severity: 'error',
      code: 'test-invalid',
      summary: `Test failed: ${name}`,
      detail: describeFailure(failure),
      document: 0,
      file: failure.file,
      line: failure.line,
      column: failure.column,
      endLine: failure.line,
      endColumn: failure.column + 1,
    })),
    folder,
  )
}
