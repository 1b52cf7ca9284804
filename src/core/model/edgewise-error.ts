import type { Diagnostic } from './problem.ts'
import type { Doubt } from './events.ts'
import { interrupted } from './outcome.ts'

/** Reasons why a command ended early; a closed list, printed with `--json`. */
export type ErrorCode =
  | 'usage'
  | 'invalid'
  | 'not-a-workspace'
  | 'access'
  | 'not-allowed'
  | 'record-damaged'
  | 'record-unreachable'
  | 'record-moved'
  | 'state-rewound'
  | 'stale-plan'
  | 'locked'
  | 'declined'
  | 'guarded'
  | 'stopped'
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

/** Throws an error that is not explained to the user. */
export function throwDefect(error: unknown): asserts error is EdgewiseError {
  if (!(error instanceof EdgewiseError)) throw error
}

/** The user answered a prompt with no: the operation ends as asked, and nothing has changed. */
export class CancelledError extends EdgewiseError {
  constructor(message: string) {
    super('declined', message)
    this.name = 'CancelledError'
  }
}

/** An operation that was interrupted while it only looked. */
export class InterruptedError extends EdgewiseError {
  constructor() {
    super('declined', interrupted)
  }
}

/**
 * Defect of the program that surfaced after writes may have been sent; `cause` is the thrown value.
 */
export class DefectAfterWrites extends Error {
  /** Writes that are known to be in-doubt. */
  readonly doubts: Doubt[]

  constructor(cause: unknown, doubts: DefectAfterWrites['doubts']) {
    super('an internal error occurred after writes may have been sent', { cause })
    this.doubts = doubts
  }
}
