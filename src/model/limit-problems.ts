import { groupBy } from './group-by.ts'
import { compareDiagnostics, type Diagnostic } from './problem.ts'
import { pluralize } from './words.ts'

/** Maximum number of listed problems of a file. */
const maxListed = 200

/**
 * Sorts diagnostics, and lists the first 200 of each file only: the rest of a file is one
 * `too-many-problems` at the first place that is not listed.
 */
export function limitProblems(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const sorted = diagnostics.toSorted(compareDiagnostics)
  return [...groupBy(sorted, ({ file }) => file).values()].flatMap((found) => {
    const [first, ...others] = found.slice(maxListed)
    // One more problem takes no more lines than the sentence that would count it.
    if (first === undefined || others.length === 0) return found
    return [...found.slice(0, maxListed), summarizeRest(first, [first, ...others])]
  })
}

/** Counts problems, those that are not listed included. */
export function countProblems(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.reduce((sum, { code, count = 1 }) => {
    return sum + (code === 'too-many-problems' ? count : 1)
  }, 0)
}

function summarizeRest(first: Diagnostic, rest: Diagnostic[]): Diagnostic {
  const { file, line, column, endLine, endColumn, document } = first
  const count = countProblems(rest)
  return {
    severity: rest.some(({ severity }) => severity === 'error') ? 'error' : 'warning',
    code: 'too-many-problems',
    summary: 'Too many problems in this file',
    detail:
      `${pluralize(count, 'problem')} from here on are not listed. Correct those above, then ` +
      'run the same command again.',
    file,
    line,
    column,
    endLine,
    endColumn,
    document,
    count,
  }
}
