import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Json } from '../../model/json.ts'

/** An answer that is not what the specification says. It is quoted whole: whoever shows it takes secrets out first, and then shortens it. */
export function wrongAnswer(what: string, expected: string, got: Json): EdgewiseError {
  const text = typeof got === 'string' ? got : JSON.stringify(got)
  return new EdgewiseError('answer-invalid', `the service answered the question for ${what} with something else: ${expected}, got ${text}`)
}
