/** The fixed summary of each kind of problem that an item's value can have. */
export const problemSummaries = {
  refused: 'The service refuses this value',
  'missing-field': 'A required field is missing',
  'unknown-field': 'Unknown field',
  'overlapping-networks': 'Networks overlap',
  'unresolved-secret': 'Unresolved secret',
  imperative: 'An action is no desired state',
  'ambiguous-target': 'Two targets for one status',
  'unknown-group': 'No such group',
  doubtful: 'Probably not what is meant',
} as const

/** Every kind of problem; internal, whereas users see a `DiagnosticCode`. */
export type ProblemCode = keyof typeof problemSummaries

/** What is wrong with a value of an item, found without knowing where the value stands. */
export interface Problem {
  /** The kind of problem: code branches on it, and its summary stands in `problemSummaries`. */
  code: ProblemCode
  severity: 'error' | 'warning'
  /**
   * `manifest`: only as desired state; `wire`: only in a write, since reading a manifest mends it;
   * `both`: in either.
   */
  scope: 'manifest' | 'wire' | 'both'
  /** JSON pointer within the item's value. */
  pointer: string
  /** What was expected, what came, what to do. */
  detail: string
}

/**
 * A place in a file of the workspace. Lines and columns count from 1, columns in UTF-16 units, the
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

/** Every code a diagnostic may carry. */
export type DiagnosticCode =
  | 'file-unreadable'
  | 'file-invalid'
  | 'yaml-invalid'
  | 'workspace-invalid'
  | 'manifest-invalid'
  | 'profile-invalid'
  | 'profile-unknown'
  | 'profile-cycle'
  | 'profile-duplicate'
  | 'domain-invalid'
  | 'domain-duplicate'
  | 'item-unknown'
  | 'item-invalid'
  | 'item-conflict'
  | 'item-unnamed'
  | 'unset-unavailable'
  | 'reference-unknown'
  | 'secret-literal'
  | 'secret-invalid'

/** One problem of one place, as `validate` reports it. */
export interface Diagnostic extends Place {
  severity: 'error' | 'warning'
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
}

/** Sorts diagnostics by file, line, column and code. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compare(a.file, b.file) ||
    a.line - b.line ||
    a.column - b.column ||
    compare(a.code, b.code) ||
    compare(a.detail, b.detail)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
