import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Json } from '../../model/json.ts'

/**
 * Describes an answer that the specification does not allow. It is quoted whole: secrets must be
 * removed before it is shown, and then it is cut.
 */
export function createWrongAnswerError(what: string, expected: string, got: Json): EdgewiseError {
  const text = typeof got === 'string' ? got : JSON.stringify(got)
  return new EdgewiseError(
    'answer-invalid',
    `the service answered the question for ${what} with something else: ${expected}, got ${text}`,
  )
}
