import { escapeStray, breakCommands } from '../../outlets/report/text/escape-invisible.ts'
import type { CommandContext, Io } from '../io.ts'
import { wrapSentences } from '../../outlets/report/text/wrap.ts'
import picocolors from 'picocolors'
import { plainPaint, type Paint } from '../../outlets/report/text/paint.ts'

/**
 * Guards every output: foreign text in it can neither control a terminal nor be executed by a CI
 * runner that reads the log.
 */
export function guardOutput(io: Io): Io {
  const { ask } = io
  return {
    ...io,
    out: (text, as) => io.out(as === 'commands' ? text : guardText(text, io.outIsTerminal), as),
    err: (text) => io.err(guardText(text, io.errIsTerminal)),
    ask: ask === null ? null : (question) => ask(guardText(question, true)),
  }
}

/** Escapes control characters of a text, and breaks commands of CI runners in it. */
export function guardText(text: string, onTerminal: boolean): string {
  return breakCommands(escapeStray(text, onTerminal))
}

/** Prints a line that begins with a mark on stderr, also with `--quiet`. */
export function printMarked(
  { io, errPaint }: CommandContext,
  mark: 'error' | 'refused' | 'differs' | 'warning' | 'in-doubt',
  text: string,
): void {
  const isMild = mark === 'warning' || mark === 'in-doubt'
  const painted = (isMild ? errPaint.yellow : errPaint.red)(`${mark}:`)
  io.err(`${wrapForStderr(`${painted} ${text}`, io)}\n`)
}

/** Wraps sentences for stderr if it is a terminal. */
export function wrapForStderr(text: string, { errIsTerminal, errColumns }: Io): string {
  return errIsTerminal ? wrapSentences(text, errColumns) : text
}

/** Wraps sentences for stdout if it is a terminal. */
export function wrapForStdout(text: string, { outIsTerminal, columns }: Io): string {
  return outIsTerminal ? wrapSentences(text, columns) : text
}

/** Creates the colours of a stream: none without a terminal, with `--no-color` or with NO_COLOR. */
export function createPaint(
  isTerminal: boolean,
  wanted: boolean,
  env: Record<string, string | undefined>,
): Paint {
  const on =
    wanted &&
    (env['FORCE_COLOR']
      ? env['FORCE_COLOR'] !== '0'
      : isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb')
  if (!on) return plainPaint
  const { bold, dim, red, green, yellow, cyan } = picocolors.createColors(true)
  return { bold, dim, red, green, yellow, cyan }
}
