import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Json } from '../../model/json.ts'

/** An answer that violates the specification. Its message does not quote the answer. */
export class WrongAnswerError extends EdgewiseError {
  /** The wrong part of the answer, as the service returned it. */
  readonly got: string

  constructor(message: string, got: string) {
    super('answer-invalid', message)
    this.got = got
  }
}

/** Creates an error for an answer that violates the specification. */
export function createWrongAnswerError(
  what: string,
  expected: string,
  got: Json,
): WrongAnswerError {
  const text = typeof got === 'string' ? got : JSON.stringify(got)
  return new WrongAnswerError(`unexpected answer to the query for ${what}: ${expected}`, text)
}
