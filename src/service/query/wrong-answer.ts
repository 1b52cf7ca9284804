import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Json } from '../../model/json.ts'

/**
 * Creates an error for an answer that violates the specification. The answer is quoted whole:
 * callers must remove secrets before it is shown, then cut it.
 */
export function createWrongAnswerError(what: string, expected: string, got: Json): EdgewiseError {
  const text = typeof got === 'string' ? got : JSON.stringify(got)
  return new EdgewiseError(
    'answer-invalid',
    `unexpected answer to the query for ${what}: ${expected}, got ${text}`,
  )
}
