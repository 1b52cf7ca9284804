import type { JsonObject } from './json.ts'
import { compare, groupBy } from './lists.ts'
import { pluralize } from './text/words.ts'

/** The fixed summary of each kind of problem that an item's value can have. */
export const problemSummaries = {
  refused: 'The service refuses this value',
  'missing-field': 'A required field is missing',
  'unknown-field': 'Unknown field',
  'overlapping-networks': 'Networks overlap',
  'unresolved-secret': 'Unresolved secret',
  imperative: 'An action is not a desired state',
  'ambiguous-target': 'Two targets for one status',
  'unknown-group': 'Unknown group',
  doubtful: 'Probably not intended',
} as const

/** Every kind of problem; internal: users see a `DiagnosticCode`. */
export type ProblemCode = keyof typeof problemSummaries

/** A problem of an item's value, found without knowing the position of the value. */
export interface Problem {
  /** The kind of problem; code branches on it, and `problemSummaries` has its summary. */
  code: ProblemCode
  severity: 'error' | 'warning'
  /**
   * `manifest`: only as desired state; `wire`: only in a write, since parsing a manifest corrects
   * it; `both`: in either.
   */
  scope: 'manifest' | 'wire' | 'both'
  /** JSON pointer within the item's value. */
  pointer: string
  /** Expected value, found value, next step. */
  detail: string
}

/**
 * A range in a file of the workspace. Lines and columns count from 1, columns in UTF-16 units; the
 * end is exclusive.
 */
export interface Place {
  /** Relative to the workspace's root, with `/`. */
  file: string
  line: number
  column: number
  endLine: number
  endColumn: number
}

/** Formats a place: `edgewise.yaml:12:14`. */
export function formatPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`
}

/** How serious a problem is: only an error makes a workspace invalid. */
export type Severity = 'error' | 'warning' | 'note'

/** Codes whose findings are no errors, or not always: their level can be set. */
export const adjustableCodes = [
  'rule-duplicate',
  'rule-never-matches',
  'rule-contradictory',
  'rule-shadowed',
  'rule-unreachable',
  'rule-order-unspecified',
  'entry-redundant',
  'networks-overlap',
  'value-without-effect',
  'white-list-denied',
  'never-served',
  'rules-not-compared',
  'origin-loop',
  'rule-undecided',
  'file-invalid',
  'workspace-invalid',
  'item-invalid',
  'item-conflict',
  'secret-weak',
  'secret-suspected',
  'token-literal',
  'suppression-invalid',
  'suppression-unknown',
  'suppression-expired',
  'suppression-unused',
  'exception-expired',
  'exception-waiting',
  'exception-unused',
] as const

export type AdjustableCode = (typeof adjustableCodes)[number]

/** Codes with a fixed level. */
export const fixedCodes = [
  'file-unreadable',
  'yaml-invalid',
  'manifest-invalid',
  'profile-invalid',
  'profile-unknown',
  'profile-cycle',
  'profile-duplicate',
  'domain-invalid',
  'domain-duplicate',
  'item-unknown',
  'item-unnamed',
  'unset-unavailable',
  'reference-unknown',
  'secret-literal',
  'secret-invalid',
  'test-invalid',
  'policy-invalid',
  'policy-violated',
  'policy-failed',
  'exception-unknown',
  'too-many-problems',
] as const

/** Every code a diagnostic may carry. */
export type DiagnosticCode = AdjustableCode | (typeof fixedCodes)[number]

/** One problem at one place, as reported by `validate`. */
export interface Diagnostic extends Place {
  severity: Severity
  code: DiagnosticCode
  summary: string
  detail: string
  /** Number of the YAML document within the file, from 0. */
  document: number
  domain?: string
  item?: string
  /** JSON pointer within the document. */
  pointer?: string
  related?: (Place & { message: string })[]
  /**
   * Domains that a problem of a profile or of the defaults affects; with `too-many-problems` the
   * problems of the file that are not listed.
   */
  count?: number
  /** What was found about a rule list. */
  finding?: RuleFinding
}

/** A rule or entry of an item; the pointer is within the item's canonical value. */
interface RulePlace {
  item: string
  pointer: string
  pattern: string | null
}

/** Details of a finding about a rule list, for programs. */
export interface RuleFinding {
  /** Every domain that has it. */
  domains: string[]
  rule: RulePlace
  other: RulePlace[]
  /** Answers of readings on which it rests; empty if it holds whatever they are. */
  rests: Record<string, string>
  /** How it was proved; null if the witness proves it. */
  proof: string | null
  /** A request that the rule and the other one match. */
  witness: JsonObject | null
}

/** Orders diagnostics by file, line, column, code and detail. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compare(a.file, b.file) ||
    a.line - b.line ||
    a.column - b.column ||
    compare(a.code, b.code) ||
    compare(a.detail, b.detail)
  )
}

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
    severity:
      (['error', 'warning'] as const).find((level) =>
        rest.some(({ severity }) => severity === level),
      ) ?? 'note',
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
