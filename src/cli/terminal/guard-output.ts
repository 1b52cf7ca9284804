import { breakCommands } from '../../report/text/break-commands.ts'
import { escapeStray } from '../../report/text/escape-invisible.ts'
import type { Io } from '../io.ts'

/**
 * Guards every output: foreign text in it can neither control a terminal nor be executed by a CI
 * runner that reads the log.
 */
export function guardOutput(io: Io): Io {
  const { ask, prompt } = io
  return {
    ...io,
    out: (text, as) => io.out(as === 'commands' ? text : guardText(text, io.outIsTerminal), as),
    err: (text) => io.err(guardText(text, io.errIsTerminal)),
    ask: ask === null ? null : (question) => ask(guardText(question, true)),
    prompt: prompt === null ? null : (question) => prompt(guardText(question, true)),
  }
}

/** Escapes control characters of a text, and breaks commands of CI runners in it. */
export function guardText(text: string, onTerminal: boolean): string {
  return breakCommands(escapeStray(text, onTerminal))
}
