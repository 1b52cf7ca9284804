import { wrapSentences } from '../../report/text/wrap.ts'
import type { Io } from '../io.ts'

/** Wraps sentences for stderr if it is a terminal. */
export function wrapForStderr(text: string, { errIsTerminal, errColumns }: Io): string {
  return errIsTerminal ? wrapSentences(text, errColumns) : text
}

/** Wraps sentences for stdout if it is a terminal. */
export function wrapForStdout(text: string, { outIsTerminal, columns }: Io): string {
  return outIsTerminal ? wrapSentences(text, columns) : text
}
