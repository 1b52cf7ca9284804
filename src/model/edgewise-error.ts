import type { Diagnostic } from './problem.ts'

/** Reasons why a command ended early; a closed list, printed with `--json`. */
export type ErrorCode =
  | 'usage'
  | 'invalid'
  | 'not-a-workspace'
  | 'access'
  | 'record-damaged'
  | 'record-unreachable'
  | 'record-moved'
  | 'state-rewound'
  | 'stale-plan'
  | 'locked'
  | 'declined'
  | 'guarded'
  | 'local-state'
  | 'owned-elsewhere'
  | 'rollout-open'
  | 'rollback-unfinished'
  | 'not-observed'
  | 'irreversible'
  | 'unavailable'
  | 'service-failed'
  | 'service-refused'
  | 'answer-invalid'
  | 'plan-unproven'

/**
 * A failure that is explained to the user in a sentence. Any other error is a defect of the
 * program.
 */
export class EdgewiseError extends Error {
  readonly code: ErrorCode
  /** Next step for the user. */
  readonly hint: string
  readonly diagnostics: Diagnostic[]

  constructor(code: ErrorCode, message: string, hint = '', diagnostics: Diagnostic[] = []) {
    super(message)
    this.name = 'EdgewiseError'
    this.code = code
    this.hint = hint
    this.diagnostics = diagnostics
  }
}

/** The user answered a prompt with no: the operation ends as asked, and nothing has changed. */
export class CancelledError extends EdgewiseError {
  constructor(message: string) {
    super('declined', message)
    this.name = 'CancelledError'
  }
}
