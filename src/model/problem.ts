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
  | 'secret-weak'
  | 'secret-suspected'
  | 'token-literal'
  | 'too-many-problems'

/** One problem at one place, as reported by `validate`. */
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
  /**
   * Domains that a problem of a profile or of the defaults affects; with `too-many-problems` the
   * problems of the file that are not listed.
   */
  count?: number
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
