import { wrapSentences } from '../../report/text/wrap.ts'
import type { Io } from '../io.ts'

/** Sentences for stderr: in lines as wide as a terminal, as they are for anything else. */
export function wrapForStderr(text: string, { errIsTerminal, columns }: Io): string {
  return errIsTerminal ? wrapSentences(text, columns) : text
}

/** Sentences for stdout, likewise. */
export function wrapForStdout(text: string, { outIsTerminal, columns }: Io): string {
  return outIsTerminal ? wrapSentences(text, columns) : text
}
