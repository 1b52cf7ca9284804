import { formatPage, formatProse } from './markdown.ts'

/** Builds the page of the exit codes. */
export function buildExitCodesPage(
  meanings: Readonly<Record<number, { meaning: string; results: string[] }>>,
): string {
  const sections = Object.entries(meanings).flatMap(([code, { meaning, results }]) => [
    `## ${code}`,
    formatProse(meaning),
    results.map((result) => formatProse(result, '- ', '  ')).join('\n'),
  ])
  return formatPage(
    'Exit codes',
    '`src/cli/exit-codes.ts`',
    formatProse(
      'All commands have the same exit codes, with `--json` too. An error takes precedence over ' +
        'a difference.',
    ),
    ...sections,
  )
}
