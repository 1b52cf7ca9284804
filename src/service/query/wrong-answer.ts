import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Json } from '../../core/model/json.ts'
import { maxSearchedLength } from '../../core/model/secret.ts'
import { markForeign, type ForeignText } from '../../core/model/text/text-makers.ts'

/** An answer that violates the specification. Its message does not quote the answer. */
class WrongAnswerError extends EdgewiseError {
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

/** Maximum length of a quoted answer, which may be megabytes, in characters. */
const maxQuoted = 300

/** Adds to an error what the service answered, without secrets and shortened. */
export function quoteAnswer(error: unknown, scrub: (text: ForeignText) => string): unknown {
  if (!(error instanceof WrongAnswerError)) return error
  const text = scrub(markForeign(error.got.slice(0, maxSearchedLength)))
  const short = text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text
  return new EdgewiseError(error.code, `${error.message}, got ${short}`, error.hint)
}
