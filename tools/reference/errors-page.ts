import type { CodeDescription } from '../../src/model/error-descriptions.ts'
import { formatPage, formatProse } from './markdown.ts'

/** Builds the page of the error codes and the diagnostic codes. */
export function buildErrorsPage(
  errors: Readonly<Record<string, CodeDescription>>,
  diagnostics: Readonly<Record<string, CodeDescription>>,
): string {
  return formatPage(
    'Errors and diagnostics',
    '`src/model/error-descriptions.ts` and `src/report/diagnostics/diagnostic-descriptions.ts`',
    formatProse(
      'A command that fails prints what happened, where, and what to do. With `--json`, and in ' +
        'the [library](library.md), it also has a code, on which programs can rely: the message ' +
        'may change, the code does not.',
    ),
    '## Error codes',
    formatProse(
      'The reason why a command ended early: `code` of [its JSON](json.md#error). The exit code ' +
        'is 1, and nothing was sent, unless it says otherwise here.',
    ),
    formatCodes(errors),
    '## Diagnostic codes',
    formatProse(
      'One problem at one place of a file: `code` of [a diagnostic](json.md#diagnostics), as ' +
        'reported by `edgewise validate` and with the error `invalid`.',
    ),
    formatCodes(diagnostics),
  )
}

function formatCodes(codes: Readonly<Record<string, CodeDescription>>): string {
  return Object.entries(codes)
    .flatMap(([code, { happened, remedy }]) => [
      `### ${code}`,
      formatProse(happened),
      formatProse(`What to do: ${remedy}`),
    ])
    .join('\n\n')
}
